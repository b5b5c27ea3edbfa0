//! `countersign check`: one check, without a server and without a network; keeps nothing but the key.

use crate::{Settings, input, output};
use anyhow::Result;
use clap::{Args, ValueEnum};
use countersign_core::check::request;
use countersign_service::{check_once, open_keys};
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `check`.
#[derive(Args)]
pub(crate) struct Check {
    /// The request, as one would POST it; - is stdin.
    file: PathBuf,
    /// Which shape the answer takes, whatever the request says.
    #[arg(long)]
    detail: Option<Detail>,
    #[command(flatten)]
    settings: Settings,
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
        let body = input::read_up_to(&self.file, config.body_bytes)?;
        let signer = open_keys(&config)?;
        let detail = self.detail.map(|detail| match detail {
            Detail::Full => request::Detail::Full,
            Detail::Compact => request::Detail::Compact,
        });
        match check_once(&config, &signer, &body, detail) {
            Ok(checked) => {
                output::print_json(&checked.answer)?;
                Ok(ExitCode::from(u8::from(!checked.passed)))
            }
            Err(problem) => {
                output::print_json(&problem.json(""))?;
                Ok(ExitCode::from(2))
            }
        }
    }
}
