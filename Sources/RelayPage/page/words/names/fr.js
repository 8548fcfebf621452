// Français : un animal masculin et un adjectif.
export const words = {
  first: 'Aigle Blaireau Bouvreuil Castor Cerf Colibri Corbeau Cygne Dauphin Faucon Faon Gecko Geai Hérisson Héron Hibou Ibis Koala '
    + 'Lièvre Lynx Merle Moineau Panda Perroquet Pinson Poney Renard Tigre Triton Toucan',
  second: 'Agile Aimable Alerte Ambré Argenté Bleu Calme Clair Discret Doré Doux Fidèle Fier Gai Gentil Heureux Joyeux Juste Paisible '
    + 'Rapide Rieur Sage Serein Sincère Tranquille Vert Vif',
}
