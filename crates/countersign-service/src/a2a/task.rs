//! A task that is finished as it is made, and its JSON.

use crate::app::new_id;
use crate::problem::Problem;
use countersign_core::canonical::write_string;
use countersign_core::time::Timestamp;

/// A task without its outcome.
pub(super) struct Task {
    id: String,
    context_id: String,
    /// When it began.
    began_at: Timestamp,
}

impl Task {
    /// A new task, in the client's context or a new one.
    pub(super) fn new(context_id: Option<String>, now: Timestamp) -> Self {
        Task {
            id: new_id(now).to_string(),
            context_id: context_id.unwrap_or_else(|| new_id(now).to_string()),
            began_at: now,
        }
    }

    /// The check was made, whatever it found: the receipt as data, and as the text whose bytes are signed for.
    pub(super) fn completed(&self, receipt: &[u8], verified_at: Timestamp) -> Vec<u8> {
        let mut json = self.begin("TASK_STATE_COMPLETED", verified_at);
        json.extend_from_slice(
            br#"},"artifacts":[{"artifactId":"receipt","name":"receipt","parts":[{"data":"#,
        );
        json.extend_from_slice(receipt);
        json.extend_from_slice(br#","mediaType":"application/json"},{"text":"#);
        write_string(&String::from_utf8_lossy(receipt), &mut json);
        json.extend_from_slice(b"}]}]}}");
        json
    }

    /// Nothing was decided: rejected if the client has to mend something, failed if we have.
    pub(super) fn refused(&self, problem: &Problem, request_id: &str) -> Vec<u8> {
        let state = if problem.code().status < 500 {
            "TASK_STATE_REJECTED"
        } else {
            "TASK_STATE_FAILED"
        };
        let mut json = self.begin(state, self.began_at);
        json.extend_from_slice(br#","message":{"messageId":"#);
        write_string(&new_id(self.began_at).to_string(), &mut json);
        json.extend_from_slice(br#","contextId":"#);
        write_string(&self.context_id, &mut json);
        json.extend_from_slice(br#","taskId":"#);
        write_string(&self.id, &mut json);
        json.extend_from_slice(br#","role":"ROLE_AGENT","parts":[{"data":"#);
        json.extend_from_slice(&problem.json(request_id));
        json.extend_from_slice(br#","mediaType":"application/json"}]}}}}"#);
        json
    }

    /// The task up to the time of its state.
    fn begin(&self, state: &str, at: Timestamp) -> Vec<u8> {
        let mut json = br#"{"task":{"id":"#.to_vec();
        write_string(&self.id, &mut json);
        json.extend_from_slice(br#","contextId":"#);
        write_string(&self.context_id, &mut json);
        json.extend_from_slice(br#","status":{"state":"#);
        write_string(state, &mut json);
        json.extend_from_slice(br#","timestamp":"#);
        write_string(&at.to_string().replace("+00:00", "Z"), &mut json);
        json
    }
}
