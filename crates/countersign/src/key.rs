//! `countersign key`: the keys that sign receipts.

use crate::{Settings, output};
use anyhow::Result;
use clap::Subcommand;
use countersign_core::document;
use countersign_service::{first_key, now, public_keys, signer};
use std::process::ExitCode;

/// The keys that sign receipts.
#[derive(Subcommand)]
pub(crate) enum Key {
    /// Make the first key.
    New(Settings),
    /// Print every key ever listed, as the agent card's publicKeys.
    List(Settings),
    /// List a new key as next; it signs from 300 s later, and the old one stays listed as previous.
    Rotate(Settings),
}

impl Key {
    /// Runs the subcommand.
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let (Key::New(settings) | Key::List(settings) | Key::Rotate(settings)) = self;
        let config = settings.load()?;
        let folder = config.keys_folder.path.clone();
        match self {
            Key::New(_) => output::print(&first_key(&config)?)?,
            Key::Rotate(_) => output::print(&signer::rotate_key(&folder, now())?)?,
            Key::List(_) => {
                let keys = signer::list_keys(&folder, now())?;
                output::print_json(&document::json_of(&public_keys(&keys)))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
