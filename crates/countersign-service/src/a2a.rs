//! The A2A door (interfaces.md 8.3): `SendMessage` of A2A 1.0, stateless and free. A task is finished in the answer that
//! creates it, and nothing is kept about it but the receipt.

mod message;
mod task;

use crate::actions::check_output::{Nulls, check_output};
use crate::app::App;
use crate::rpc::{self, INVALID_PARAMS, METHOD_NOT_FOUND, Message, Reply, RpcError, Step, Way, caught};
use bytes::Bytes;
use countersign_core::document::Part;
use hyper::header::HeaderMap;
use message::UserMessage;
use std::sync::Arc;
use task::Task;

/// The version of the protocol that is spoken.
pub(crate) const PROTOCOL_VERSION: &str = "1.0";

/// Where the data of a message's parts stands.
const DATA: &Way = &[
    Step::Name("params"),
    Step::Name("message"),
    Step::Name("parts"),
    Step::Each,
    Step::Name("data"),
];

/// A refusal that A2A has a code and a reason for (A2A 1.0, 5.4).
#[derive(Clone, Copy)]
struct Refused {
    code: i32,
    reason: &'static str,
    message: &'static str,
}

const TASK_NOT_FOUND: Refused = Refused {
    code: -32001,
    reason: "TASK_NOT_FOUND",
    message: "Tasks are finished in the answer that creates them and not kept: send a message without taskId.",
};
const NO_PUSH_NOTIFICATIONS: Refused = Refused {
    code: -32003,
    reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
    message: "There are no push notifications: the answer of SendMessage is final.",
};
const UNSUPPORTED_OPERATION: Refused = Refused {
    code: -32004,
    reason: "UNSUPPORTED_OPERATION",
    message: "This operation is not offered: use SendMessage, whose answer is final.",
};
const CONTENT_TYPE_NOT_SUPPORTED: Refused = Refused {
    code: -32005,
    reason: "CONTENT_TYPE_NOT_SUPPORTED",
    message: "Files and URLs are not read: send the request as data, or its JSON as text.",
};
const NO_EXTENDED_CARD: Refused = Refused {
    code: -32007,
    reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    message: "There is one agent card, at /.well-known/agent-card.json.",
};
const VERSION_NOT_SUPPORTED: Refused = Refused {
    code: -32009,
    reason: "VERSION_NOT_SUPPORTED",
    message: "Send the header A2A-Version: 1.0; no other version is spoken here.",
};

/// The methods of A2A that lead to a refusal, and which.
const REFUSED_METHODS: [(&str, Refused); 10] = [
    ("GetTask", TASK_NOT_FOUND),
    ("CancelTask", TASK_NOT_FOUND),
    ("SendStreamingMessage", UNSUPPORTED_OPERATION),
    ("SubscribeToTask", UNSUPPORTED_OPERATION),
    ("ListTasks", UNSUPPORTED_OPERATION),
    ("CreateTaskPushNotificationConfig", NO_PUSH_NOTIFICATIONS),
    ("GetTaskPushNotificationConfig", NO_PUSH_NOTIFICATIONS),
    ("ListTaskPushNotificationConfigs", NO_PUSH_NOTIFICATIONS),
    ("DeleteTaskPushNotificationConfig", NO_PUSH_NOTIFICATIONS),
    ("GetExtendedAgentCard", NO_EXTENDED_CARD),
];

/// Answers one message.
pub(crate) async fn answer(app: &Arc<App>, headers: &HeaderMap, body: &Bytes, request_id: &str) -> Reply {
    let (id, call) = match rpc::read(body, DATA) {
        Ok(Message::Request(id, call)) => (id, call),
        // Nobody waits for an answer, and nothing but an answer comes of a method here.
        Ok(Message::Notification) => return Reply::heard(),
        Err(refused) => return Reply::error(refused.id.as_ref(), &refused.error),
    };
    let message = if speaks_our_version(headers) {
        read(call)
    } else {
        Err(VERSION_NOT_SUPPORTED.into())
    };
    match message {
        Ok(message) => Reply::result(&id, &check(app, message, request_id).await),
        Err(error) => Reply::error(Some(&id), &error),
    }
}

fn speaks_our_version(headers: &HeaderMap) -> bool {
    let mut versions = headers.get_all("a2a-version").iter();
    matches!((versions.next(), versions.next()), (Some(version), None) if version == PROTOCOL_VERSION)
}

fn read(call: rpc::Call) -> Result<UserMessage, RpcError> {
    let refused = REFUSED_METHODS.iter().find(|(method, _)| *method == call.method);
    match refused {
        Some((_, refused)) => Err((*refused).into()),
        None if call.method == "SendMessage" => UserMessage::read(call),
        None => Err(RpcError::new(
            200,
            METHOD_NOT_FOUND,
            "There is no such method in A2A 1.0. Use SendMessage.",
        )),
    }
}

/// Checks what a message asks for: the JSON of the task that it became.
async fn check(app: &Arc<App>, message: UserMessage, request_id: &str) -> Vec<u8> {
    let task = Task::new(message.context_id, app.now());
    let checked = caught(check_output(app, message.request, Nulls::AsSent)).await;
    match checked {
        Ok(kept) => task.completed(&kept.answer, kept.verified_at),
        Err(problem) => {
            problem.log_cause(request_id);
            task.refused(&problem, request_id)
        }
    }
}

impl From<Refused> for RpcError {
    fn from(refused: Refused) -> Self {
        let mut metadata = Vec::new();
        if refused.code == VERSION_NOT_SUPPORTED.code {
            metadata.push(("supported", PROTOCOL_VERSION.into()));
        }
        let info = Part::Object(vec![
            ("@type", "type.googleapis.com/google.rpc.ErrorInfo".into()),
            ("reason", refused.reason.into()),
            ("domain", "a2a-protocol.org".into()),
            ("metadata", Part::Object(metadata)),
        ]);
        RpcError {
            data: Some(Part::List(vec![info])),
            ..RpcError::new(200, refused.code, refused.message)
        }
    }
}

/// Parameters that are not those of the method.
fn wrong(message: &'static str) -> RpcError {
    RpcError::new(200, INVALID_PARAMS, message)
}
