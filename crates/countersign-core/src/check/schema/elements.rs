//! The keywords that look into an array.

use super::equal::first_duplicate;
use super::evaluate::{Answer, Run};
use super::marks::Marks;
use super::node::{FALSE, Keyword, NodeId, Search, Span, TRUE};
use crate::json::{Number, Value};
use crate::limits::VALUE_READ;

impl Run<'_, '_, '_> {
    /// Applies one schema to every element from an index on.
    #[inline(never)]
    pub(super) fn items<const LOUD: bool>(
        &mut self,
        index: usize,
        node: NodeId,
        from: usize,
        elements: &[Value],
        marks: Option<&mut Marks>,
    ) -> Answer {
        if let Some(marks) = marks {
            marks.mark_all();
        }
        let rest = elements.get(from..).unwrap_or_default();
        if node == FALSE {
            return Ok(self.check::<LOUD>(rest.is_empty(), index, rest.len()));
        }
        if node == TRUE {
            return Ok(true);
        }
        let mut valid = true;
        for (position, element) in rest.iter().enumerate() {
            valid &= self.descend::<LOUD>(node, element, from + position)?;
            if !LOUD && !valid {
                break;
            }
        }
        Ok(valid)
    }

    /// The keywords for arrays that are met less often.
    #[inline(never)]
    pub(super) fn array_keyword<const LOUD: bool>(
        &mut self,
        index: usize,
        elements: &[Value],
        marks: Option<&mut Marks>,
    ) -> Answer {
        match self.tables.keywords[index] {
            Keyword::PrefixItems(list) => self.prefix_items::<LOUD>(list, elements, marks),
            Keyword::Contains(search) => {
                let search = &self.tables.searches[search as usize];
                self.contains::<LOUD>(index, search, elements, marks)
            }
            Keyword::UniqueItems(true) => self.unique_items::<LOUD>(index, elements),
            Keyword::UnevaluatedItems(node) => self.unevaluated_items::<LOUD>(index, node, elements, marks),
            _ => Ok(true),
        }
    }

    fn prefix_items<const LOUD: bool>(
        &mut self,
        list: Span,
        elements: &[Value],
        marks: Option<&mut Marks>,
    ) -> Answer {
        let list = &self.tables.lists[list.range()];
        if let Some(marks) = marks {
            marks.mark_below(list.len());
        }
        self.charge_read(list.len().min(elements.len()) * VALUE_READ)?;
        let mut valid = true;
        for (position, (node, element)) in list.iter().zip(elements).enumerate() {
            valid &= self.descend::<LOUD>(*node, element, position)?;
            if !LOUD && !valid {
                break;
            }
        }
        Ok(valid)
    }

    fn contains<const LOUD: bool>(
        &mut self,
        index: usize,
        search: &Search,
        elements: &[Value],
        marks: Option<&mut Marks>,
    ) -> Answer {
        let min = search.min.value();
        let max = search.max.map_or(f64::INFINITY, Number::value);
        let mut marks = marks.filter(|_| search.marks);
        // The search may end early only where nobody asks which elements match, or how many.
        let is_open = search.max.is_none() && marks.is_none();
        let mut count: u32 = 0;
        for (position, element) in elements.iter().enumerate() {
            if is_open && f64::from(count) >= min {
                break;
            }
            self.charge(u64::from(search.node == TRUE))?;
            if self.descend::<false>(search.node, element, position)? {
                count += 1;
                if let Some(marks) = marks.as_deref_mut() {
                    marks.mark(position);
                }
            }
        }
        let passed = (min..=max).contains(&f64::from(count));
        Ok(self.check::<LOUD>(passed, index, count as usize))
    }

    fn unique_items<const LOUD: bool>(&mut self, index: usize, elements: &[Value]) -> Answer {
        let mut read = 0;
        let duplicate = first_duplicate(elements, &mut read);
        self.charge_read(read)?;
        Ok(self.check::<LOUD>(duplicate.is_none(), index, duplicate.unwrap_or_default()))
    }

    fn unevaluated_items<const LOUD: bool>(
        &mut self,
        index: usize,
        node: NodeId,
        elements: &[Value],
        marks: Option<&mut Marks>,
    ) -> Answer {
        let Some(marks) = marks else {
            return Ok(true);
        };
        self.charge_read(elements.len() * VALUE_READ)?;
        let mut unevaluated = 0;
        let mut valid = true;
        for (position, element) in elements.iter().enumerate() {
            if marks.has(position) {
                continue;
            }
            if node == FALSE {
                unevaluated += 1;
            } else {
                valid &= self.descend::<LOUD>(node, element, position)?;
            }
            if !LOUD && (unevaluated > 0 || !valid) {
                return Ok(false);
            }
        }
        marks.mark_all();
        Ok(self.check::<LOUD>(unevaluated == 0, index, unevaluated) && valid)
    }
}
