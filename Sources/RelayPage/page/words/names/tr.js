// Türkçe: bir sıfat ve bir hayvan.
export const words = {
  first: 'Akıllı Altın Bilge Cesur Çevik Dost Gümüş Güneşli Hızlı İyi Kibar Mavi Mutlu Nazik Neşeli Parlak Sadık Sakin Sessiz '
    + 'Sevimli Sıcak Şen Tatlı Uysal Yeşil Yumuşak Zarif',
  second: 'Ahtapot Aslan Atmaca Balina Baykuş Ceylan Fok Geyik Güvercin Kaplan Karaca Kartal Kedi Keklik Kırlangıç Kirpi Koala Kuğu '
    + 'Kunduz Leylek Martı Panda Papağan Penguen Porsuk Samur Serçe Sincap Şahin Tavşan Tilki Turna Vaşak Yunus',
}
