//! `countersign check`: one check, without a server and without a network; keeps nothing but the key.

use crate::{Settings, input, output};
use anyhow::Result;
use clap::{Args, ValueEnum};
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
    Full,
    Compact,
}
