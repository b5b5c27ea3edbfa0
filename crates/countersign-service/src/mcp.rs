//! The MCP door (interfaces.md 5 and 6): the hosted tools over Streamable HTTP, in two eras on one address.
//!
//! What a client sent is judged here: envelope, headers, method and parameters. A request that is sound is handed to
//! rmcp, which answers in the form of the revision, as an envelope made anew of what was checked, so that nothing
//! unchecked reaches it. The arguments never do: a tool reads them from the bytes that were sent.

mod host;
pub(crate) mod revision;
pub(crate) mod tools;

use crate::app::App;
use crate::problem::Problem;
use crate::rpc::{
    self, Call, Cut, INVALID_PARAMS, Id, METHOD_NOT_FOUND, Message, Reply, RpcError, Step, Way,
};
use bytes::Bytes;
use countersign_core::json::Value;
use host::{Hosted, ToolCall};
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap};
use revision::{Era, MODERN, agreed_on};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

/// Where the arguments of a tool stand in a message.
const ARGUMENTS: &Way = &[Step::Name("params"), Step::Name("arguments")];

/// The door. Each worker has one.
pub(crate) struct Mcp {
    service: StreamableHttpService<Arc<Hosted>, NeverSessionManager>,
}

/// A sound request: what rmcp is asked.
struct Sound {
    method: &'static str,
    /// The JSON text of its parameters' members, without the meta data.
    params: String,
    /// The revision that its header named, or that which `initialize` agrees on.
    version: &'static str,
    tool: Option<ToolCall>,
}

impl Mcp {
    pub(crate) fn new(app: &Arc<App>) -> Self {
        let hosted = Arc::new(Hosted::new(app));
        // Hosts and origins are the front door's, which also takes a server without a port of its own.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_stateless_protocol_metadata_required(false)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let service = move || Ok(hosted.clone());
        Mcp {
            service: StreamableHttpService::new(service, Arc::new(NeverSessionManager::default()), config),
        }
    }

    /// Answers one message.
    pub(crate) async fn answer(&self, headers: &HeaderMap, body: &Bytes, request_id: &str) -> Reply {
        let (id, call) = match rpc::read(body, ARGUMENTS) {
            Ok(Message::Request(id, call)) => (id, call),
            Ok(Message::Notification) => {
                // Nothing follows from one, so nothing but its revision is asked of it.
                return match revision::named(headers) {
                    Ok(_) => Reply::heard(),
                    Err(error) => Reply::error(None, &error),
                };
            }
            Err(refused) => return Reply::error(refused.id.as_ref(), &refused.error),
        };
        let sound =
            revision::era(headers, &call).and_then(|(era, version)| Ok((era, sound(era, version, call)?)));
        match sound {
            Ok((era, sound)) => self.ask(&id, era, sound, request_id).await,
            Err(error) => Reply::error(Some(&id), &error),
        }
    }

    /// Lets rmcp answer.
    async fn ask(&self, id: &Id, era: Era, sound: Sound, request_id: &str) -> Reply {
        let meta = match era {
            Era::Legacy => "",
            Era::Modern => {
                r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#
            }
        };
        let params = format!("{}{meta}", sound.params);
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"{}","params":{{{}}}}}"#,
            id.json(),
            sound.method,
            params.trim_start_matches(','),
        );
        let version = if era == Era::Modern { MODERN } else { sound.version };
        let mut request = Request::post("/mcp")
            .header(HOST, "localhost")
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", version)
            .header("mcp-method", sound.method);
        if let Some(mut call) = sound.tool {
            request = request.header("mcp-name", call.tool.name);
            request_id.clone_into(&mut call.request_id);
            request = request.extension(call);
        }
        let failed = |cause: &str| {
            let problem = Problem::InternalError(cause.to_owned());
            problem.log_cause(request_id);
            Reply::problem(&problem, request_id)
        };
        let Ok(request) = request.body(Full::new(Bytes::from(body))) else {
            return failed("a request for rmcp could not be put together");
        };
        let (head, body) = self.service.handle(request).await.into_parts();
        let is_json = head
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind == "application/json");
        match body.collect().await {
            Ok(body) if is_json => Reply::json(head.status.as_u16(), body.to_bytes()),
            _ => failed("rmcp answered something other than JSON"),
        }
    }
}

/// Judges method and parameters.
fn sound(era: Era, version: &'static str, call: Call) -> Result<Sound, RpcError> {
    let (unknown, wrong) = match era {
        Era::Legacy => (200, 200),
        Era::Modern => (404, 400),
    };
    let refuse = |message| RpcError::new(wrong, INVALID_PARAMS, message);
    let method = match (era, call.method.as_str()) {
        (Era::Legacy, "initialize") => "initialize",
        (Era::Legacy, "ping") => "ping",
        (Era::Modern, "server/discover") => "server/discover",
        (_, "tools/list") => "tools/list",
        (_, "tools/call") => "tools/call",
        _ => {
            let message =
                "There is no such method here. Tools are listed by tools/list and called by tools/call.";
            return Err(RpcError::new(unknown, METHOD_NOT_FOUND, message));
        }
    };
    let empty = Value::Object(countersign_core::json::Object::default());
    let params = call.params.as_ref().unwrap_or(&empty);
    if params.as_object().is_none() {
        return Err(refuse("Send params as an object."));
    }
    let asked = |params: String, version, tool| Sound {
        method,
        params,
        version,
        tool,
    };
    match method {
        "initialize" => {
            let version = opening(params).ok_or_else(|| {
                refuse("Send protocolVersion, capabilities, and clientInfo with its name and version.")
            })?;
            let params = format!(
                r#""protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"client","version":"0"}}"#
            );
            Ok(asked(params, version, None))
        }
        "tools/list" if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) => {
            Err(refuse("All tools are on the first page: send no cursor."))
        }
        "tools/call" => {
            let name = params.get("name").and_then(Value::as_str);
            let name = name.ok_or_else(|| refuse("Send the tool's name, as a string."))?;
            let tool = tools::tool(name);
            let tool =
                tool.ok_or_else(|| refuse("There is no such tool; tools/list names those there are."))?;
            let arguments = match call.cuts.into_iter().next() {
                None => Bytes::from_static(b"{}"),
                Some(cut) if cut.is_null() => Bytes::from_static(b"{}"),
                Some(cut) if cut.is_object() => {
                    let Cut(bytes) = cut;
                    bytes
                }
                Some(_) => return Err(refuse("Send arguments as an object.")),
            };
            let params = format!(r#""name":"{}","arguments":{{}}"#, tool.name);
            let call = ToolCall {
                tool,
                arguments,
                era,
                request_id: String::new(),
            };
            Ok(asked(params, version, Some(call)))
        }
        _ => Ok(asked(String::new(), version, None)),
    }
}

/// What `initialize` agrees on, if its parameters are what every revision asks for.
fn opening(params: &Value) -> Option<&'static str> {
    let asked = params.get("protocolVersion")?.as_str()?;
    params.get("capabilities")?.as_object()?;
    let client = params.get("clientInfo")?;
    client.get("name")?.as_str()?;
    client.get("version")?.as_str()?;
    Some(agreed_on(asked))
}
