// Português: um animal masculino e um adjetivo.
export const words = {
  first: 'Castor Cervo Cisne Coelho Colibri Corvo Esquilo Falcão Flamingo Gato Gavião Golfinho Íbis Leão Lince Lobo Melro Mocho '
    + 'Ouriço Panda Papagaio Pardal Pato Pinguim Pintassilgo Texugo Tigre Tritão Tucano Urso',
  second: 'Ágil Alegre Amável Azul Bondoso Calmo Claro Contente Discreto Doce Dourado Feliz Fiel Gentil Justo Meigo Prateado Rápido '
    + 'Risonho Sábio Sereno Simpático Sincero Suave Tranquilo Valente Veloz Verde',
}
