//! A place: one concrete location in a JSON value, `line_items[1].qty`.

use compact_str::CompactString;
use std::fmt;

/// One step from a container to what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The member of an object with this name.
    Name(CompactString),
    /// The element of an array at this index.
    Index(usize),
}

/// The steps from the root to one value.
///
/// Displays as the contract spells places: names joined by dots, indexes in brackets, a `.`, `[`, `]` or `\`
/// of a name escaped by a backslash; the root is `$`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place(pub Vec<Step>);

impl Place {
    /// The place with its root marker: `$.total`, `$[0].x`, `$`.
    pub fn with_root(&self) -> String {
        if self.0.is_empty() {
            "$".to_owned()
        } else {
            root_marked(&self.to_string())
        }
    }
}

impl Place {
    /// The place as far as its names take no more than `bytes_max`, so that what is kept of a text has a limit.
    #[must_use]
    pub(crate) fn within(mut self, bytes_max: usize) -> Self {
        let mut left = bytes_max;
        let fits = |step: &Step| match step {
            Step::Index(_) => true,
            Step::Name(name) => {
                let rest = left.checked_sub(name.len());
                left = rest.unwrap_or(0);
                rest.is_some()
            }
        };
        let kept = self.0.iter().map(fits).take_while(|fits| *fits).count();
        self.0.truncate(kept);
        self
    }
}

/// The text of a field or place that is not the root, with a root marker: `$.` before a name, `$` before an index.
pub fn root_marked(field: &str) -> String {
    match field {
        indexed if indexed.starts_with('[') => ["$", indexed].concat(),
        named => ["$.", named].concat(),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("$");
        }
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Name(name) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    write_name(f, name)?;
                }
            }
        }
        Ok(())
    }
}

/// Writes a member name as a path spells it: `.`, `[`, `]` and `\` escaped by a backslash.
pub fn write_name(f: &mut impl fmt::Write, name: &str) -> fmt::Result {
    for c in name.chars() {
        if matches!(c, '.' | '[' | ']' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_spelled_as_paths() {
        let name = |n: &str| Step::Name(n.into());
        assert_eq!(Place(vec![]).to_string(), "$");
        assert_eq!(Place(vec![]).with_root(), "$");
        let qty = Place(vec![name("items"), Step::Index(1), name("qty")]);
        assert_eq!(qty.to_string(), "items[1].qty");
        assert_eq!(qty.with_root(), "$.items[1].qty");
        assert_eq!(Place(vec![name("$")]).with_root(), "$.$");
        assert_eq!(Place(vec![Step::Index(0), name("a.b")]).with_root(), r"$[0].a\.b");
    }
}
