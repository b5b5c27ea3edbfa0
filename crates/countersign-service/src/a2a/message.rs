//! The message of a client, as far as it is looked at: who speaks, in which context, and the request that it carries.

use super::{CONTENT_TYPE_NOT_SUPPORTED, TASK_NOT_FOUND, wrong};
use crate::rpc::{Call, Cut, RpcError};
use bytes::Bytes;
use countersign_core::json::{Object, Value};

/// Characters of a context's id that is repeated. A longer one is replaced.
const CONTEXT_ID_CHARS_MAX: usize = 200;

/// A message that can be acted on.
pub(super) struct UserMessage {
    /// The context that the client names.
    pub(super) context_id: Option<String>,
    /// The bytes of the request: the data as it was sent, or the text.
    pub(super) request: Bytes,
}

impl UserMessage {
    /// Reads the parameters of `SendMessage`.
    pub(super) fn read(call: Call) -> Result<Self, RpcError> {
        let message = call.params.as_ref().and_then(|params| params.get("message"));
        let Some(message) = message.and_then(Value::as_object) else {
            return Err(wrong("Send params.message, as an object."));
        };
        if text(message, "messageId", "Send message.messageId, as a string.")?.is_none() {
            return Err(wrong("Send message.messageId, as a string."));
        }
        if message.get("role").and_then(Value::as_str) != Some("ROLE_USER") {
            return Err(wrong("Send message.role: ROLE_USER."));
        }
        if text(
            message,
            "taskId",
            "Send message.taskId as a string, or leave it out.",
        )?
        .is_some()
        {
            return Err(TASK_NOT_FOUND.into());
        }
        let context_id = text(
            message,
            "contextId",
            "Send message.contextId as a string, or leave it out.",
        )?;
        let request = request(message, call.cuts)?;
        Ok(UserMessage {
            context_id: context_id
                .filter(|id| id.chars().count() <= CONTEXT_ID_CHARS_MAX)
                .map(str::to_owned),
            request,
        })
    }
}

/// A string member; `None` if it is not there, null or empty, which mean the same in A2A.
fn text<'a>(message: &'a Object, name: &str, otherwise: &'static str) -> Result<Option<&'a str>, RpcError> {
    match message.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(wrong(otherwise)),
    }
}

/// The bytes of the request in the one part.
fn request(message: &Object, cuts: Vec<Cut>) -> Result<Bytes, RpcError> {
    let parts = message.get("parts").and_then(Value::as_array).unwrap_or_default();
    let [part] = parts else {
        return Err(wrong("Send exactly one part in message.parts."));
    };
    let Some(part) = part.as_object() else {
        return Err(wrong("Send the part as an object with data or text."));
    };
    if ["raw", "url", "file"]
        .into_iter()
        .any(|name| part.member(name).is_some())
    {
        return Err(CONTENT_TYPE_NOT_SUPPORTED.into());
    }
    match (cuts.into_iter().next(), part.get("text")) {
        (Some(Cut(data)), None) => Ok(data),
        (None, Some(Value::String(text))) => Ok(Bytes::copy_from_slice(text.as_bytes())),
        _ => Err(wrong(
            "Send either data, the request as an object, or text, its JSON as a string.",
        )),
    }
}
