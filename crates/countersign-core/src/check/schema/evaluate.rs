//! Evaluation: one walk over an output and the keywords that apply to it.
//!
//! Keywords run in canonical order of their names, so that findings about one value arrive in the order of their
//! way through the schema. A branch of `anyOf`, `oneOf`, `not`, `if` or `contains` runs *quiet*: it counts
//! nothing, says nothing and stops at the first failure; it is paid for all the same.

use super::Evaluation;
use super::draft::Word;
use super::findings::Collector;
use super::marks::Marks;
use super::node::{Keyword, Node, NodeId, RECURSIVE, TRUE, Tables};
use crate::check::budget::{Budget, Exhausted};
use crate::check::finding::Count;
use crate::decimal;
use crate::json::Value;
use crate::limits::{APPLICATIONS_MAX, READ_PER_EVALUATION, REFERENCE_STEPS_MAX};

/// Keyword evaluations between two looks at the clock.
const POLL: u64 = 4_096;

/// The walk has ended early; [`Run::exhausted`] says why.
pub(super) struct Halt;

/// Whether the value passed.
pub(super) type Answer = Result<bool, Halt>;

/// One walk. What is counted here is private to it; what is left of the budget goes back at its end.
pub(super) struct Run<'s, 'b, 'c> {
    pub tables: &'s Tables,
    budget: &'b mut Budget<'c>,
    /// Evaluations taken out of the budget until the next look at the clock.
    slice: u64,
    exhausted: Option<Exhausted>,
    /// Schemas being applied inside one another.
    applications: usize,
    /// Reference steps since the walk last went deeper into the output.
    references: usize,
    /// Resources entered on the way, where a dynamic reference may ask.
    scope: Vec<u32>,
    total: u64,
    failed: u64,
    pub collector: Collector<'s>,
}

/// Evaluates everything and says everything.
pub(super) fn evaluate(
    tables: &Tables,
    output: &Value,
    budget: &mut Budget<'_>,
) -> Result<Evaluation, Exhausted> {
    let mut run = Run::new(tables, budget);
    let outcome = run.apply::<true>(tables.root, output, None);
    run.end(outcome)?;
    Ok(Evaluation {
        count: Count {
            passed: run.total - run.failed,
            total: run.total,
        },
        findings: run.collector.told(tables, output),
    })
}

/// Evaluates until the answer is known.
pub(super) fn is_valid(tables: &Tables, output: &Value, budget: &mut Budget<'_>) -> Result<bool, Exhausted> {
    let mut run = Run::new(tables, budget);
    let outcome = run.apply::<false>(tables.root, output, None);
    run.end(outcome)
}

impl<'s, 'b, 'c> Run<'s, 'b, 'c> {
    fn new(tables: &'s Tables, budget: &'b mut Budget<'c>) -> Self {
        let slice = budget.evaluations.min(POLL);
        budget.evaluations -= slice;
        Run {
            tables,
            budget,
            slice,
            exhausted: None,
            applications: 0,
            references: 0,
            scope: Vec::new(),
            total: 0,
            failed: 0,
            collector: Collector::default(),
        }
    }

    fn end(&mut self, outcome: Answer) -> Result<bool, Exhausted> {
        self.budget.evaluations += std::mem::take(&mut self.slice);
        outcome.map_err(|Halt| self.exhausted.take().unwrap_or(Exhausted::Evaluations))
    }

    #[cold]
    fn halt(&mut self, exhausted: Exhausted) -> Halt {
        self.exhausted = Some(exhausted);
        Halt
    }

    /// Pays for this many evaluations.
    #[inline]
    pub(super) fn charge(&mut self, evaluations: u64) -> Result<(), Halt> {
        match self.slice.checked_sub(evaluations) {
            Some(rest) => {
                self.slice = rest;
                Ok(())
            }
            None => self.draw(evaluations),
        }
    }

    #[cold]
    fn draw(&mut self, evaluations: u64) -> Result<(), Halt> {
        if (self.budget.out_of_time)() {
            return Err(self.halt(Exhausted::OutOfTime));
        }
        self.budget.evaluations += std::mem::take(&mut self.slice);
        let Some(rest) = self.budget.evaluations.checked_sub(evaluations) else {
            self.budget.evaluations = 0;
            return Err(self.halt(Exhausted::Evaluations));
        };
        self.slice = rest.min(POLL);
        self.budget.evaluations = rest - self.slice;
        Ok(())
    }

    /// Pays for reading this many bytes.
    #[inline]
    pub(super) fn charge_read(&mut self, bytes: usize) -> Result<(), Halt> {
        if bytes < READ_PER_EVALUATION {
            return Ok(());
        }
        self.charge((bytes / READ_PER_EVALUATION) as u64)
    }

    /// Notes that a keyword failed which has said why itself.
    #[inline]
    pub(super) fn fail_told(&mut self) {
        self.failed += 1;
    }

    /// Applies a schema to a value. What it evaluated is added to `marks` if it passes.
    #[inline]
    pub(super) fn apply<const LOUD: bool>(
        &mut self,
        id: NodeId,
        value: &Value,
        marks: Option<&mut Marks>,
    ) -> Answer {
        let tables = self.tables;
        let node = &tables.nodes[id as usize];
        if self.applications >= APPLICATIONS_MAX {
            return Err(self.halt(Exhausted::Evaluations));
        }
        self.applications += 1;
        let passed = if marks.is_some() || node.special {
            self.apply_marked::<LOUD>(node, value, marks)
        } else {
            self.run::<LOUD>(node, value, None)
        };
        self.applications -= 1;
        passed
    }

    #[inline(never)]
    fn apply_marked<const LOUD: bool>(
        &mut self,
        node: &'s Node,
        value: &Value,
        marks: Option<&mut Marks>,
    ) -> Answer {
        let enters = self.tables.dynamic && self.scope.last() != Some(&node.resource);
        if enters {
            self.scope.push(node.resource);
        }
        // A set of its own: what is next door is not seen from inside, and what fails gives nothing.
        let mut own = Marks::default();
        let passed = self.run::<LOUD>(node, value, Some(&mut own))?;
        if enters {
            self.scope.pop();
        }
        if let (true, Some(marks)) = (passed, marks) {
            self.charge_read(own.read())?;
            marks.merge(&own);
        }
        Ok(passed)
    }

    /// Goes one step deeper into the output.
    #[inline]
    pub(super) fn descend<const LOUD: bool>(&mut self, id: NodeId, value: &Value, index: usize) -> Answer {
        if id == TRUE {
            return Ok(true);
        }
        let references = std::mem::take(&mut self.references);
        if LOUD && !self.collector.enter(index) {
            return Err(self.halt(Exhausted::Evaluations));
        }
        let passed = self.apply::<LOUD>(id, value, None)?;
        if LOUD {
            self.collector.leave();
        }
        self.references = references;
        Ok(passed)
    }

    /// Runs the keywords of a schema.
    #[inline(never)]
    fn run<const LOUD: bool>(
        &mut self,
        node: &'s Node,
        value: &Value,
        mut marks: Option<&mut Marks>,
    ) -> Answer {
        let tables = self.tables;
        if LOUD {
            self.total += u64::from(node.counted);
        }
        let mut valid = true;
        let mut condition = false;
        for index in node.keywords.range() {
            self.charge(1)?;
            let marks = marks.as_deref_mut();
            let keyword = &tables.keywords[index];
            let passed = match (keyword, value) {
                (Keyword::Properties(named), Value::Object(object)) => {
                    self.properties::<LOUD>(*named, object, marks)?
                }
                (Keyword::Required(names), Value::Object(object)) => {
                    self.required::<LOUD>(index, *names, object)?
                }
                (
                    Keyword::AdditionalProperties(..)
                    | Keyword::PatternProperties(_)
                    | Keyword::PropertyNames(_)
                    | Keyword::DependentRequired(_)
                    | Keyword::DependentSchemas(_)
                    | Keyword::UnevaluatedProperties(_),
                    Value::Object(object),
                ) => self.object_keyword::<LOUD>(index, value, object, marks)?,
                (Keyword::Items(schema, from), Value::Array(elements)) => {
                    self.items::<LOUD>(index, *schema, *from as usize, elements, marks)?
                }
                (
                    Keyword::PrefixItems(_)
                    | Keyword::Contains(_)
                    | Keyword::UniqueItems(_)
                    | Keyword::UnevaluatedItems(_),
                    Value::Array(elements),
                ) => self.array_keyword::<LOUD>(index, elements, marks)?,
                (Keyword::Ref(target), _) => {
                    self.step_reference(node, Word::Ref)?;
                    let passed = self.apply::<LOUD>(tables.targets[*target as usize], value, marks)?;
                    self.references -= 1;
                    passed
                }
                (
                    Keyword::DynamicRef(..)
                    | Keyword::AllOf(_)
                    | Keyword::AnyOf(_)
                    | Keyword::OneOf(_)
                    | Keyword::Not(_)
                    | Keyword::If(..)
                    | Keyword::Then(_),
                    _,
                ) => self.in_place::<LOUD>(index, node, value, marks, &mut condition)?,
                (keyword, value) => {
                    let holds = self.holds(keyword, node, value)?;
                    self.check::<LOUD>(holds, index, 0)
                }
            };
            if !passed {
                if !LOUD {
                    return Ok(false);
                }
                valid = false;
            }
        }
        Ok(valid)
    }

    /// The keywords that look at a value and apply no schema. A keyword for another type holds.
    #[inline]
    fn holds(&mut self, keyword: &Keyword, node: &Node, value: &Value) -> Answer {
        Ok(match (keyword, value) {
            (Keyword::False, _) => false,
            (Keyword::Type(types), value) => types.admit(value),
            (Keyword::Enum(choices) | Keyword::Const(choices), value) => self.is_among(*choices, value)?,
            (Keyword::Maximum(limit), Value::Number(number)) => number.value() <= limit.value(),
            (Keyword::Minimum(limit), Value::Number(number)) => number.value() >= limit.value(),
            (Keyword::ExclusiveMaximum(limit) | Keyword::BelowMaximum(limit), Value::Number(number)) => {
                number.value() < limit.value()
            }
            (Keyword::ExclusiveMinimum(limit) | Keyword::AboveMinimum(limit), Value::Number(number)) => {
                number.value() > limit.value()
            }
            (Keyword::MultipleOf(divisor), Value::Number(number)) => decimal::is_multiple(*number, *divisor),
            (Keyword::MaxLength(limit), Value::String(text)) => self.length(text)? <= limit.value(),
            (Keyword::MinLength(limit), Value::String(text)) => self.length(text)? >= limit.value(),
            (Keyword::MaxItems(limit), Value::Array(elements)) => elements.len() as f64 <= limit.value(),
            (Keyword::MinItems(limit), Value::Array(elements)) => elements.len() as f64 >= limit.value(),
            (Keyword::MaxProperties(limit), Value::Object(object)) => object.len() as f64 <= limit.value(),
            (Keyword::MinProperties(limit), Value::Object(object)) => object.len() as f64 >= limit.value(),
            (Keyword::Pattern(pattern), Value::String(text)) => {
                self.matches(*pattern, text, node.location, Some(Word::Pattern))?
            }
            (Keyword::Format(format), Value::String(text)) => {
                self.charge_read(text.len())?;
                format.matches(text)
            }
            _ => true,
        })
    }

    /// The keywords that apply schemas to the value itself.
    #[inline(never)]
    fn in_place<const LOUD: bool>(
        &mut self,
        index: usize,
        node: &'s Node,
        value: &Value,
        mut marks: Option<&mut Marks>,
        condition: &mut bool,
    ) -> Answer {
        let tables = self.tables;
        match tables.keywords[index] {
            Keyword::DynamicRef(target, name) => {
                let word = if name == RECURSIVE {
                    Word::RecursiveRef
                } else {
                    Word::DynamicRef
                };
                self.step_reference(node, word)?;
                let target = self.dynamic_target(tables.targets[target as usize], name)?;
                let passed = self.apply::<LOUD>(target, value, marks)?;
                self.references -= 1;
                Ok(passed)
            }
            Keyword::AllOf(list) => {
                let mut valid = true;
                for branch in &tables.lists[list.range()] {
                    valid &= self.branch::<LOUD>(*branch, value, marks.as_deref_mut())?;
                    if !LOUD && !valid {
                        break;
                    }
                }
                Ok(valid)
            }
            Keyword::AnyOf(list) => {
                let mut matched = false;
                for branch in &tables.lists[list.range()] {
                    matched |= self.branch::<false>(*branch, value, marks.as_deref_mut())?;
                    // Each branch that matches has a say in what is evaluated.
                    if matched && marks.is_none() {
                        break;
                    }
                }
                Ok(self.check::<LOUD>(matched, index, 0))
            }
            Keyword::OneOf(list) => {
                let mut matches = 0;
                for branch in &tables.lists[list.range()] {
                    matches += usize::from(self.branch::<false>(*branch, value, marks.as_deref_mut())?);
                    if !LOUD && matches > 1 {
                        break;
                    }
                }
                Ok(self.check::<LOUD>(matches == 1, index, matches))
            }
            Keyword::Not(branch) => {
                let matched = self.branch::<false>(branch, value, None)?;
                Ok(self.check::<LOUD>(!matched, index, 0))
            }
            Keyword::If(asked, otherwise) => {
                *condition = self.branch::<false>(asked, value, marks.as_deref_mut())?;
                if *condition {
                    Ok(true)
                } else {
                    self.branch::<LOUD>(otherwise, value, marks)
                }
            }
            Keyword::Then(then) if *condition => self.branch::<LOUD>(then, value, marks),
            _ => Ok(true),
        }
    }

    /// Applies a schema to the same value; one that asks nothing is paid for, too.
    #[inline]
    pub(super) fn branch<const LOUD: bool>(
        &mut self,
        id: NodeId,
        value: &Value,
        marks: Option<&mut Marks>,
    ) -> Answer {
        if id == TRUE {
            self.charge(1)?;
            return Ok(true);
        }
        self.apply::<LOUD>(id, value, marks)
    }

    #[inline]
    fn step_reference(&mut self, node: &Node, word: Word) -> Result<(), Halt> {
        self.references += 1;
        if self.references > REFERENCE_STEPS_MAX {
            let place = self.tables.place(node.location, Some(word));
            return Err(self.halt(Exhausted::References(place)));
        }
        Ok(())
    }

    /// The outermost resource on the way that has this dynamic anchor decides.
    fn dynamic_target(&mut self, target: NodeId, name: u32) -> Result<NodeId, Halt> {
        let anchors = &self.tables.anchors;
        let first = anchors.partition_point(|anchor| anchor.name < name);
        let anchors = &anchors[first..];
        let anchors = &anchors[..anchors.partition_point(|anchor| anchor.name == name)];
        for (steps, resource) in self.scope.iter().enumerate() {
            if let Ok(found) = anchors.binary_search_by_key(resource, |anchor| anchor.resource) {
                let node = anchors[found].node;
                self.charge(steps as u64)?;
                return Ok(node);
            }
        }
        self.charge(self.scope.len() as u64)?;
        Ok(target)
    }

    fn is_among(&mut self, choices: u32, value: &Value) -> Answer {
        let mut read = 0;
        let found = self.tables.choices[choices as usize].contain(value, &mut read);
        self.charge_read(read)?;
        Ok(found)
    }

    /// The length of a text in Unicode scalar values.
    fn length(&mut self, text: &str) -> Result<f64, Halt> {
        self.charge_read(text.len())?;
        Ok(text.chars().count() as f64)
    }

    /// Whether a text matches a pattern that stands at `location`, below `word` if that is no place of its own.
    pub(super) fn matches(&mut self, pattern: u32, text: &str, location: u32, word: Option<Word>) -> Answer {
        self.charge_read(text.len())?;
        let steps = &mut self.budget.pattern_steps;
        self.tables.patterns[pattern as usize]
            .is_match(text, steps)
            .map_err(|_| {
                let place = self.tables.place(location, word);
                self.halt(Exhausted::PatternSteps(place))
            })
    }

    /// Starts and ends the walk over a member name, which is nowhere deeper than its object.
    pub(super) fn apply_to_name<const LOUD: bool>(&mut self, id: NodeId, name: &str, index: usize) -> Answer {
        let references = std::mem::take(&mut self.references);
        if LOUD {
            self.collector.enter_name(index);
        }
        let passed = self.branch::<LOUD>(id, &Value::String(name.into()), None)?;
        if LOUD {
            self.collector.leave_name();
        }
        self.references = references;
        Ok(passed)
    }

    /// Notes a keyword that failed; `number` is the figure that its text needs, if it needs one.
    #[inline]
    pub(super) fn check<const LOUD: bool>(&mut self, passed: bool, keyword: usize, number: usize) -> bool {
        if LOUD && !passed {
            self.failed += 1;
            self.collector.add(self.tables, keyword, number, None);
        }
        passed
    }
}
