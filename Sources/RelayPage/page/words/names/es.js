// Español: un animal masculino y un adjetivo.
export const words = {
  first: 'Búho Castor Ciervo Cisne Colibrí Cuervo Delfín Erizo Flamenco Gato Gecko Gorrión Halcón Ibis Jilguero Koala Lince Lobo '
    + 'Loro Mirlo Mochuelo Oso Panda Petirrojo Pingüino Poni Puma Tejón Tigre Tucán Zorro',
  second: 'Ágil Alegre Amable Azul Bueno Claro Contento Discreto Dorado Feliz Fiel Gentil Justo Listo Plateado Rápido Risueño Sabio '
    + 'Sereno Simpático Sincero Suave Tranquilo Valiente Veloz Verde Vivaz',
}
