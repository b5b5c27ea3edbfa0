//! The command: reads the arguments, calls, prints. No logic of its own.
//!
//! Exit status: 0 pass, 1 fail, 2 could not be decided.

use clap::{Args, Parser, Subcommand};
use countersign_service::config::{Config, ConfigError, Flags};
use std::path::PathBuf;
use std::process::ExitCode;

mod agent;
mod check;
mod input;
mod key;
mod output;
mod receipt;
mod sarif;
mod score;
mod serve;
mod store;

/// Checks agents' outputs against what was asked, and signs what it found.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check one output: reads the body that one would POST, prints the signed answer.
    ///
    /// Exit status: 0 pass, 1 fail, 2 nothing was decided (the problem is printed).
    Check(check::Check),
    /// Receipts.
    #[command(subcommand)]
    Receipt(receipt::Receipt),
    /// Serve checks over HTTP.
    Serve(serve::Serve),
    /// Print the record that an agent's score is computed from: one line of JSON a counted check.
    ///
    /// A database that is being served can be read as well.
    Agent(agent::Agent),
    /// Compute a score from such a record, without a server: anyone can redo the arithmetic.
    Score(score::Score),
    /// The keys that sign receipts.
    #[command(subcommand)]
    Key(key::Key),
    /// The database, outside a service.
    #[command(subcommand)]
    Store(store::Database),
}

/// Where settings come from, the same for every subcommand that has any.
#[derive(Args)]
struct Settings {
    /// TOML file of settings.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder for the keys and the database [default: ./countersign-data].
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Settings {
    fn load(&self) -> Result<Config, ConfigError> {
        self.load_with(&[])
    }

    /// The settings with more flags, as far as they are given.
    fn load_with(&self, more: &[(&str, Option<&str>)]) -> Result<Config, ConfigError> {
        let mut flags = Flags::default();
        if let Some(folder) = &self.data {
            flags = flags.with("data", folder.to_string_lossy());
        }
        for (setting, text) in more {
            if let Some(text) = text {
                flags = flags.with(setting, *text);
            }
        }
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
        Config::load(self.config.as_deref(), flags, variables)
    }
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Check(check) => check.run(),
        Command::Receipt(receipt) => receipt.run(),
        Command::Serve(serve) => serve.run(),
        Command::Agent(agent) => agent.run(),
        Command::Score(score) => score.run(),
        Command::Key(key) => key.run(),
        Command::Store(database) => database.run(),
    };
    match outcome {
        Ok(status) => status,
        Err(error) => {
            output::complain(&format!("countersign: {error:#}"));
            ExitCode::from(2)
        }
    }
}
