//! Addresses, titles and search phrases. Those of a page are always the same.

use crate::datasets::mixed::word;
use crate::generate::Rng;

/// The words that texts are made of.
pub(super) struct Texts {
    latin: Vec<String>,
    cyrillic: Vec<String>,
}

impl Texts {
    pub(super) fn new() -> Texts {
        let mut rng = Rng::new(33);
        let latin = (0..4_000).map(|_| word(&mut rng)).collect();
        let cyrillic = (0..8_000).map(|_| cyrillic_word(&mut rng)).collect();
        Texts { latin, cyrillic }
    }

    pub(super) fn word(&self, number: usize) -> &str {
        &self.latin[number % self.latin.len()]
    }

    /// Host, path and mostly some parameters of a page.
    pub(super) fn address(&self, site: u64, page: u64) -> String {
        let mut rng = of_page(site, page);
        let mut address = format!("http://{}.{}.ru", self.word(rng.zipf(40)), self.word(site as usize));
        for _ in 0..1 + rng.below(4) {
            address.push('/');
            address.push_str(self.word(rng.zipf(900)));
        }
        match rng.below(4) {
            0 => address.push_str(".html"),
            1 => address.push_str(&format!("?page={page}&sort={}", self.word(rng.zipf(20)))),
            2 => address.push_str(&format!(
                "?{}={}&lang=ru&sid={:08x}",
                self.word(rng.zipf(60)),
                rng.below(100_000),
                rng.below(1 << 32)
            )),
            _ => {}
        }
        address
    }

    /// 3 to 13 words, of which one in eight is Latin, and the name of the site.
    pub(super) fn title(&self, site: u64, page: u64) -> String {
        let mut rng = of_page(site, page ^ 1 << 32);
        let words = 3 + rng.below(11);
        let mut title = self.words(&mut rng, words);
        title.push_str(" - ");
        title.push_str(self.word(site as usize));
        title
    }

    /// Another page of the site, any page, or a search.
    pub(super) fn referrer(&self, site: u64, rng: &mut Rng) -> String {
        match rng.below(10) {
            0..6 => self.address(site, rng.zipf(3_000) as u64),
            6..8 => self.address(rng.zipf(5_000) as u64, rng.zipf(50) as u64),
            _ => format!("http://yandex.ru/search/?text={}&lr={}", self.phrase(rng), rng.zipf(300)),
        }
    }

    /// One to six words; some phrases are searched for often.
    pub(super) fn phrase(&self, rng: &mut Rng) -> String {
        let mut rng = Rng::new(rng.zipf(500_000) as u64);
        let words = 1 + rng.below(6);
        self.words(&mut rng, words)
    }

    fn words(&self, rng: &mut Rng, count: u64) -> String {
        let mut text = String::new();
        for i in 0..count {
            if i > 0 {
                text.push(' ');
            }
            let is_latin = rng.below(8) == 0;
            text.push_str(if is_latin {
                self.word(rng.zipf(4_000))
            } else {
                &self.cyrillic[rng.zipf(8_000)]
            });
        }
        text
    }
}

/// The random generator of a page, always the same.
fn of_page(site: u64, page: u64) -> Rng {
    Rng::new((site << 33 ^ page).wrapping_mul(0x9fb2_1c65_1e98_df25))
}

/// Two to four syllables.
fn cyrillic_word(rng: &mut Rng) -> String {
    const BEGIN: [&str; 16] =
        ["б", "в", "г", "д", "ж", "к", "л", "м", "н", "п", "р", "с", "т", "ст", "пр", ""];
    const MIDDLE: [&str; 8] = ["а", "е", "и", "о", "у", "я", "ы", "ю"];
    const END: [&str; 8] = ["", "", "", "й", "н", "р", "т", "ть"];
    let mut word = String::new();
    for _ in 0..2 + rng.below(3) {
        for parts in [&BEGIN[..], &MIDDLE, &END] {
            word.push_str(parts[rng.below(parts.len() as u64) as usize]);
        }
    }
    word
}
