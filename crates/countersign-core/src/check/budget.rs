//! What one check may spend, and what it means when that is gone.

use crate::limits::{EVALUATIONS_MAX, PATTERN_STEPS_MAX};
use crate::place::Place;

/// What is left for one check. The counted parts decide results; the clock is a safety net and never does.
pub struct Budget<'a> {
    /// Keyword evaluations left.
    pub evaluations: u64,
    /// Steps left for patterns.
    pub pattern_steps: u64,
    /// Says whether the wall clock has run out. Core has no clock: its caller does.
    pub out_of_time: &'a dyn Fn() -> bool,
}

impl Default for Budget<'_> {
    fn default() -> Self {
        Budget {
            evaluations: EVALUATIONS_MAX,
            pattern_steps: PATTERN_STEPS_MAX,
            out_of_time: &|| false,
        }
    }
}

/// A budget ran out before anything was decided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exhausted {
    /// The schema takes too many keyword evaluations, or too deep a nesting of them, for this output.
    #[error("the schema is too complex for this output")]
    Evaluations,
    /// Too many reference steps that go no deeper into the output, at this place of the schema.
    #[error("too many reference steps at {0}")]
    References(Place),
    /// The patterns took too many steps; the place in the schema is that of the pattern that
    /// took the last.
    #[error("too many steps of patterns at {0}")]
    PatternSteps(Place),
    /// The wall clock ran out: the server is overloaded.
    #[error("the check took too long")]
    OutOfTime,
}
