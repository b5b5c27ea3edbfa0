//! The keywords that look into an object.

use super::evaluate::{Answer, Run};
use super::marks::Marks;
use super::node::{Dependent, FALSE, Keyword, Named, NodeId, Siblings, Span};
use crate::json::{Member, Object, Value, compare_names};
use crate::limits::VALUE_READ;
use std::cmp::Ordering;

/// Sorts names in canonical order; false if one repeats.
pub(super) fn sort_names(names: &mut [&str]) -> bool {
    names.sort_unstable_by(|a, b| compare_names(a, b));
    names.windows(2).all(|pair| pair[0] != pair[1])
}

/// Where one list is this many times longer than the other, searching it beats walking it.
const LOPSIDED: usize = 8;

/// The pairs of equal names in two lists of sorted names, as indexes.
struct Common<'a, A, F> {
    named: &'a [A],
    name: F,
    members: &'a [Member],
    at_named: usize,
    at_member: usize,
}

impl<'a, A, F: Fn(&A) -> &str> Common<'a, A, F> {
    fn new(named: &'a [A], name: F, members: &'a [Member]) -> Self {
        Common {
            named,
            name,
            members,
            at_named: 0,
            at_member: 0,
        }
    }

    /// What walking both lists reads.
    fn read(&self) -> usize {
        self.named.len().min(self.members.len()) * VALUE_READ
    }
}

impl<A, F: Fn(&A) -> &str> Iterator for Common<'_, A, F> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        while self.at_named < self.named.len() && self.at_member < self.members.len() {
            let name = (self.name)(&self.named[self.at_named]);
            let member = &self.members[self.at_member].name;
            // Mostly what is named is there: equality costs less than order.
            if name == member {
                self.at_named += 1;
                self.at_member += 1;
                return Some((self.at_named - 1, self.at_member - 1));
            }
            match compare_names(name, member) {
                Ordering::Less if self.named.len() > LOPSIDED * self.members.len() => {
                    let rest = &self.named[self.at_named..];
                    self.at_named +=
                        rest.partition_point(|one| compare_names((self.name)(one), member).is_lt());
                }
                Ordering::Less | Ordering::Equal => self.at_named += 1,
                Ordering::Greater if self.members.len() > LOPSIDED * self.named.len() => {
                    let rest = &self.members[self.at_member..];
                    self.at_member += rest.partition_point(|one| compare_names(&one.name, name).is_lt());
                }
                Ordering::Greater => self.at_member += 1,
            }
        }
        None
    }
}

impl Run<'_, '_, '_> {
    /// Applies the schemas of members that are there.
    #[inline(never)]
    pub(super) fn properties<const LOUD: bool>(
        &mut self,
        named: Span,
        object: &Object,
        mut marks: Option<&mut Marks>,
    ) -> Answer {
        let named = &self.tables.named[named.range()];
        let members = object.members();
        let common = Common::new(named, |named: &Named| named.name.as_str(), members);
        self.charge_read(common.read())?;
        let mut valid = true;
        for (index, position) in common {
            if let Some(marks) = marks.as_deref_mut() {
                marks.mark(position);
            }
            valid &= self.descend::<LOUD>(named[index].node, &members[position].value, position)?;
            if !LOUD && !valid {
                break;
            }
        }
        Ok(valid)
    }

    /// Whether all names are there; the keyword fails once, and each absent name is a finding.
    pub(super) fn required<const LOUD: bool>(
        &mut self,
        index: usize,
        names: Span,
        object: &Object,
    ) -> Answer {
        let passed = self.all_present::<LOUD>(index, names, object)?;
        if LOUD && !passed {
            self.fail_told();
        }
        Ok(passed)
    }

    fn all_present<const LOUD: bool>(&mut self, index: usize, names: Span, object: &Object) -> Answer {
        let names = &self.tables.names[names.range()];
        let common = Common::new(names, |name| name.as_str(), object.members());
        self.charge_read(common.read())?;
        let absent = names.len() - common.count();
        if absent == 0 {
            return Ok(true);
        }
        if LOUD {
            // Each is a finding, and a finding costs as much as a keyword.
            self.charge(absent as u64)?;
            for name in names {
                if let Err(gap) = object.position(name) {
                    self.collector.add(self.tables, index, 0, Some((name, gap)));
                }
            }
        }
        Ok(false)
    }

    /// The keywords for objects that are met less often.
    #[inline(never)]
    pub(super) fn object_keyword<const LOUD: bool>(
        &mut self,
        index: usize,
        value: &Value,
        object: &Object,
        marks: Option<&mut Marks>,
    ) -> Answer {
        match self.tables.keywords[index] {
            Keyword::AdditionalProperties(node, siblings) => {
                let siblings = &self.tables.siblings[siblings as usize];
                self.additional_properties::<LOUD>(index, node, siblings, object, marks)
            }
            Keyword::PatternProperties(patterns) => self.pattern_properties::<LOUD>(patterns, object, marks),
            Keyword::PropertyNames(node) => self.property_names::<LOUD>(node, object),
            Keyword::DependentRequired(dependents) => {
                self.dependent_required::<LOUD>(index, dependents, object)
            }
            Keyword::DependentSchemas(named) => self.dependent_schemas::<LOUD>(named, value, object, marks),
            Keyword::UnevaluatedProperties(node) => {
                self.unevaluated_properties::<LOUD>(index, node, object, marks)
            }
            _ => Ok(true),
        }
    }

    fn additional_properties<const LOUD: bool>(
        &mut self,
        index: usize,
        node: NodeId,
        siblings: &Siblings,
        object: &Object,
        mut marks: Option<&mut Marks>,
    ) -> Answer {
        let tables = self.tables;
        let members = object.members();
        let named = &tables.named[siblings.properties.range()];
        let patterns = &tables.matched[siblings.patterns.range()];
        let mut common = Common::new(named, |named: &Named| named.name.as_str(), members);
        self.charge_read(members.len() * VALUE_READ)?;
        let mut next = common.next();
        let mut additional = 0;
        let mut valid = true;
        'members: for (position, member) in members.iter().enumerate() {
            if let Some((_, known)) = next
                && known == position
            {
                next = common.next();
                continue;
            }
            for matched in patterns {
                self.charge(1)?;
                if self.matches(matched.pattern, &member.name, matched.location, None)? {
                    continue 'members;
                }
            }
            if let Some(marks) = marks.as_deref_mut() {
                marks.mark(position);
            }
            if node == FALSE {
                additional += 1;
            } else {
                valid &= self.descend::<LOUD>(node, &member.value, position)?;
            }
            if !LOUD && (additional > 0 || !valid) {
                return Ok(false);
            }
        }
        Ok(self.check::<LOUD>(additional == 0, index, additional) && valid)
    }

    fn pattern_properties<const LOUD: bool>(
        &mut self,
        patterns: Span,
        object: &Object,
        mut marks: Option<&mut Marks>,
    ) -> Answer {
        let mut valid = true;
        for matched in &self.tables.matched[patterns.range()] {
            for (position, member) in object.members().iter().enumerate() {
                self.charge(1)?;
                if !self.matches(matched.pattern, &member.name, matched.location, None)? {
                    continue;
                }
                if let Some(marks) = marks.as_deref_mut() {
                    marks.mark(position);
                }
                valid &= self.descend::<LOUD>(matched.node, &member.value, position)?;
                if !LOUD && !valid {
                    return Ok(false);
                }
            }
        }
        Ok(valid)
    }

    fn property_names<const LOUD: bool>(&mut self, node: NodeId, object: &Object) -> Answer {
        let mut valid = true;
        for (position, member) in object.members().iter().enumerate() {
            valid &= self.apply_to_name::<LOUD>(node, &member.name, position)?;
            if !LOUD && !valid {
                break;
            }
        }
        Ok(valid)
    }

    fn dependent_required<const LOUD: bool>(
        &mut self,
        index: usize,
        dependents: Span,
        object: &Object,
    ) -> Answer {
        let dependents = &self.tables.dependents[dependents.range()];
        let common = Common::new(
            dependents,
            |dependent: &Dependent| dependent.trigger.as_str(),
            object.members(),
        );
        self.charge_read(common.read())?;
        let mut valid = true;
        for (found, _) in common {
            self.charge(1)?;
            valid &= self.all_present::<LOUD>(index, dependents[found].required, object)?;
            if !LOUD && !valid {
                break;
            }
        }
        if LOUD && !valid {
            self.fail_told();
        }
        Ok(valid)
    }

    fn dependent_schemas<const LOUD: bool>(
        &mut self,
        named: Span,
        value: &Value,
        object: &Object,
        mut marks: Option<&mut Marks>,
    ) -> Answer {
        let named = &self.tables.named[named.range()];
        let common = Common::new(named, |named: &Named| named.name.as_str(), object.members());
        self.charge_read(common.read())?;
        let mut valid = true;
        for (found, _) in common {
            valid &= self.branch::<LOUD>(named[found].node, value, marks.as_deref_mut())?;
            if !LOUD && !valid {
                break;
            }
        }
        Ok(valid)
    }

    fn unevaluated_properties<const LOUD: bool>(
        &mut self,
        index: usize,
        node: NodeId,
        object: &Object,
        marks: Option<&mut Marks>,
    ) -> Answer {
        let Some(marks) = marks else {
            return Ok(true);
        };
        self.charge_read(object.len() * VALUE_READ)?;
        let mut unevaluated = 0;
        let mut valid = true;
        for (position, member) in object.members().iter().enumerate() {
            if marks.has(position) {
                continue;
            }
            if node == FALSE {
                unevaluated += 1;
            } else {
                valid &= self.descend::<LOUD>(node, &member.value, position)?;
            }
            if !LOUD && (unevaluated > 0 || !valid) {
                return Ok(false);
            }
        }
        marks.mark_all();
        Ok(self.check::<LOUD>(unevaluated == 0, index, unevaluated) && valid)
    }
}
