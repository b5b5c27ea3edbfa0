//! Random histories of an agent, the same for the same seed.

use countersign_core::score::HalfLife;

const DAY: u64 = 86_400_000_000;
const FIVE_YEARS: u64 = 5 * 365 * DAY;
const TEN_MINUTES: u64 = 600_000_000;
/// 2021-11-06.
const START: i64 = 1_636_156_800_000_000;

/// A small generator (splitmix64): quick, and the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// From `least` to `most`, both included.
    pub(crate) fn from(&mut self, least: usize, most: usize) -> usize {
        least + (self.next() % (most - least + 1) as u64) as usize
    }

    /// True once in so many.
    pub(crate) fn one_of(&mut self, many: usize) -> bool {
        self.from(1, many) == 1
    }

    /// From 0 to below 1.
    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A half-life and the checks of five years in the order of their numbers: 1 to 1,000 of them, half of
/// the histories shorter than 30, by clocks that are up to ten minutes off.
pub(crate) fn history(seed: u64) -> (HalfLife, Vec<(i64, bool)>) {
    let mut random = Random::new(seed);
    let days = [1, 7, 30, 30, 30, 365, 3_650][random.from(0, 6)];
    let longest = [1, 3, 10, 30, 100, 300, 1_000, 1_000][random.from(0, 7)];
    let count = random.from(1, longest);
    let span = match random.from(0, 4) {
        0 => 1 + random.next() % TEN_MINUTES,
        1 => 1 + random.next() % (60 * DAY),
        _ => FIVE_YEARS,
    };
    // Some agents work all the time, some on a few days.
    let days_at_work: Vec<u64> = (0..random.from(1, 5)).map(|_| random.next() % span).collect();
    let by_days = random.one_of(3);
    let mut times: Vec<u64> = (0..count)
        .map(|_| {
            if by_days {
                let near = days_at_work[random.from(0, days_at_work.len() - 1)];
                (near + random.next() % DAY).min(span)
            } else {
                random.next() % span
            }
        })
        .collect();
    times.sort_unstable();
    let quality = [0.0, 0.02, 0.5, 0.9, 0.99, 1.0][random.from(0, 5)];
    let clocks_differ = random.one_of(2);
    let checks = times.into_iter().map(|time| {
        let off = if clocks_differ {
            random.next() % (2 * TEN_MINUTES)
        } else {
            TEN_MINUTES
        };
        let time = START + (time + off) as i64 - TEN_MINUTES as i64;
        (time, random.fraction() < quality)
    });
    (HalfLife::of_days(days).unwrap(), checks.collect())
}
