//! `countersign serve`: the service, until it is told to stop.

use crate::{Settings, output};
use anyhow::Result;
use clap::Args;
use countersign_service::config::DEFAULT_FILE;
use std::process::ExitCode;

/// The arguments of `serve`.
#[derive(Args)]
pub(crate) struct Serve {
    /// Address of the public door; port 0 takes a free one [default: 127.0.0.1:8402].
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// The database: `sqlite:FILE`, relative to the data folder, or `postgres://user@host/db`
    /// [default: sqlite:countersign.db].
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// Print the commented default settings and end.
    #[arg(long, exclusive = true)]
    print_config: bool,
    /// Read the settings, print what was understood and end.
    #[arg(long)]
    check_config: bool,
    #[command(flatten)]
    settings: Settings,
}

impl Serve {
    /// Runs the subcommand.
    pub(crate) fn run(&self) -> Result<ExitCode> {
        if self.print_config {
            output::print(DEFAULT_FILE.trim_end())?;
            return Ok(ExitCode::SUCCESS);
        }
        let config = self.settings.load_with(&[
            ("listen", self.listen.as_deref()),
            ("store", self.store.as_deref()),
        ])?;
        if self.check_config {
            countersign_service::store_target(&config)?;
            output::print(config.describe().trim_end())?;
            return Ok(ExitCode::SUCCESS);
        }
        countersign_service::serve(&config)?;
        Ok(ExitCode::SUCCESS)
    }
}
