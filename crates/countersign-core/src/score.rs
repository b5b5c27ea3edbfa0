//! The record of an agent, and the score that follows from it (verification.md, section 21).
//!
//! A check counts with the weight 0.5^(age / half-life). All weights of an agent shrink alike as time passes, and
//! score and interval are quotients in which that common factor cancels. So three sums, anchored at the newest
//! counted check, are all that a store has to keep: a new check carries them forward.
//!
//! # How exact the carried sums are
//!
//! Let u = 2^-53 and N the number of checks. A check takes part in at most N merges ([`Sums::with`]), one by one or
//! in groups. Each merge multiplies its weight by a factor 2^x, x <= 0. Ages in microseconds and half-lives are
//! exact doubles, so the argument carries one rounding and moves the factor by |x| ln 2 u; the function itself is
//! good to one unit in the last place, 2u. The anchor never goes back, so the |x| of a check add up to its whole
//! age: with y = age ln 2 / half-life, its factor is off by at most (2N + y)u, and alike in every sum. The product
//! and the addition round once each: 2Nu more, in each sum by itself. To first order, then:
//!
//! - what the two sums of the quotient do not share moves the score by at most 4Nu;
//! - what they share moves a mean of zeros and ones, s: 2Nu times the mean distance from s, which is 2s(1-s) <= 1/2,
//!   and u times the mean of y, which is at most N/e, since w y = y e^-y <= 1/e and the newest weight is 1;
//! - the direct sum in sequence order has (N/e + 1)u from its weights and 2Nu from its additions.
//!
//! Together less than 8Nu: below 1e-9 for a million checks. The interval depends on n as well, whose sums are off
//! by a few Nu more: below 3e-9. Rounding errors being as often up as down, the tests see 1.4e-14.

mod answer;
mod estimate;
mod history;

pub use answer::{Implausible, NO_DATA, Record, Scored};
pub use estimate::{DECIMALS, Estimate, Z};
pub use history::{CountedCheck, HISTORY_CHECKS_MAX, History, LineFault};

use std::ops::RangeInclusive;

/// Half-lives that may be set, in days.
pub const HALF_LIFE_DAYS: RangeInclusive<u32> = 1..=3_650;
/// Microseconds of a day.
const DAY_MICROS: f64 = 86_400e6;

/// The age at which a check counts half as much as a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfLife {
    days: u32,
}

impl HalfLife {
    /// The contract's default: 30 days.
    pub const DEFAULT: HalfLife = HalfLife { days: 30 };

    /// A half-life of so many days, if [`HALF_LIFE_DAYS`] has it.
    pub fn of_days(days: u32) -> Option<Self> {
        HALF_LIFE_DAYS.contains(&days).then_some(HalfLife { days })
    }

    /// The days.
    pub fn days(self) -> u32 {
        self.days
    }

    /// The weight of a check that is so many microseconds older than the newest.
    fn weight(self, age_micros: i64) -> f64 {
        (-(age_micros as f64) / (f64::from(self.days) * DAY_MICROS)).exp2()
    }
}

/// The three sums over an agent's counted checks, as of the newest of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sums {
    /// Time of the newest counted check, in microseconds since 1970, UTC: its weight is 1.
    pub newest_micros: i64,
    /// Σw over all.
    pub weights: f64,
    /// Σw over those that passed.
    pub passed_weights: f64,
    /// Σw² over all.
    pub squares: f64,
}

impl Sums {
    /// Those of one check.
    pub fn of(verified_at_micros: i64, passed: bool) -> Self {
        Sums {
            newest_micros: verified_at_micros,
            weights: 1.0,
            passed_weights: if passed { 1.0 } else { 0.0 },
            squares: 1.0,
        }
    }

    /// Those of both together, as of the newer one. Clocks of several nodes may differ, so either may be it.
    #[must_use]
    pub fn with(self, later: Sums, half_life: HalfLife) -> Sums {
        let newest_micros = self.newest_micros.max(later.newest_micros);
        let factor = |sums: &Sums| half_life.weight(newest_micros.saturating_sub(sums.newest_micros));
        let (mine, theirs) = (factor(&self), factor(&later));
        Sums {
            newest_micros,
            weights: self.weights * mine + later.weights * theirs,
            passed_weights: self.passed_weights * mine + later.passed_weights * theirs,
            squares: self.squares * (mine * mine) + later.squares * (theirs * theirs),
        }
    }
}
