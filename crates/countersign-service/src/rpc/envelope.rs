//! One JSON-RPC message, read strictly (interfaces.md 5.3). What belongs to the contract is cut out and kept as the
//! bytes that were sent, so that no number, name or depth in it can fail here or be changed.

use super::skim::{NotJson, skim};
use super::{INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, RpcError};
use bytes::Bytes;
use countersign_core::canonical::write_string;
use countersign_core::json::{FaultKind, Value};
use countersign_core::place::Step as PlaceStep;

pub(crate) use super::skim::Step;

/// A way to what is cut out of a message.
pub(crate) type Way = [Step];

/// Integers that every JSON reader gives back: those below 2^53.
const SAFE_INTEGER_MAX: f64 = 9_007_199_254_740_991.0;

/// An id: what its request's answer is told from others by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Id(String);

/// One message of a client.
pub(crate) enum Message {
    /// Wants an answer.
    Request(Id, Call),
    /// Wants none.
    Notification,
}

/// A method and what it is given.
pub(crate) struct Call {
    pub(crate) method: String,
    /// The member, if it is there and not null. What was cut out is null in it.
    pub(crate) params: Option<Value>,
    /// What was cut out, in the order of the text.
    pub(crate) cuts: Vec<Cut>,
}

/// A value as it was sent.
pub(crate) struct Cut(pub(crate) Bytes);

/// What came is no message, and as much of it as could be read.
pub(crate) struct NotUnderstood {
    pub(crate) id: Option<Id>,
    pub(crate) error: RpcError,
}

impl Cut {
    /// Whether it is an object, as far as its first letter says.
    pub(crate) fn is_object(&self) -> bool {
        self.0.starts_with(b"{")
    }

    /// Whether it is null.
    pub(crate) fn is_null(&self) -> bool {
        &*self.0 == b"null"
    }
}

impl Id {
    /// Its JSON text.
    pub(crate) fn json(&self) -> &str {
        &self.0
    }

    /// A string, or a whole number that every reader gives back.
    fn of(value: &Value) -> Option<Id> {
        match value {
            Value::String(text) => {
                let mut json = Vec::with_capacity(text.len() + 2);
                write_string(text, &mut json);
                String::from_utf8(json).ok().map(Id)
            }
            Value::Number(number) if number.is_integer() && number.value().abs() <= SAFE_INTEGER_MAX => {
                Some(Id((number.value() as i64).to_string()))
            }
            _ => None,
        }
    }
}

/// Reads a body. What stands at the end of `cut` is cut out; the meta data at `params._meta` has an error of its own.
pub(crate) fn read(body: &Bytes, cut: &'static Way) -> Result<Message, NotUnderstood> {
    const ID: &Way = &[Step::Name("id")];
    let unread = |error| NotUnderstood { id: None, error };
    let text = std::str::from_utf8(body).map_err(|_| unread(not_json()))?;
    let found = skim(text, &[cut, ID]).map_err(|NotJson| unread(not_json()))?;
    let mut outline = String::with_capacity(text.len().min(4096));
    let (mut cuts, mut ids, mut end) = (Vec::new(), Vec::new(), 0);
    for (way, range) in found {
        if way == 0 {
            outline.push_str(&text[end..range.start]);
            outline.push_str("null");
            end = range.end;
            cuts.push(Cut(body.slice(range)));
        } else {
            ids.push(&text[range]);
        }
    }
    outline.push_str(&text[end..]);
    // The id of a message that is refused as a whole: what is wrong with it must not keep its sender waiting.
    let id = match ids[..] {
        [only] => countersign_core::json::read(only.as_bytes())
            .ok()
            .and_then(|id| Id::of(&id)),
        _ => None,
    };
    let document = match countersign_core::json::read(outline.as_bytes()) {
        Ok(document) => document,
        Err(fault) => {
            let error = fault_error(fault.kind, &fault.place.0);
            let id = id.filter(|_| error.code != PARSE_ERROR);
            return Err(NotUnderstood { id, error });
        }
    };
    message(document, id, cuts)
}

fn message(document: Value, id: Option<Id>, cuts: Vec<Cut>) -> Result<Message, NotUnderstood> {
    let refuse = |id, message| {
        let error = RpcError::new(400, INVALID_REQUEST, message);
        Err(NotUnderstood { id, error })
    };
    let Value::Object(members) = document else {
        return refuse(
            None,
            "Send one JSON-RPC request as an object; batches are not taken.",
        );
    };
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(id, "Send \"jsonrpc\": \"2.0\".");
    }
    if members.member("result").is_some() || members.member("error").is_some() {
        return refuse(
            id,
            "Send a request; this service asks nothing that a response could answer.",
        );
    }
    let Some(method) = members.get("method").and_then(Value::as_str).map(str::to_owned) else {
        return refuse(id, "Send a method, as a string.");
    };
    if members.member("id").is_some() && id.is_none() {
        return refuse(
            None,
            "Send an id that is a string, or a whole number between -(2^53-1) and 2^53-1.",
        );
    }
    let Some(id) = id else {
        return Ok(Message::Notification);
    };
    let params = members.take("params").filter(|params| !params.is_null());
    Ok(Message::Request(id, Call { method, params, cuts }))
}

fn not_json() -> RpcError {
    RpcError::new(400, PARSE_ERROR, "The body is not JSON in UTF-8.")
}

/// What the strict reader refuses outside of what was cut out.
fn fault_error(kind: FaultKind, place: &[PlaceStep]) -> RpcError {
    let is =
        |index: usize, name: &str| matches!(place.get(index), Some(PlaceStep::Name(step)) if step == name);
    let in_meta = is(0, "params") && is(1, "_meta");
    let code = match kind {
        FaultKind::Empty
        | FaultKind::Syntax
        | FaultKind::ByteOrderMark
        | FaultKind::InvalidUtf8
        | FaultKind::TrailingText
        | FaultKind::LoneSurrogate => PARSE_ERROR,
        FaultKind::DuplicateName
        | FaultKind::NumberTooLarge
        | FaultKind::IntegerNotExact
        | FaultKind::TooDeep => {
            if in_meta {
                INVALID_PARAMS
            } else {
                INVALID_REQUEST
            }
        }
    };
    let message = match kind {
        FaultKind::DuplicateName => "Two members of one object have the same name: send each once.",
        FaultKind::NumberTooLarge => "A number is beyond the range of a double.",
        FaultKind::IntegerNotExact => "An integer is beyond 2^53-1: send it as a string.",
        FaultKind::TooDeep => "The message is nested deeper than 64 levels.",
        FaultKind::LoneSurrogate => "A surrogate escape has no other half.",
        _ => "The body is not JSON in UTF-8.",
    };
    RpcError::new(400, code, message)
}
