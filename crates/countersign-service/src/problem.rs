//! Every way to answer "no": code, status, whether to try again, and what to do next (verification.md,
//! sections 19, 22 and 23). No text holds a value that a caller sent.

use crate::http::HEADERS_MAX;
use countersign_core::check::budget::Exhausted;
use countersign_core::check::invalid::{FieldProblem, InvalidRequest, field_inside};
use countersign_core::check::wording::cut;
use countersign_core::document::{Members, Part, json};
use countersign_core::json::{Value, read};
use countersign_core::limits::LIST_ENTRIES_MAX;
use countersign_store::StoreError;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Seconds after which the identical request is worth another try.
const RETRY_AFTER_SECONDS: u64 = 2;
/// The same where a person has to mend something first.
const RETRY_AFTER_REPAIR_SECONDS: u64 = 3_600;
/// `guidance.what_to_do` in that case.
const ASK_FOR_REPAIR: &str = "Do not just send the request again: tell the operator of this service the request id in \
                              the message. It succeeds only after a repair.";

/// What stands for a price in open mode (verification.md, section 23).
pub(crate) const FREE: &str = "free on this instance";

/// The published vectors: requests, canonical bytes and hashes.
pub(crate) static VECTORS: LazyLock<Value> = LazyLock::new(|| {
    let text = include_bytes!("../../../vectors/request-hash.json");
    read(text).expect("a test reads the vectors that are compiled in")
});

/// An answer that decides nothing.
#[derive(Debug)]
pub enum Problem {
    /// The request breaks the contract; what to mend.
    InvalidRequest(InvalidRequest),
    /// The body is larger than the limit.
    BodyTooLarge {
        /// The limit, in bytes.
        max_bytes: usize,
    },
    /// The head of the request is larger than the limit.
    HeadersTooLarge {
        /// The limit, in bytes.
        max_bytes: usize,
    },
    /// The body comes in a transfer coding other than `chunked` alone.
    UnsupportedTransferEncoding,
    /// The page, or the host name, that calls `/mcp` or `/a2a` is not one of the allowed.
    ForbiddenOrigin,
    /// The client takes neither JSON nor events.
    NotAcceptable,
    /// The body is not declared to be JSON, where that is asked.
    UnsupportedMediaType,
    /// There is nothing at this path.
    NotFound,
    /// The path has no such method.
    MethodNotAllowed {
        /// The methods it has, as `Allow` lists them.
        allow: &'static str,
    },
    /// A fault of ours. The cause is for the log; the answer names the request.
    InternalError(String),
    /// Something that the service needs is away, or it is overloaded.
    ServiceUnavailable(Unavailable),
}

/// What is away. The text in the answer says no more than this; the cause, if any, is for the log.
#[derive(Debug)]
pub enum Unavailable {
    /// More work than this instance takes at a time.
    Overloaded,
    /// The wall clock of one check ran out.
    OutOfTime,
    /// The answer could not be signed.
    Signing(String),
    /// The database is away.
    Store(String),
    /// What is stored is not what was kept: an alarm.
    Tampered(String),
    /// The service is not ready; what of it is not.
    NotReady(&'static str),
}

/// One code of the table: what a caller may switch on, and what follows from it.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// The name.
    pub name: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// Whether the identical request can succeed later.
    pub retryable: bool,
    /// When it is answered, for readers.
    pub when: &'static str,
    /// `guidance.what_to_do`.
    what_to_do: &'static str,
}

const INVALID_REQUEST: Code = Code {
    name: "invalid_request",
    status: 422,
    retryable: false,
    when: "The body is not one strict JSON object or breaks the contract, or the agent's id in the address is none; \
           fields lists what to mend.",
    what_to_do: "Mend what fields lists and send the request again. The example is the smallest valid request.",
};
const BODY_TOO_LARGE: Code = Code {
    name: "body_too_large",
    status: 413,
    retryable: false,
    when: "The body is larger than max_bytes.",
    what_to_do: "Send a smaller body: check parts of the output one by one, or leave out what need not be checked.",
};
const HEADERS_TOO_LARGE: Code = Code {
    name: "headers_too_large",
    status: 431,
    retryable: false,
    when: "The request line and headers are larger than max_bytes, or too many.",
    what_to_do: "Send fewer or shorter headers.",
};
const UNSUPPORTED_TRANSFER_ENCODING: Code = Code {
    name: "unsupported_transfer_encoding",
    status: 501,
    retryable: false,
    when: "The body comes in a transfer coding other than chunked alone.",
    what_to_do: "Send the body with Content-Length, or with Transfer-Encoding: chunked, and uncompressed.",
};
const FORBIDDEN_ORIGIN: Code = Code {
    name: "forbidden_origin",
    status: 403,
    retryable: false,
    when: "On /mcp and /a2a: the Host or Origin header names none of the allowed hosts and origins.",
    what_to_do: "Call the service by its public address. Its operator can allow more: settings http.allowed_hosts and \
                 http.allowed_origins.",
};
const NOT_ACCEPTABLE: Code = Code {
    name: "not_acceptable",
    status: 406,
    retryable: false,
    when: "On /mcp: the Accept header admits neither application/json nor text/event-stream.",
    what_to_do: "Send Accept: application/json, text/event-stream, or no Accept header.",
};
const UNSUPPORTED_MEDIA_TYPE: Code = Code {
    name: "unsupported_media_type",
    status: 415,
    retryable: false,
    when: "On /mcp and /a2a: Content-Type is not application/json.",
    what_to_do: "Send Content-Type: application/json.",
};
const NOT_FOUND: Code = Code {
    name: "not_found",
    status: 404,
    retryable: false,
    when: "There is nothing at this path, or no receipt with this id.",
    what_to_do: "GET / lists what this service answers. Checks go to POST /verify/schema.",
};
const METHOD_NOT_ALLOWED: Code = Code {
    name: "method_not_allowed",
    status: 405,
    retryable: false,
    when: "The path does not take this method; the Allow header lists those it takes.",
    what_to_do: "Use a method of the Allow header. Checks go to POST /verify/schema.",
};
const INTERNAL_ERROR: Code = Code {
    name: "internal_error",
    status: 500,
    retryable: true,
    when: "A fault of this service.",
    what_to_do: "Send the same request again. If it fails again, tell the operator the request id.",
};
const SERVICE_UNAVAILABLE: Code = Code {
    name: "service_unavailable",
    status: 503,
    retryable: true,
    when: "The service is overloaded, or something that it needs is away.",
    what_to_do: "Send the same request again after the seconds in retry_after.",
};

/// Every code that this service answers with.
pub const CODES: &[Code] = &[
    INVALID_REQUEST,
    BODY_TOO_LARGE,
    HEADERS_TOO_LARGE,
    UNSUPPORTED_TRANSFER_ENCODING,
    FORBIDDEN_ORIGIN,
    NOT_ACCEPTABLE,
    UNSUPPORTED_MEDIA_TYPE,
    NOT_FOUND,
    METHOD_NOT_ALLOWED,
    INTERNAL_ERROR,
    SERVICE_UNAVAILABLE,
];

impl Problem {
    /// The row of the table.
    pub fn code(&self) -> Code {
        match self {
            Problem::InvalidRequest(_) => INVALID_REQUEST,
            Problem::BodyTooLarge { .. } => BODY_TOO_LARGE,
            Problem::HeadersTooLarge { .. } => HEADERS_TOO_LARGE,
            Problem::UnsupportedTransferEncoding => UNSUPPORTED_TRANSFER_ENCODING,
            Problem::ForbiddenOrigin => FORBIDDEN_ORIGIN,
            Problem::NotAcceptable => NOT_ACCEPTABLE,
            Problem::UnsupportedMediaType => UNSUPPORTED_MEDIA_TYPE,
            Problem::NotFound => NOT_FOUND,
            Problem::MethodNotAllowed { .. } => METHOD_NOT_ALLOWED,
            Problem::InternalError(_) => INTERNAL_ERROR,
            Problem::ServiceUnavailable(_) => SERVICE_UNAVAILABLE,
        }
    }

    /// Seconds to wait, for what is worth another try.
    pub fn retry_after(&self) -> Option<u64> {
        let seconds = if self.needs_repair() {
            RETRY_AFTER_REPAIR_SECONDS
        } else {
            RETRY_AFTER_SECONDS
        };
        self.code().retryable.then_some(seconds)
    }

    /// Whether the request can succeed only after the operator has mended something.
    fn needs_repair(&self) -> bool {
        matches!(self, Problem::ServiceUnavailable(Unavailable::Tampered(_)))
    }

    /// The JSON text of the answer. `request_id` is shown where the operator can find the story by it.
    pub fn json(&self, request_id: &str) -> Vec<u8> {
        let code = self.code();
        let mut members: Members<'_> = vec![
            ("code", code.name.into()),
            ("message", Part::Text(cut(self.message(request_id)))),
            ("status", Part::Integer(u64::from(code.status))),
            ("retryable", Part::Bool(code.retryable)),
            ("charged", Part::Bool(false)),
            ("next_actions", self.next_actions()),
        ];
        if let Problem::InvalidRequest(InvalidRequest(fields)) = self {
            let fields = fields.iter().take(LIST_ENTRIES_MAX).map(field_part);
            members.push(("fields", Part::List(fields.collect())));
        }
        if let Some(seconds) = self.retry_after() {
            members.push(("retry_after", Part::Integer(seconds)));
        }
        if let Problem::BodyTooLarge { max_bytes } | Problem::HeadersTooLarge { max_bytes } = self {
            members.push(("max_bytes", Part::Integer(*max_bytes as u64)));
        }
        let what_to_do = if self.needs_repair() {
            ASK_FOR_REPAIR
        } else {
            code.what_to_do
        };
        members.push(("guidance", guidance(what_to_do)));
        json(&members)
    }

    /// What the operator should read, where there is more to say than the answer says.
    pub fn cause(&self) -> Option<Cow<'_, str>> {
        match self {
            Problem::InternalError(cause) => Some(cause.as_str().into()),
            Problem::ServiceUnavailable(away) => match away {
                Unavailable::Signing(cause) => Some(format!("signing failed: {cause}").into()),
                Unavailable::Store(cause) => Some(cause.as_str().into()),
                Unavailable::Tampered(cause) => Some(cause.as_str().into()),
                Unavailable::OutOfTime => Some("a check took longer than it may".into()),
                Unavailable::Overloaded | Unavailable::NotReady(_) => None,
            },
            Problem::InvalidRequest(_)
            | Problem::BodyTooLarge { .. }
            | Problem::HeadersTooLarge { .. }
            | Problem::UnsupportedTransferEncoding
            | Problem::ForbiddenOrigin
            | Problem::NotAcceptable
            | Problem::UnsupportedMediaType
            | Problem::NotFound
            | Problem::MethodNotAllowed { .. } => None,
        }
    }

    /// Tells the operator the story, once, where the problem is answered.
    pub(crate) fn log_cause(&self, request_id: &str) {
        let Some(cause) = self.cause() else {
            return;
        };
        let code = self.code().name;
        if let Problem::ServiceUnavailable(Unavailable::OutOfTime) = self {
            tracing::warn!(request_id, code, "{cause}");
        } else {
            tracing::error!(request_id, code, "{cause}");
        }
    }

    pub(crate) fn message(&self, request_id: &str) -> Cow<'static, str> {
        match self {
            Problem::InvalidRequest(InvalidRequest(fields)) => invalid_message(fields).into(),
            Problem::BodyTooLarge { max_bytes } => {
                format!("The body is larger than {max_bytes} bytes. Nothing was charged.").into()
            }
            Problem::HeadersTooLarge { max_bytes } => {
                let limits = format!("larger than {max_bytes} bytes, or more than {HEADERS_MAX}");
                format!("The request line and headers are {limits}. Nothing was charged.").into()
            }
            Problem::UnsupportedTransferEncoding => {
                "The only transfer coding that is read here is chunked. Nothing was charged.".into()
            }
            Problem::ForbiddenOrigin => {
                "This host name or origin may not call this address. Nothing was charged.".into()
            }
            Problem::NotAcceptable => {
                "Answers here are application/json, which the Accept header does not admit. Nothing was charged."
                    .into()
            }
            Problem::UnsupportedMediaType => {
                "The body must be declared as application/json. Nothing was charged.".into()
            }
            Problem::NotFound => "There is nothing at this address. Nothing was charged.".into(),
            Problem::MethodNotAllowed { allow } => {
                format!("This address does not take this method; it takes {allow}. Nothing was charged.").into()
            }
            Problem::InternalError(_) => format!(
                "The service failed. Nothing was charged. Name request {request_id} when you tell the operator."
            )
            .into(),
            Problem::ServiceUnavailable(away) => match away {
                Unavailable::Overloaded => "The service has too much to do. Nothing was charged.".into(),
                Unavailable::OutOfTime => "The check took too long. Nothing was charged.".into(),
                Unavailable::Signing(_) => "The answer could not be signed. Nothing was charged.".into(),
                Unavailable::Store(_) => "The receipt store is away. Nothing was charged.".into(),
                Unavailable::Tampered(_) => {
                    format!(
                        "What the receipt store holds cannot be trusted, so nothing was signed from it. Trying again \
                         will not help before the operator has mended it: name request {request_id} to the operator. \
                         Nothing was charged."
                    )
                    .into()
                }
                Unavailable::NotReady(what) => format!("Not ready: {what}. Nothing was charged.").into(),
            },
        }
    }

    fn next_actions(&self) -> Part<'_> {
        let action = match self {
            Problem::InvalidRequest(InvalidRequest(problems)) => {
                let mut fields: Vec<&str> = Vec::new();
                for problem in problems.iter().take(LIST_ENTRIES_MAX) {
                    if !fields.contains(&problem.field.as_str()) {
                        fields.push(&problem.field);
                    }
                }
                let fields = fields.into_iter().map(|field| Part::Text(cut(field.into())));
                vec![
                    ("action", "fix_request_fields".into()),
                    ("fields", Part::List(fields.collect())),
                ]
            }
            Problem::BodyTooLarge { max_bytes } => vec![
                ("action", "reduce_request_size".into()),
                ("max_bytes", Part::Integer(*max_bytes as u64)),
            ],
            Problem::InternalError(_) | Problem::ServiceUnavailable(_) => vec![
                ("action", "retry_after".into()),
                (
                    "seconds",
                    Part::Integer(self.retry_after().unwrap_or(RETRY_AFTER_SECONDS)),
                ),
            ],
            Problem::HeadersTooLarge { .. }
            | Problem::UnsupportedTransferEncoding
            | Problem::ForbiddenOrigin
            | Problem::NotAcceptable
            | Problem::UnsupportedMediaType
            | Problem::NotFound
            | Problem::MethodNotAllowed { .. } => {
                return Part::List(Vec::new());
            }
        };
        Part::List(vec![Part::Object(action)])
    }
}

fn invalid_message(fields: &[FieldProblem]) -> String {
    let (field, problem) = fields
        .first()
        .map_or(("body", "is not valid"), |first| (&first.field, &first.problem));
    let rest = if fields.len() > LIST_ENTRIES_MAX {
        format!(
            " The first {LIST_ENTRIES_MAX} of {} problems are listed.",
            fields.len()
        )
    } else {
        String::new()
    };
    format!(
        "The request is invalid: {field} {problem}. Nothing was charged; fix the field(s) and send it again.{rest}"
    )
}

fn field_part(problem: &FieldProblem) -> Part<'_> {
    let text = |text: &'_ str| -> Part<'static> { Part::Text(Cow::Owned(cut(text.into()).into_owned())) };
    Part::Object(vec![
        ("field", text(&problem.field)),
        ("problem", text(&problem.problem)),
        ("fix", text(&problem.fix)),
    ])
}

fn guidance(what_to_do: &'static str) -> Part<'static> {
    let minimal = VECTORS.as_array().and_then(|vectors| {
        let named = |vector: &&Value| vector.get("name").and_then(Value::as_str) == Some("minimal");
        vectors.iter().find(named)?.get("request")
    });
    Part::Object(vec![
        ("what_to_do", what_to_do.into()),
        ("example_request", minimal.map_or(Part::Null, part_of)),
        ("price", FREE.into()),
        ("free_allowance", "not limited".into()),
    ])
}

/// A value that is compiled in, as a part of a document.
pub(crate) fn part_of(value: &'static Value) -> Part<'static> {
    match value {
        Value::Null => Part::Null,
        Value::Bool(value) => Part::Bool(*value),
        Value::Number(number) if number.is_integer_literal() && (0.0..9e15).contains(&number.value()) => {
            // A non-negative whole number below 2^53.
            #[expect(clippy::cast_sign_loss, reason = "checked above")]
            Part::Integer(number.value() as u64)
        }
        Value::Number(number) => Part::Ratio(number.value()),
        Value::String(text) => text.as_str().into(),
        Value::Array(elements) => Part::List(elements.iter().map(part_of).collect()),
        Value::Object(object) => {
            let members = object.members().iter();
            Part::Object(
                members
                    .map(|member| (member.name.as_str(), part_of(&member.value)))
                    .collect(),
            )
        }
    }
}

impl From<InvalidRequest> for Problem {
    fn from(invalid: InvalidRequest) -> Self {
        Problem::InvalidRequest(invalid)
    }
}

impl From<Exhausted> for Problem {
    fn from(exhausted: Exhausted) -> Self {
        let (field, problem, fix) = match exhausted {
            Exhausted::OutOfTime => return Problem::ServiceUnavailable(Unavailable::OutOfTime),
            Exhausted::Evaluations => (
                "expected_schema".to_owned(),
                "is too complex for this output",
                "Send a schema that tries fewer alternatives, or a smaller output.",
            ),
            Exhausted::References(place) => (
                field_inside("expected_schema", &place),
                "leads through too many references",
                "Make the chain of $ref shorter than 256 steps that go no deeper into the output.",
            ),
            Exhausted::PatternSteps(place) => (
                field_inside("expected_schema", &place),
                "takes too many steps on this output",
                "Write the pattern without look-around and backreferences, or make its repetitions narrower.",
            ),
        };
        Problem::InvalidRequest(InvalidRequest(vec![FieldProblem::new(0, field, problem, fix)]))
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy => Problem::ServiceUnavailable(Unavailable::Overloaded),
            StoreError::Unavailable(_) => Problem::ServiceUnavailable(Unavailable::Store(error.to_string())),
            StoreError::Corrupt(_) => Problem::ServiceUnavailable(Unavailable::Tampered(error.to_string())),
            // Another node made the sums anew with another setting: this one waits for its operator.
            StoreError::HalfLife { .. } => Problem::ServiceUnavailable(Unavailable::Store(error.to_string())),
            // Ids are random: a taken one is a fault of ours. Nothing that is served imports.
            StoreError::Conflict | StoreError::OutOfSequence { .. } => {
                Problem::InternalError(error.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::json::Number;
    use countersign_core::place::{Place, Step};

    fn text(problem: &Problem) -> String {
        String::from_utf8(problem.json("request-7")).unwrap()
    }

    fn invalid(count: usize) -> Problem {
        let field = |index| FieldProblem::new(0, format!("rules[{index}]"), "is wrong", "Make it right.");
        InvalidRequest((0..count).map(field).collect()).into()
    }

    #[test]
    fn an_invalid_request_is_told_as_section_22_says() {
        let problem: Problem = InvalidRequest(vec![FieldProblem::new(
            0,
            "rules[0].type",
            "is not one of the allowed values",
            "Use one of: 'sum_equals'.",
        )])
        .into();
        let expected = concat!(
            r#"{"code":"invalid_request","message":"The request is invalid: rules[0].type is not one of the allowed "#,
            r#"values. Nothing was charged; fix the field(s) and send it again.","status":422,"retryable":false,"#,
            r#""charged":false,"next_actions":[{"action":"fix_request_fields","fields":["rules[0].type"]}],"#,
            r#""fields":[{"field":"rules[0].type","problem":"is not one of the allowed values","#,
            r#""fix":"Use one of: 'sum_equals'."}],"guidance":{"what_to_do":"#,
        );
        assert!(text(&problem).starts_with(expected), "{}", text(&problem));
        let end = concat!(
            r#""example_request":{"expected_schema":{"properties":{"ok":{"type":"boolean"}},"required":["ok"],"#,
            r#""type":"object"},"submitted_output":{"ok":true},"task_id":"tv-1"},"price":"free on this instance","#,
            r#""free_allowance":"not limited"}}"#,
        );
        assert!(text(&problem).ends_with(end), "{}", text(&problem));
    }

    #[test]
    fn every_problem_is_strict_json_with_the_members_of_its_code() {
        let problems = [
            invalid(1),
            invalid(51),
            Problem::BodyTooLarge { max_bytes: 1_048_576 },
            Problem::HeadersTooLarge { max_bytes: 32_768 },
            Problem::UnsupportedTransferEncoding,
            Problem::ForbiddenOrigin,
            Problem::NotAcceptable,
            Problem::UnsupportedMediaType,
            Problem::NotFound,
            Problem::MethodNotAllowed {
                allow: "POST, OPTIONS",
            },
            Problem::InternalError("story".to_owned()),
            Problem::ServiceUnavailable(Unavailable::Tampered("story".to_owned())),
            Problem::ServiceUnavailable(Unavailable::Overloaded),
            Problem::ServiceUnavailable(Unavailable::Signing("story".to_owned())),
            Problem::ServiceUnavailable(Unavailable::NotReady("store")),
            Exhausted::OutOfTime.into(),
            Exhausted::Evaluations.into(),
        ];
        for problem in problems {
            let code = problem.code();
            assert!(CODES.iter().any(|listed| listed.name == code.name));
            let document = read(text(&problem).as_bytes()).unwrap();
            let number = |name| document.get(name).and_then(Value::as_number).map(Number::value);
            assert_eq!(document.get("code").unwrap().as_str(), Some(code.name));
            assert_eq!(number("status"), Some(f64::from(code.status)));
            assert_eq!(document.get("charged").unwrap().as_bool(), Some(false));
            assert_eq!(number("retry_after").is_some(), code.retryable, "{}", code.name);
            assert!(!text(&problem).contains("story"), "causes are for the log");
            for name in ["what_to_do", "example_request", "price", "free_allowance"] {
                assert!(document.get("guidance").unwrap().get(name).is_some());
            }
        }
        assert!(text(&Problem::InternalError(String::new())).contains("request-7"));
    }

    #[test]
    fn what_needs_a_repair_says_so_and_whom_to_tell() {
        let text = text(&Problem::ServiceUnavailable(Unavailable::Tampered(String::new())));
        for expected in [
            "Trying again will not help before the operator has mended it: name request request-7",
            r#""status":503,"retryable":true"#,
            r#"{"action":"retry_after","seconds":3600}"#,
            r#""retry_after":3600"#,
            "Do not just send the request again",
            "Nothing was charged.\"",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }

    #[test]
    fn more_than_50_fields_are_counted_and_not_shown() {
        let text = text(&invalid(51));
        assert!(text.contains("The first 50 of 51 problems are listed."), "{text}");
        assert!(text.contains("rules[49]") && !text.contains("rules[50]"));
    }

    #[test]
    fn a_long_field_is_cut_in_the_message() {
        let long = FieldProblem::new(0, "a".repeat(1_000), "is wrong", "b".repeat(1_000));
        let document = read(&Problem::from(InvalidRequest(vec![long])).json("")).unwrap();
        let message = document.get("message").unwrap().as_str().unwrap().chars().count();
        let field = &document.get("fields").unwrap().as_array().unwrap()[0];
        let fix = field.get("fix").unwrap().as_str().unwrap().chars().count();
        assert_eq!((message, fix), (300, 300));
    }

    #[test]
    fn a_spent_budget_names_its_place_in_the_schema() {
        let place = Place(vec![Step::Name("items".into()), Step::Name("pattern".into())]);
        let rows = [
            (Exhausted::Evaluations, "expected_schema is too complex"),
            (
                Exhausted::PatternSteps(place.clone()),
                "expected_schema.items.pattern takes too many steps",
            ),
            (
                Exhausted::References(place),
                "expected_schema.items.pattern leads through too many references",
            ),
            (Exhausted::OutOfTime, "The check took too long"),
        ];
        for (exhausted, expected) in rows {
            assert!(text(&exhausted.into()).contains(expected), "{expected}");
        }
    }
}
