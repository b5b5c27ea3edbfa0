//! The request as the contract defines it (sections 4, 5 and 17): a demand, an output, ids; defaults and
//! hashes. A `Request` that exists is valid.

use super::bound::Bound;
use super::demand::Demand;
use super::invalid::{FieldProblem, InvalidRequest, field_inside};
use super::rule::Rule;
use super::schema::{Schema, SchemaFault};
use crate::canonical::{self, Hash};
use crate::json::plain::is_printable_ascii;
use crate::json::{Fault, FaultKind, Member, Object, Value, read_nested};
use crate::limits::{BOUNDS_MAX, ID_CHARS_MAX, NESTING_MAX, RULES_MAX};
use crate::place::{Place, Step};
use std::fmt::Write;
use std::sync::Arc;

/// One valid request for a check.
pub struct Request {
    /// The buyer's name for the task: 1 to 200 characters.
    pub task_id: String,
    /// The agent that produced the output, as the caller says.
    pub agent_id: Option<String>,
    /// What is asked.
    pub demand: Demand,
    /// What is checked.
    pub output: Value,
    /// Which shape the answer takes.
    pub detail: Detail,
    /// What the receipt binds.
    pub hashes: Hashes,
}

/// The shape of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Everything.
    Full,
    /// The result and what binds it.
    Compact,
}

/// The four hashes of a request (section 17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// Of `submitted_output`.
    pub output: Hash,
    /// Of `expected_schema`.
    pub schema: Hash,
    /// Of `{"bounds", "rules"}` as supplied.
    pub rules: Hash,
    /// Of the eight fields with every default filled in.
    pub request: Hash,
}

/// Where compiled schemas come from: compiled anew, or from a cache keyed by their hash.
pub trait Schemas {
    /// The compiled form of `schema`, whose canonical form has this hash.
    fn compiled(&self, hash: &Hash, schema: &Value) -> Result<Arc<Schema>, Vec<SchemaFault>>;
}

/// Compiles each schema anew.
pub struct CompileAnew;

impl Schemas for CompileAnew {
    fn compiled(&self, _: &Hash, schema: &Value) -> Result<Arc<Schema>, Vec<SchemaFault>> {
        Schema::compile(schema).map(Arc::new)
    }
}

/// The fields of a request, in the order of the contract.
const FIELDS: [&str; 9] = [
    "task_id",
    "agent_id",
    "expected_schema",
    "submitted_output",
    "rules",
    "bounds",
    "enforce_rules",
    "strict_content_check",
    "detail",
];

/// Those of them that need not be there.
const OPTIONAL_FIELDS: [&str; 6] = [
    "agent_id",
    "rules",
    "bounds",
    "enforce_rules",
    "strict_content_check",
    "detail",
];

/// Ids that begin with this are reserved for examples: checked and signed as any, counted by nobody.
pub const TEST_ID_PREFIX: &str = "test-";

impl Request {
    /// Reads a request's bytes: strict JSON first (the first fault alone), then the contract (every problem).
    pub fn parse(body: &[u8], schemas: &dyn Schemas) -> Result<Request, InvalidRequest> {
        Request::from_value(read_body(body, levels_of, field_of)?, schemas)
    }

    /// Reads a request as [`Request::parse`] does, for doors whose frameworks write null for everything that was left
    /// out: null for a member that need not be there counts as absent. Deeper nulls, and that of
    /// `submitted_output`, mean what they say.
    pub fn parse_arguments(body: &[u8], schemas: &dyn Schemas) -> Result<Request, InvalidRequest> {
        let document = match read_body(body, levels_of, field_of)? {
            Value::Object(members) => Value::Object(members.retaining(|member| {
                !member.value.is_null() || !OPTIONAL_FIELDS.contains(&member.name.as_str())
            })),
            other => other,
        };
        Request::from_value(document, schemas)
    }

    /// Reads a request from a value that the strict reader gave.
    pub fn from_value(document: Value, schemas: &dyn Schemas) -> Result<Request, InvalidRequest> {
        let Value::Object(document) = document else {
            return Err(InvalidRequest(vec![not_one_object()]));
        };
        let mut problems = Problems::default();
        problems.unknown_members(&document);
        let task_id = problems.id(&document, "task_id");
        let agent_id = problems.id(&document, "agent_id");
        let schema = problems.schema(&document);
        if document.member("submitted_output").is_none() {
            problems.missing(
                "submitted_output",
                "Add submitted_output: any JSON value, null included.",
            );
        }
        let rules = problems.rules(&document);
        let bounds = problems.bounds(&document);
        let enforce_rules = problems.switch(&document, "enforce_rules");
        let strict_content_check = problems.switch(&document, "strict_content_check");
        let detail = problems.detail(&document);

        // The schema's canonical form is part of the request's, and its hash is the key of the cache.
        let mut canonical_schema = Vec::with_capacity(512);
        let compiled = schema.and_then(|member| {
            canonical::write(&member.value, &mut canonical_schema);
            let hash = Hash::of(&canonical_schema);
            Some((hash, problems.compile(schemas, &hash, member)?))
        });
        let (Some(task_id), Some((schema_hash, schema)), true) = (task_id, compiled, problems.0.is_empty())
        else {
            return Err(problems.into_invalid());
        };
        let demand = Demand {
            schema,
            rules,
            bounds,
            enforce_rules,
            strict_content_check,
        };
        let hashes = hashes(&document, &demand, schema_hash, &canonical_schema);
        let output = document.take("submitted_output").unwrap_or(Value::Null);
        Ok(Request {
            task_id,
            agent_id,
            demand,
            output,
            detail,
            hashes,
        })
    }

    /// Whether an id is reserved for examples, so that scores and reputation do not count this check.
    pub fn is_test(&self) -> bool {
        self.task_id.starts_with(TEST_ID_PREFIX)
            || self
                .agent_id
                .as_ref()
                .is_some_and(|id| id.starts_with(TEST_ID_PREFIX))
    }
}

/// Each member of the request has a depth of its own (section 7). In `rules`, that of `values` counts from its
/// own root, which stands on the third level.
pub(crate) fn levels_of(field: &str) -> usize {
    if field == "rules" {
        NESTING_MAX + 2
    } else {
        NESTING_MAX
    }
}

/// Reads a body whose members are each as deep as `levels_of` says. What is wrong with it stands at the field
/// that `field_of` makes of its place.
pub fn read_body(
    body: &[u8],
    levels_of: fn(&str) -> usize,
    field_of: fn(&[Step]) -> String,
) -> Result<Value, InvalidRequest> {
    let read = read_nested(body, NESTING_MAX, levels_of);
    read.map_err(|fault| InvalidRequest(vec![fault_problem(&fault, field_of(&fault.place.0))]))
}

/// The problem of a body that is JSON, and not an object.
pub fn not_one_object() -> FieldProblem {
    FieldProblem::new(
        0,
        "body",
        "is not one JSON object",
        "Send one JSON object in UTF-8.",
    )
}

/// The problems found so far.
#[derive(Default)]
struct Problems(Vec<FieldProblem>);

impl Problems {
    fn add(&mut self, at: u32, field: &str, problem: &str, fix: impl Into<String>) {
        self.0.push(FieldProblem::new(at, field, problem, fix));
    }

    fn missing(&mut self, field: &str, fix: &str) {
        self.add(0, field, "is required", fix);
    }

    fn unknown_members(&mut self, document: &Object) {
        for member in document
            .members()
            .iter()
            .filter(|member| !FIELDS.contains(&member.name.as_str()))
        {
            let fix = format!("Use only: {}.", FIELDS.join(", "));
            self.add(
                member.at,
                "body",
                "has a member that the contract does not know",
                fix,
            );
        }
    }

    /// `task_id`, which is required, or `agent_id`, which is not and may be null.
    fn id(&mut self, document: &Object, field: &'static str) -> Option<String> {
        let required = field == "task_id";
        let fix = if required {
            "Send a string of 1 to 200 characters without control characters."
        } else {
            "Send a string of 1 to 200 characters without control characters, or leave it out."
        };
        let Some(member) = document.member(field) else {
            if required {
                self.missing(field, "Add task_id: a string of 1 to 200 characters.");
            }
            return None;
        };
        let problem = match &member.value {
            Value::Null if !required => return None,
            Value::String(id) => match id_fault(id) {
                None => return Some(id.to_string()),
                Some(fault) => fault,
            },
            _ => "is not a string",
        };
        self.add(member.at, field, problem, fix);
        None
    }

    fn schema<'a>(&mut self, document: &'a Object) -> Option<&'a Member> {
        let Some(member) = document.member("expected_schema") else {
            self.missing(
                "expected_schema",
                "Add expected_schema: a JSON Schema, written as an object.",
            );
            return None;
        };
        if member.value.as_object().is_none() {
            let fix = "Send a JSON Schema as an object; the empty object {} accepts every output.";
            self.add(member.at, "expected_schema", "is not an object", fix);
            return None;
        }
        Some(member)
    }

    fn compile(&mut self, schemas: &dyn Schemas, hash: &Hash, member: &Member) -> Option<Arc<Schema>> {
        match schemas.compiled(hash, &member.value) {
            Ok(schema) => Some(schema),
            Err(faults) => {
                self.0.extend(faults.into_iter().map(|fault| {
                    let field = field_inside("expected_schema", &fault.place);
                    FieldProblem::new(fault.at.max(member.at), field, fault.problem, fault.fix)
                }));
                None
            }
        }
    }

    fn rules(&mut self, document: &Object) -> Vec<Rule> {
        let Some(member) = document.member("rules").filter(|member| !member.value.is_null()) else {
            return Vec::new();
        };
        let Some(elements) = member.value.as_array() else {
            self.add(
                member.at,
                "rules",
                "is not an array",
                "Send an array of rules, or leave it out.",
            );
            return Vec::new();
        };
        if elements.len() > RULES_MAX {
            let fix = format!("Send at most {RULES_MAX} rules.");
            self.add(member.at, "rules", "has too many entries", fix);
            return Vec::new();
        }
        let mut rules = Vec::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            match Rule::parse(element, index) {
                Ok(rule) => rules.push(rule),
                // Elements carry no offset of their own: those of one array stay in its order.
                Err(found) => self.0.extend(found.into_iter().map(|problem| FieldProblem {
                    at: member.at,
                    ..problem
                })),
            }
        }
        rules
    }

    fn bounds(&mut self, document: &Object) -> Vec<Bound> {
        let Some(member) = document.member("bounds").filter(|member| !member.value.is_null()) else {
            return Vec::new();
        };
        let Some(entries) = member.value.as_object() else {
            let fix = "Send an object from path to bound, or leave it out.";
            self.add(member.at, "bounds", "is not an object", fix);
            return Vec::new();
        };
        if entries.len() > BOUNDS_MAX {
            self.add(
                member.at,
                "bounds",
                "has too many members",
                format!("Send at most {BOUNDS_MAX} bounds."),
            );
            return Vec::new();
        }
        let mut bounds = Vec::with_capacity(entries.len());
        for entry in entries.members() {
            match Bound::parse(&entry.name, &entry.value, entry.at) {
                Ok(bound) => bounds.push(bound),
                Err(found) => self.0.extend(found),
            }
        }
        bounds
    }

    fn switch(&mut self, document: &Object, field: &'static str) -> bool {
        match document.member(field).map(|member| (member.at, &member.value)) {
            None => false,
            Some((_, Value::Bool(value))) => *value,
            Some((at, _)) => {
                self.add(
                    at,
                    field,
                    "is not a boolean",
                    "Send true or false, or leave it out.",
                );
                false
            }
        }
    }

    fn detail(&mut self, document: &Object) -> Detail {
        let Some(member) = document.member("detail") else {
            return Detail::Full;
        };
        match member.value.as_str() {
            Some("full") => return Detail::Full,
            Some("compact") => return Detail::Compact,
            Some(_) => {
                self.add(
                    member.at,
                    "detail",
                    "is not one of the allowed values",
                    "Use one of: 'full' or 'compact'.",
                );
            }
            None => self.add(
                member.at,
                "detail",
                "is not a string",
                "Use one of: 'full' or 'compact'.",
            ),
        }
        Detail::Full
    }

    /// All problems, each once, in the order of the request's text.
    fn into_invalid(mut self) -> InvalidRequest {
        self.0.sort_by_key(|problem| problem.at);
        let mut problems: Vec<FieldProblem> = Vec::with_capacity(self.0.len());
        for problem in self.0 {
            let known =
                |other: &FieldProblem| other.field == problem.field && other.problem == problem.problem;
            if !problems.iter().any(known) {
                problems.push(problem);
            }
        }
        InvalidRequest(problems)
    }
}

/// What is wrong with an id, if anything.
pub fn id_fault(id: &str) -> Option<&'static str> {
    if id.is_empty() {
        Some("is empty")
    } else if id.len() > ID_CHARS_MAX && id.chars().count() > ID_CHARS_MAX {
        Some("is longer than 200 characters")
    } else if !is_printable_ascii(id) && id.chars().any(char::is_control) {
        Some("contains a control character")
    } else {
        None
    }
}

/// The four hashes. The canonical request holds the canonical schema and output, so each is written once.
fn hashes(document: &Object, demand: &Demand, schema: Hash, canonical_schema: &[u8]) -> Hashes {
    let null = Value::Null;
    let supplied = |name: &str| document.get(name).unwrap_or(&null);
    let (rules, bounds) = (supplied("rules"), supplied("bounds"));

    let mut request = Vec::with_capacity(canonical_schema.len() + 512);
    let switch = |on| if on { b"true".as_slice() } else { b"false" };
    request.extend_from_slice(b"{\"agent_id\":");
    canonical::write(supplied("agent_id"), &mut request);
    request.extend_from_slice(b",\"bounds\":");
    write_filled_bounds(bounds, &mut request);
    request.extend_from_slice(b",\"enforce_rules\":");
    request.extend_from_slice(switch(demand.enforce_rules));
    request.extend_from_slice(b",\"expected_schema\":");
    request.extend_from_slice(canonical_schema);
    request.extend_from_slice(b",\"rules\":");
    write_filled_rules(rules, &mut request);
    request.extend_from_slice(b",\"strict_content_check\":");
    request.extend_from_slice(switch(demand.strict_content_check));
    request.extend_from_slice(b",\"submitted_output\":");
    let output_start = request.len();
    canonical::write(supplied("submitted_output"), &mut request);
    let output = Hash::of(&request[output_start..]);
    request.extend_from_slice(b",\"task_id\":");
    canonical::write(supplied("task_id"), &mut request);
    request.push(b'}');

    Hashes {
        output,
        schema,
        rules: rules_hash(Some(rules), Some(bounds)),
        request: Hash::of(&request),
    }
}

/// The hash of rules and bounds as supplied; what was not supplied counts as null (section 17).
pub fn rules_hash(rules: Option<&Value>, bounds: Option<&Value>) -> Hash {
    let mut bytes = Vec::with_capacity(256);
    bytes.extend_from_slice(b"{\"bounds\":");
    canonical::write(bounds.unwrap_or(&Value::Null), &mut bytes);
    bytes.extend_from_slice(b",\"rules\":");
    canonical::write(rules.unwrap_or(&Value::Null), &mut bytes);
    bytes.push(b'}');
    Hash::of(&bytes)
}

/// `rules` with every default filled in; empty becomes null.
fn write_filled_rules(rules: &Value, out: &mut Vec<u8>) {
    let rules = rules.as_array().unwrap_or_default();
    if rules.is_empty() {
        return out.extend_from_slice(b"null");
    }
    for (index, rule) in rules.iter().enumerate() {
        out.push(if index == 0 { b'[' } else { b',' });
        Rule::write_filled(rule, out);
    }
    out.push(b']');
}

/// `bounds` with every default filled in; empty becomes null.
fn write_filled_bounds(bounds: &Value, out: &mut Vec<u8>) {
    let Some(bounds) = bounds.as_object().filter(|bounds| !bounds.is_empty()) else {
        return out.extend_from_slice(b"null");
    };
    for (index, bound) in bounds.members().iter().enumerate() {
        out.push(if index == 0 { b'{' } else { b',' });
        canonical::write_string(&bound.name, out);
        out.push(b':');
        Bound::write_filled(&bound.value, out);
    }
    out.push(b'}');
}

/// A fault of the strict reader as a problem: syntax by line and column, the rest by its place.
fn fault_problem(fault: &Fault, field: String) -> FieldProblem {
    let at_line = format!(" at line {}, column {}", fault.line, fault.column);
    let string_fix = "Send it as a string.";
    let (problem, fix) = match fault.kind {
        FaultKind::Empty => ("is empty", "Send one JSON object in UTF-8."),
        FaultKind::Syntax => ("is not valid JSON", "Send one JSON object in UTF-8."),
        FaultKind::ByteOrderMark => (
            "begins with a byte order mark",
            "Remove it: send UTF-8 without one.",
        ),
        FaultKind::InvalidUtf8 => ("is not UTF-8", "Send UTF-8."),
        FaultKind::TrailingText => (
            "has something after the JSON value",
            "Send one JSON object and nothing after it.",
        ),
        FaultKind::DuplicateName => ("has two members with the same name", "Send each name once."),
        FaultKind::LoneSurrogate => ("has a surrogate escape without its other half", "Remove it."),
        FaultKind::NumberTooLarge => ("is a number beyond the range of a double", string_fix),
        FaultKind::IntegerNotExact => (
            "is an integer that not every JSON reader gives back digit for digit",
            "Send it as a string; where a number is needed and the nearest double will do, write it with a decimal \
             point or an exponent.",
        ),
        FaultKind::TooDeep => ("is nested deeper than 64 levels", "Flatten it."),
    };
    let problem = if fault.kind.is_syntax() && fault.kind != FaultKind::Empty {
        format!("{problem}{at_line}")
    } else {
        problem.to_owned()
    };
    FieldProblem::new(fault.at as u32, field, problem, fix)
}

/// The field text of a place in the whole request (section 22): contract names and indexes; inside the
/// caller's own documents also the names that lead there; nothing of what the contract does not know.
pub(crate) fn field_of(steps: &[Step]) -> String {
    let [Step::Name(first), rest @ ..] = steps else {
        return "body".to_owned();
    };
    match first.as_str() {
        root @ ("submitted_output" | "expected_schema") => field_inside(root, &Place(rest.to_vec())),
        "rules" => field_in_rules(rest),
        "bounds" => match rest {
            [Step::Name(key), inner @ ..] => {
                let known = inner
                    .first()
                    .and_then(|step| known_name(step, &["min", "max", "if_present"]));
                let key = super::invalid::bound_field(key);
                known.map_or(key.clone(), |name| format!("{key}.{name}"))
            }
            _ => "bounds".to_owned(),
        },
        known if FIELDS.contains(&known) => known.to_owned(),
        _ => "body".to_owned(),
    }
}

fn field_in_rules(steps: &[Step]) -> String {
    let mut field = "rules".to_owned();
    let mut inside_values = false;
    for step in steps {
        match step {
            Step::Index(index) => {
                // Writing to a String cannot fail.
                let _ = write!(field, "[{index}]");
            }
            // Names inside `values` are the caller's and are not shown.
            Step::Name(_) if inside_values => break,
            Step::Name(name) => match super::rule::member_named(name) {
                None => break,
                Some(name) => {
                    field.push('.');
                    field.push_str(name);
                    inside_values = true;
                }
            },
        }
    }
    field
}

fn known_name<'a>(step: &Step, known: &[&'a str]) -> Option<&'a str> {
    match step {
        Step::Name(name) => known.iter().find(|known| **known == name.as_str()).copied(),
        Step::Index(_) => None,
    }
}
