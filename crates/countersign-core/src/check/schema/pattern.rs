//! Patterns: regular expressions as ECMA-262 means them, within bounds.
//!
//! Read with the `u` flag and searched for anywhere in a text (verification.md, sections 8 and 27). `parser` reads by
//! the grammar of ECMA-262, 14th edition. A pattern becomes a `program` that one of two machines runs: `linear` reads
//! each character once; `backtrack` knows look-around and back-references and counts its steps.

mod alphabet;
mod backtrack;
mod escape;
mod linear;
mod parser;
mod program;
pub(in crate::check::schema) mod property;
pub(in crate::check::schema) mod set;
mod tree;

/// A compiled pattern. It takes at most [`crate::limits::PATTERN_BYTES_MAX`] bytes and keeps nothing of the texts it
/// met, so that any number of threads and checks may share it.
#[derive(Debug)]
pub struct Pattern(Machine);

#[derive(Debug)]
enum Machine {
    Linear(Box<linear::Automaton>),
    Backtracking(program::Program),
}

/// A text that makes no pattern here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// It is no regular expression of ECMA-262.
    #[error("is not a valid ECMA-262 regular expression")]
    Syntax,
    /// It compiles to more than [`crate::limits::PATTERN_BYTES_MAX`] bytes, or nests groups more than 200 deep.
    #[error("is too large a regular expression")]
    TooLarge,
}

/// The steps of the check ran out before it was decided whether a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a pattern takes too many steps on this text")]
pub struct OutOfSteps;

impl Pattern {
    /// Reads and compiles a pattern. Takes time in proportion to its text and to
    /// [`crate::limits::PATTERN_BYTES_MAX`], whatever its repetitions multiply to.
    pub fn compile(text: &str) -> Result<Pattern, BadPattern> {
        let program = program::Program::compile(&parser::parse(text)?)?;
        Ok(Pattern(if program.backtracks {
            Machine::Backtracking(program)
        } else {
            Machine::Linear(Box::new(linear::Automaton::new(program)?))
        }))
    }

    /// Whether a text is a regular expression of ECMA-262, compiled here or not.
    pub fn is_valid(text: &str) -> bool {
        !matches!(parser::parse(text), Err(BadPattern::Syntax))
    }

    /// Whether the pattern matches somewhere in the text. The steps that it takes depend on the pattern and the text
    /// alone. A step is at most 200 to 300 ns. Few patterns take more than one for every 64 ASCII characters or 8
    /// others: those with look-around or back-references, or with thousands of states.
    pub fn is_match(&self, text: &str, steps: &mut u64) -> Result<bool, OutOfSteps> {
        match &self.0 {
            Machine::Linear(automaton) => automaton.is_match(text, steps),
            Machine::Backtracking(program) => backtrack::is_match(program, text, steps),
        }
    }

    /// Bytes that the pattern takes. A match takes, while it runs, about twice as much and 256 KiB.
    pub fn size(&self) -> usize {
        size_of::<Pattern>()
            + match &self.0 {
                Machine::Linear(automaton) => automaton.bytes(),
                Machine::Backtracking(program) => program.bytes(),
            }
    }
}

#[cfg(test)]
mod tests;
