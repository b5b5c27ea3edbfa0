//! What rmcp serves: who this is, the tools, and a call of one.

use super::revision::{Era, PROTOCOL_VERSIONS};
use super::tools::{HostedTool, TOOLS, Work};
use crate::actions::check_output::{Nulls, check_output};
use crate::actions::look_up_score::look_up_score;
use crate::agent_id::AgentId;
use crate::app::{App, VERSION};
use crate::problem::Problem;
use crate::rpc::caught;
use bytes::Bytes;
use countersign_core::check::invalid::{FieldProblem, InvalidRequest};
use countersign_core::check::request::{not_one_object, read_body};
use countersign_core::json::Value;
use countersign_core::limits::NESTING_MAX;
use countersign_core::place::Step;
use hyper::http::request::Parts;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, DiscoverResult,
    Implementation, JsonObject, ListToolsResult, MetaObject, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::borrow::Cow;
use std::sync::Arc;

/// How long a client may go without asking again what this service is and has, in milliseconds.
const FRESH_MILLISECONDS: u64 = 300_000;
/// Where the modern era says who answered.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// One call of a tool, beside rmcp's own parameters.
#[derive(Clone)]
pub(super) struct ToolCall {
    pub(super) tool: &'static HostedTool,
    /// The bytes that were sent.
    pub(super) arguments: Bytes,
    pub(super) era: Era,
    pub(super) request_id: String,
}

/// The server as rmcp knows it.
pub(super) struct Hosted {
    app: Arc<App>,
    config: ServerConfig,
    tools: Vec<Tool>,
    versions: Vec<ProtocolVersion>,
    /// `_meta` of every result of the modern era.
    meta: MetaObject,
}

impl Hosted {
    pub(super) fn new(app: &Arc<App>) -> Self {
        let mut info = Implementation::new("countersign", VERSION);
        info.title = Some(app.letterhead.service_name.clone());
        let mut meta = JsonObject::new();
        meta.insert(
            SERVER_INFO.to_owned(),
            serde_json::to_value(&info).unwrap_or_default(),
        );
        let mut config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        config.server_info = info;
        config.instructions = Some(instructions(&app.letterhead.public_url));
        let version = |version: &&str| serde_json::from_value(serde_json::Value::from(*version)).ok();
        Hosted {
            app: app.clone(),
            config,
            tools: TOOLS.iter().map(listed).collect(),
            versions: PROTOCOL_VERSIONS.iter().filter_map(version).collect(),
            meta: MetaObject(meta),
        }
    }

    /// Does a tool's work: the bytes of its answer.
    async fn work(&self, call: &ToolCall) -> Result<Bytes, Problem> {
        match call.tool.work {
            Work::Check => {
                let kept = check_output(&self.app, call.arguments.clone(), Nulls::Absent).await?;
                Ok(kept.answer)
            }
            Work::Score => look_up_score(&self.app, &agent_in(&call.arguments)?).await,
        }
    }
}

impl ServerHandler for Hosted {
    fn get_info(&self) -> ServerConfig {
        self.config.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(self.versions.clone())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut result = DiscoverResult::from_server_info(self.versions.clone(), self.get_info());
        result.ttl_ms = FRESH_MILLISECONDS;
        result.cache_scope = CacheScope::Public;
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = ListToolsResult::with_all_items(self.tools.clone());
        if context.meta.protocol_version().is_some() {
            result.ttl_ms = Some(FRESH_MILLISECONDS);
            result.cache_scope = Some(CacheScope::Public);
            result.meta = Some(self.meta.clone());
        }
        Ok(result)
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let head = context.extensions.get::<Parts>();
        let Some(call) = head.and_then(|head| head.extensions.get::<ToolCall>()) else {
            return Err(ErrorData::internal_error(
                "A tool was called past the front door.",
                None,
            ));
        };
        let (answer, is_error) = match caught(self.work(call)).await {
            Ok(answer) => (answer, false),
            Err(problem) => {
                problem.log_cause(&call.request_id);
                (problem.json(&call.request_id).into(), true)
            }
        };
        // The text is the answer's very bytes; what is structured is the same, read.
        let text = String::from_utf8_lossy(&answer).into_owned();
        let blocks = vec![ContentBlock::text(text)];
        let mut result = if is_error {
            CallToolResult::error(blocks)
        } else {
            CallToolResult::success(blocks)
        };
        result.structured_content = serde_json::from_slice(&answer).ok();
        if call.era == Era::Modern {
            result.meta = Some(self.meta.clone());
        }
        Ok(result.into())
    }
}

/// What a client's model is told about the server as a whole.
fn instructions(public_url: &str) -> String {
    format!(
        "Call verify_schema before you pay for or rely on an agent's JSON output: it answers pass or fail with a \
         signed receipt. A fail is an answer: mend what the hints name and call again. Call get_verification_record \
         to compare agents by their checks. Errors are problems that name the field to mend. Guide: \
         {public_url}/llms.txt"
    )
}

fn listed(tool: &HostedTool) -> Tool {
    // The table's schemas are objects; a test reads them.
    let schema = |text: &str| Arc::new(serde_json::from_str::<JsonObject>(text).unwrap_or_default());
    let mut annotations = ToolAnnotations::default();
    annotations.read_only_hint = Some(tool.read_only);
    annotations.destructive_hint = Some(false);
    annotations.idempotent_hint = Some(false);
    annotations.open_world_hint = Some(false);
    Tool::new(tool.name, tool.description, schema(tool.input_schema))
        .with_title(tool.title)
        .with_raw_output_schema(schema(tool.output_schema))
        .with_annotations(annotations)
}

/// The agent that a look-up names.
fn agent_in(arguments: &[u8]) -> Result<AgentId, InvalidRequest> {
    const FIELD: &str = "agent_id";
    let field_of = |place: &[Step]| match place.first() {
        Some(Step::Name(name)) if name == FIELD => FIELD.to_owned(),
        _ => "body".to_owned(),
    };
    let refused = |field, problem, fix| InvalidRequest(vec![FieldProblem::new(0, field, problem, fix)]);
    let Value::Object(members) = read_body(arguments, |_| NESTING_MAX, field_of)? else {
        return Err(InvalidRequest(vec![not_one_object()]));
    };
    if members.members().iter().any(|member| member.name != FIELD) {
        return Err(refused(
            "body",
            "has a member that the contract does not know",
            "Use only: agent_id.",
        ));
    }
    match members.get(FIELD) {
        Some(Value::String(id)) => AgentId::parse(id.to_string()),
        None => Err(refused(
            FIELD,
            "is required",
            "Add agent_id: a string of 1 to 200 characters.",
        )),
        Some(_) => Err(refused(
            FIELD,
            "is not a string",
            "Send a string of 1 to 200 characters without control characters.",
        )),
    }
}
