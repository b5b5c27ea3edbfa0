//! `countersign agent`: the record that an agent's score is computed from.

use crate::{Settings, output};
use anyhow::{Context, Result};
use clap::Args;
use countersign_service::list_counted_checks;
use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;

/// The arguments of `agent`.
#[derive(Args)]
pub(crate) struct Agent {
    /// The agent's id, as checks name it.
    id: String,
    /// The database: sqlite: and a path, relative to the data folder, or `postgres://user@host/db`.
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    #[command(flatten)]
    settings: Settings,
}

impl Agent {
    /// Runs the subcommand.
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let config = self.settings.load_with(&[("store", self.store.as_deref())])?;
        let mut out = BufWriter::new(stdout().lock());
        let mut lines = 0_u64;
        list_counted_checks(&config, &self.id, |checks| -> Result<()> {
            for check in checks {
                out.write_all(&check.line()).context(output::UNWRITTEN)?;
                out.write_all(b"\n").context(output::UNWRITTEN)?;
            }
            lines += checks.len() as u64;
            Ok(())
        })?;
        out.flush().context(output::UNWRITTEN)?;
        if lines == 0 {
            output::complain("no check of this agent is counted");
        }
        Ok(ExitCode::SUCCESS)
    }
}
