// Deutsch: ein Eigenschaftswort und ein männliches Tier.
export const words = {
  first: 'Blauer Flinker Froher Goldener Grüner Heller Klarer Kluger Leiser Lustiger Milder Munterer Mutiger Netter Ruhiger Sanfter '
    + 'Schneller Silberner Sonniger Stiller Stolzer Treuer Wacher Warmer Weiser Zarter',
  second: 'Adler Biber Dachs Delfin Falke Fink Fuchs Gecko Habicht Hase Hirsch Igel Ibis Kolibri Kranich Lachs Luchs Marder Otter '
    + 'Panda Papagei Pinguin Rabe Reiher Schwan Specht Spatz Star Storch Tiger Wal Zaunkönig',
}
