//! Every limit on input that core enforces, with its unit and its reason.
//!
//! The budgets that end in a 422 are counted, never timed, so the same request gets the same answer on every
//! machine (verification.md, section 7).

/// Bytes of one request body. A larger one is answered 413 before it is parsed.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Levels of nesting inside `expected_schema`, `submitted_output` and any other value; the root is level 1.
pub const NESTING_MAX: usize = 64;
/// Unicode scalar values of `task_id` and `agent_id`.
pub const ID_CHARS_MAX: usize = 200;
/// Unicode scalar values of a path as written, root marker included.
pub const PATH_CHARS_MAX: usize = 500;
/// Segments of a path: the parts between its dots.
pub const PATH_SEGMENTS_MAX: usize = 32;
/// Rules of one request.
pub const RULES_MAX: usize = 100;
/// Bounds of one request.
pub const BOUNDS_MAX: usize = 100;
/// Entries of `values` in one rule.
pub const RULE_VALUES_MAX: usize = 1_000;
/// Keyword evaluations of one check. A keyword that reads a string, an array or an object counts once more for
/// every 256 bytes or members that it reads.
pub const EVALUATIONS_MAX: u64 = 2_000_000;
/// Bytes or members that a keyword reads for one further unit of [`EVALUATIONS_MAX`].
pub const READ_PER_EVALUATION: usize = 256;
/// Reference steps (`$ref`, `$dynamicRef`, `$recursiveRef`) in a row that go no deeper into the output.
pub const REFERENCE_STEPS_MAX: usize = 256;
/// Patterns of one schema, repeats included; `pattern` values and `patternProperties` names together.
pub const PATTERNS_MAX: usize = 200;
/// Bytes of one compiled pattern.
pub const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Steps that the patterns of one check take together. Most are for look-around and back-references; any other
/// pattern takes a few on long texts.
pub const PATTERN_STEPS_MAX: u64 = 1_000_000;
/// Entries of one list in a response; the rest is counted, not shown.
pub const LIST_ENTRIES_MAX: usize = 50;
/// Unicode scalar values of any text in a response, the closing ellipsis included.
pub const TEXT_CHARS_MAX: usize = 300;
/// Bytes of the member names in a place that a finding keeps; the place ends above the name that is too much.
pub const PLACE_BYTES_MAX: usize = 1_000;
/// Unicode scalar values of a scalar shown in a text, as its JSON literal with quotes; a longer one is shown as
/// its type name.
pub const SCALAR_CHARS_MAX: usize = 80;
/// Unicode scalar values of one member name in the `field` of a problem.
pub const NAME_CHARS_MAX: usize = 64;
/// Bytes that a keyword's reading one member or element counts as, beside those of the texts it compares: the
/// steps between values cost more than their bytes do.
pub const VALUE_READ: usize = 32;
/// Schemas applied inside one another, by nesting and by reference. Each takes room on the thread's stack; this
/// many fit in 1 MiB. Honest schemas take a few for every level of the output, which has at most
/// [`NESTING_MAX`]; one that takes more is answered as too complex.
pub const APPLICATIONS_MAX: usize = 1_024;
/// Bytes of all compiled patterns of one schema; a text that occurs again counts once. Compiling takes time in
/// proportion.
pub const SCHEMA_PATTERNS_BYTES_MAX: usize = 4 << 20;
/// Bytes of all `$id`s and references of one schema, each resolved against its base URI; those that are a
/// fragment only count nothing.
pub const SCHEMA_URIS_BYTES_MAX: usize = 4 << 20;
/// Entries of one key list. A service that makes a key a day fills it in 27 years.
pub const KEY_LIST_ENTRIES_MAX: usize = 10_000;
/// Endorsements between a pinned root key and the key of a receipt. Each costs one signature check, about 50 µs;
/// a key a month takes 83 years.
pub const KEY_CHAIN_MAX: usize = 1_000;
