// Italiano: un animale maschile e un aggettivo.
export const words = {
  first: 'Airone Castoro Cervo Cigno Colibrì Corvo Criceto Delfino Falco Fenicottero Fringuello Gabbiano Gatto Geco Gufo Ibis Koala '
    + 'Leone Lupo Merlo Orso Panda Pappagallo Passero Pettirosso Picchio Pinguino Pony Riccio Scoiattolo Tasso Tucano',
  second: 'Agile Allegro Ambrato Argentato Azzurro Calmo Chiaro Contento Dolce Dorato Fedele Felice Fiero Gentile Giusto Lieto Mite '
    + 'Quieto Rapido Saggio Sereno Simpatico Sincero Svelto Tranquillo Verde Vivace',
}
