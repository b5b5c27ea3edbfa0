//! `countersign check`: one check, without a server and without a network; keeps nothing but the key.

use crate::{Settings, input, output, sarif};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use countersign_core::check::request;
use countersign_core::json::{Fault, position, read, read_nested};
use countersign_core::limits::NESTING_MAX;
use countersign_core::place::{Place, Step};
use countersign_service::{check_once, open_keys};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The member of a request that holds the output.
const OUTPUT: &str = "submitted_output";

/// The arguments of `check`.
#[derive(Args)]
pub(crate) struct Check {
    /// The request, as one would POST it; - is stdin.
    file: PathBuf,
    /// The output in a file of its own, as the agent wrote it; it takes the place of the request's
    /// submitted_output, which the request then need not have.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
    /// Which shape the answer takes, whatever the request says.
    #[arg(long)]
    detail: Option<Detail>,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The signed receipt.
    Json,
    /// SARIF 2.1.0: each finding with line and column, for code review and CI.
    Sarif,
}

#[derive(Clone, Copy, ValueEnum)]
enum Detail {
    /// Everything.
    Full,
    /// The result and what binds it.
    Compact,
}

impl Check {
    /// Runs the subcommand.
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let config = self.settings.load()?;
        let request = input::read_up_to(&self.file, config.body_bytes)?;
        let separate = match &self.output {
            Some(path) => Some((path.as_path(), input::read_up_to(path, config.body_bytes)?)),
            None => None,
        };
        let body = match &separate {
            None => request.clone(),
            Some((path, output)) => {
                if let Err(fault) = read(output) {
                    return self.undecided(path, output, &fault);
                }
                with_output(&request, output)
            }
        };
        let signer = open_keys(&config)?;
        let detail = self.detail.map(|detail| match detail {
            Detail::Full => request::Detail::Full,
            Detail::Compact => request::Detail::Compact,
        });
        let checked = check_once(&config, &signer, &body, detail);
        let status = match &checked {
            Ok(checked) => u8::from(!checked.passed),
            Err(_) => 2,
        };
        match (self.format, &checked) {
            (Format::Json, Ok(checked)) => output::print_json(&checked.answer)?,
            (Format::Json, Err(problem)) => output::print_json(&problem.json(""))?,
            (Format::Sarif, Ok(checked)) => {
                let shown = match &separate {
                    Some((path, output)) => sarif::Shown::new(path, output, Place::default()),
                    None => sarif::Shown::new(&self.file, &request, Place(vec![Step::Name(OUTPUT.into())])),
                };
                output::print_json(sarif::findings(&shown, checked).as_bytes())?;
            }
            (Format::Sarif, Err(problem)) => {
                let problem: serde_json::Value = serde_json::from_slice(&problem.json(""))
                    .context("the problem is not the JSON that it should be")?;
                output::print_json(sarif::problem(&self.file, &problem).as_bytes())?;
            }
        }
        Ok(ExitCode::from(status))
    }

    /// The output in a file of its own cannot be read: nothing is decided, and the file is to blame.
    fn undecided(&self, path: &Path, text: &[u8], fault: &Fault) -> Result<ExitCode> {
        let told = format!(
            "the output cannot be read at line {}, column {}: {}",
            fault.line,
            fault.column,
            sarif::fault(fault.kind)
        );
        if self.format == Format::Json {
            bail!("{}: {told}", path.display());
        }
        output::print_json(sarif::unreadable(path, text, fault, &told).as_bytes())?;
        Ok(ExitCode::from(2))
    }
}

/// The request with this output in it, every byte of both as it was written. What is wrong with the request comes to
/// light when the whole is read.
fn with_output(request: &[u8], output: &[u8]) -> Vec<u8> {
    let Ok(value) = read_nested(request, NESTING_MAX, |_| NESTING_MAX + 2) else {
        return request.to_vec();
    };
    if value.get(OUTPUT).is_some() {
        let old = position(request, &Place(vec![Step::Name(OUTPUT.into())]));
        return [&request[..old.start], output, &request[old.end..]].concat();
    }
    let root = position(request, &Place::default());
    let Some(object) = value.as_object() else {
        return request.to_vec();
    };
    let comma = if object.is_empty() { "" } else { "," };
    let member = format!("\"{OUTPUT}\":");
    [
        &request[..=root.start],
        member.as_bytes(),
        output,
        comma.as_bytes(),
        &request[root.start + 1..],
    ]
    .concat()
}
