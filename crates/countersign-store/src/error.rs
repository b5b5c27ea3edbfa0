//! Every way in which the store says "no", and whose move it then is.

use std::fmt;
use std::sync::Arc;

/// Why the store did not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Try again in a moment: more is queued than the store takes.
    #[error("the store is busy: its queue is full")]
    Busy,
    /// Try again when the cause is gone: the database is away, or the disk refuses.
    #[error("the store is away: {0}")]
    Unavailable(Cause),
    /// Somebody else was first.
    #[error("the name is taken")]
    Conflict,
    /// An import that does not go on where the store ends.
    #[error("the newest receipt of this store has number {newest}; an import must go on with the next")]
    OutOfSequence {
        /// The newest number, 0 for an empty store.
        newest: u64,
    },
    /// The sums that scores are made of were made with another half-life than the settings say.
    #[error(
        "the scores of this database are made with a half-life of {kept} days and the settings say {set}; \
         set score.half_life_days = {kept}, or make them anew with: countersign store migrate"
    )]
    HalfLife {
        /// Days that the database has.
        kept: u32,
        /// Days that were asked for.
        set: u32,
    },
    /// What was read cannot be right. A person has to look.
    #[error("the database needs a person to look at it: {0}")]
    Corrupt(&'static str),
}

/// What keeps the store away, in words for the operator's log. Holds no value of a row.
#[derive(Clone, Debug)]
pub struct Cause(Arc<str>);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StoreError {
    pub(crate) fn unavailable(cause: impl fmt::Display) -> Self {
        StoreError::Unavailable(Cause(cause.to_string().into()))
    }

    /// The answer of a store whose writer or readers have ended.
    pub(crate) fn closed() -> Self {
        StoreError::unavailable("it was closed, or its thread has ended")
    }
}
