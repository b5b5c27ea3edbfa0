//! The two evaluators that ours is compared with.

use crate::draft::Draft;
use serde_json::Value;

/// `jsonschema` with formats asserted and nothing fetched.
pub(crate) fn jsonschema(schema: &Value) -> Result<jsonschema::Validator, String> {
    let options = jsonschema::options().should_validate_formats(true).offline();
    options.build(schema).map_err(|error| error.to_string())
}

/// `boon` with formats asserted and a loader that refuses everything.
pub(crate) struct Boon {
    schemas: boon::Schemas,
    index: boon::SchemaIndex,
}

struct Refuse;

impl boon::UrlLoader for Refuse {
    fn load(&self, _url: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err("nothing is fetched".into())
    }
}

impl Boon {
    pub(crate) fn compile(schema: &Value, draft: Draft) -> Result<Boon, String> {
        const LOCATION: &str = "https://example.com/schema.json";
        let mut compiler = boon::Compiler::new();
        compiler.use_loader(Box::new(Refuse));
        compiler.enable_format_assertions();
        compiler.set_default_draft(match draft {
            Draft::D4 => boon::Draft::V4,
            Draft::D6 => boon::Draft::V6,
            Draft::D7 => boon::Draft::V7,
            Draft::D2019 => boon::Draft::V2019_09,
            Draft::D2020 => boon::Draft::V2020_12,
        });
        let mut schemas = boon::Schemas::new();
        compiler
            .add_resource(LOCATION, schema.clone())
            .map_err(|error| error.to_string())?;
        let index = compiler
            .compile(LOCATION, &mut schemas)
            .map_err(|error| format!("{error:#}"))?;
        Ok(Boon { schemas, index })
    }

    pub(crate) fn is_valid(&self, instance: &Value) -> bool {
        self.schemas.validate(instance, self.index).is_ok()
    }
}
