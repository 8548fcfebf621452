// Polski: przymiotnik i zwierzę rodzaju męskiego.
export const words = {
  first: 'Błękitny Bystry Cichy Ciepły Dobry Dzielny Jasny Łagodny Mądry Miły Pogodny Radosny Rześki Serdeczny Skromny Spokojny '
    + 'Srebrny Szybki Uprzejmy Wesoły Wierny Zielony Złoty Zręczny Żwawy',
  second: 'Bocian Borsuk Bóbr Delfin Dzięcioł Gekon Gil Ibis Jastrząb Jeleń Jeż Koliber Kos Kot Królik Kruk Lis Łabędź Łoś Niedźwiedź '
    + 'Orzeł Pingwin Puchacz Rudzik Ryś Słowik Sokół Szczygieł Szpak Tukan Tygrys Wróbel Zając Żuraw',
}
