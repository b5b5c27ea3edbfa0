//! From sums to a score and its interval: a weighted share, and Wilson's interval around it.

use super::Sums;

/// The normal quantile of a 95 % interval.
pub const Z: f64 = 1.959_964;
/// Decimals of what is published.
pub const DECIMALS: u8 = 4;

/// How far a sum may stray, relatively, from what the others allow before no history has it: more than rounding
/// does to ten billion checks.
pub(super) const ROUNDING_MAX: f64 = 1e-5;

/// A score and its 95 % interval. 0 <= low <= score <= high <= 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Σw·pass / Σw.
    pub trust_score: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// The estimate from these sums, not yet rounded. `None` for sums that no history has.
    pub fn of(sums: &Sums) -> Option<Self> {
        if !could_be(sums) {
            return None;
        }
        let p = (sums.passed_weights / sums.weights).clamp(0.0, 1.0);
        let n = sums.weights * sums.weights / sums.squares;
        let scale = 1.0 + Z * Z / n;
        let centre = (p + Z * Z / (2.0 * n)) / scale;
        let half = Z / scale * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        // Wilson's interval holds the share that it is around; the last bits must not say otherwise.
        Some(Estimate {
            trust_score: p,
            low: (centre - half).clamp(0.0, p),
            high: (centre + half).clamp(p, 1.0),
        })
    }

    /// The same with [`DECIMALS`] decimals, ties to even, as it is published.
    #[must_use]
    pub fn rounded(self) -> Self {
        Estimate {
            trust_score: round(self.trust_score),
            low: round(self.low),
            high: round(self.high),
        }
    }
}

/// Whether some history has these sums, give or take the rounding. What a database holds may be anything.
fn could_be(sums: &Sums) -> bool {
    let Sums {
        newest_micros: _,
        weights,
        passed_weights,
        squares,
    } = *sums;
    let (least, most) = (1.0 - ROUNDING_MAX, 1.0 + ROUNDING_MAX);
    // The newest check weighs 1, no weight is above 1, so Σw² <= Σw.
    [weights, passed_weights, squares]
        .iter()
        .all(|sum| sum.is_finite())
        && squares >= least
        && squares <= weights * most
        && (0.0..=weights * most).contains(&passed_weights)
}

/// The nearest multiple of 0.0001 to the exact value of a double from 0 to 1; of two, the even one.
fn round(value: f64) -> f64 {
    // The formatter rounds the exact binary value, where a multiplication by 10,000 would round twice.
    let text = format!("{value:.decimals$}", decimals = usize::from(DECIMALS));
    text.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_decimals_are_kept_and_ties_go_to_even() {
        let rows = [
            (0.0, 0.0),
            (1.0, 1.0),
            (0.031_25, 0.031_2),
            (0.093_75, 0.093_8),
            (0.000_05, 0.000_1), // The double is a little above.
            (0.000_15, 0.000_1), // The double is a little below.
            (0.714_285, 0.714_3),
            (0.999_999, 1.0),
            (0.000_01, 0.0),
        ];
        for (value, expected) in rows {
            assert_eq!(round(value).to_bits(), f64::to_bits(expected), "{value}");
        }
    }

    #[test]
    fn sums_that_no_history_has_give_no_score() {
        let good = Sums {
            newest_micros: 0,
            weights: 10.0,
            passed_weights: 9.0,
            squares: 10.0,
        };
        assert!(Estimate::of(&good).is_some());
        let changes: &[fn(&mut Sums)] = &[
            |sums| sums.weights = f64::NAN,
            |sums| sums.weights = f64::INFINITY,
            |sums| sums.weights = 0.0,
            |sums| sums.weights = -10.0,
            |sums| sums.weights = 8.9,
            |sums| sums.passed_weights = f64::NAN,
            |sums| sums.passed_weights = -0.1,
            |sums| sums.passed_weights = 10.1,
            |sums| sums.squares = f64::NAN,
            |sums| sums.squares = 0.0,
            |sums| sums.squares = 0.9,
            |sums| sums.squares = 10.1,
        ];
        for (index, change) in changes.iter().enumerate() {
            let mut sums = good;
            change(&mut sums);
            assert_eq!(Estimate::of(&sums), None, "change {index}");
        }
    }
}
