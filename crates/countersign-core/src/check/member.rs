//! Reading the members of a rule or a bound, with every problem on the way (verification.md, section 22).

use super::invalid::FieldProblem;
use super::path::Path;
use crate::json::{Member, Object, Value};

pub(crate) const NUMBER_FIX: &str = "Send a number, without quotes.";
pub(crate) const DATE_FIX: &str =
    "Send a number, or a date such as \"2026-10-01\" or \"2026-10-01T12:30:00Z\".";

/// The members of one object and the problems found in it so far.
pub(crate) struct Members<'v> {
    object: &'v Object,
    /// How problems name the object: `rules[0]`. Asked for by problems only.
    name: &'v dyn Fn() -> String,
    /// The offset of problems of the whole object.
    at: u32,
    problems: Vec<FieldProblem>,
}

impl<'v> Members<'v> {
    /// The members of `value`, if it is an object. Problems of the whole stand at its first member, or at 0.
    pub(crate) fn of(value: &'v Value, name: &'v dyn Fn() -> String) -> Option<Self> {
        let object = value.as_object()?;
        let at = object.members().iter().map(|member| member.at).min().unwrap_or(0);
        Some(Members {
            object,
            name,
            at,
            problems: Vec::new(),
        })
    }

    /// The member with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&'v Member> {
        self.object.member(name)
    }

    /// The member with this name, where null means that none is given.
    pub(crate) fn given(&self, name: &str) -> Option<&'v Member> {
        self.get(name).filter(|member| !member.value.is_null())
    }

    /// The member with this name, which must be there.
    pub(crate) fn required(&mut self, name: &str, fix: &str) -> Option<&'v Member> {
        let member = self.get(name);
        if member.is_none() {
            let field = format!("{}.{name}", (self.name)());
            self.problems
                .push(FieldProblem::new(self.at, field, "is required", fix));
        }
        member
    }

    /// The path that a member holds.
    pub(crate) fn path(&mut self, member: &Member, fix: &str) -> Option<Path> {
        let Some(text) = member.value.as_str() else {
            self.refuse(&member.name, "must be a string", fix);
            return None;
        };
        Path::parse(text)
            .map_err(|bad| self.refuse(&member.name, bad.to_string(), bad.fix()))
            .ok()
    }

    /// The boolean with this name; false if there is none.
    pub(crate) fn boolean(&mut self, name: &str) -> bool {
        let given = self.get(name).map(|member| member.value.as_bool());
        if given == Some(None) {
            self.refuse(
                name,
                "must be true or false",
                "Send true or false, without quotes, or leave it out.",
            );
        }
        given.flatten().unwrap_or(false)
    }

    /// Adds one problem if there are members that are not known. Their names are not shown.
    pub(crate) fn refuse_unknown(&mut self, is_known: impl Fn(&str) -> bool, fix: &str) {
        let unknown = self
            .object
            .members()
            .iter()
            .filter(|member| !is_known(&member.name));
        if let Some(at) = unknown.map(|member| member.at).min() {
            self.problems
                .push(FieldProblem::new(at, (self.name)(), "has an unknown member", fix));
        }
    }

    /// Adds a problem of the member with this name.
    pub(crate) fn refuse(&mut self, name: &str, problem: impl Into<String>, fix: impl Into<String>) {
        let at = self.get(name).map_or(self.at, |member| member.at);
        self.problems.push(FieldProblem::new(
            at,
            format!("{}.{name}", (self.name)()),
            problem,
            fix,
        ));
    }

    /// Adds a problem of the whole object.
    pub(crate) fn refuse_whole(&mut self, problem: impl Into<String>, fix: impl Into<String>) {
        self.problems
            .push(FieldProblem::new(self.at, (self.name)(), problem, fix));
    }

    /// Moves the problems of the whole to another offset.
    pub(crate) fn at(mut self, at: u32) -> Self {
        self.at = at;
        self
    }

    /// What was read, or every problem in the order of the text; those at one offset stay as they were added.
    pub(crate) fn finish<T>(mut self, read: Option<T>) -> Result<T, Vec<FieldProblem>> {
        match read {
            Some(read) if self.problems.is_empty() => Ok(read),
            _ => {
                self.problems.sort_by_key(|problem| problem.at);
                Err(self.problems)
            }
        }
    }
}
