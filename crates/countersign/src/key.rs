//! `countersign key`: the keys that sign receipts.

use crate::{Settings, output};
use anyhow::Result;
use clap::{Args, Subcommand};
use countersign_core::document;
use countersign_core::key::ListedKey;
use countersign_service::signer::{self, Compromised, RELOAD_SECONDS};
use countersign_service::{first_key, now, public_keys};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// The keys that sign receipts.
#[derive(Subcommand)]
pub(crate) enum Key {
    /// Make the first key.
    New(Settings),
    /// Print every key ever listed, as the agent card's publicKeys.
    List(Settings),
    /// List a new key as next, endorsed by the one that signs; it signs from 300 s later, and the old one stays
    /// listed as previous.
    Rotate(Settings),
    /// Mark a key as compromised, for ever, and make another if it signs; print what to do next.
    ///
    /// Done again, it changes nothing.
    Compromise(Compromise),
}

/// The arguments of `key compromise`.
#[derive(Args)]
pub(crate) struct Compromise {
    /// The key's version, as the list shows it.
    version: String,
    #[command(flatten)]
    settings: Settings,
}

impl Key {
    /// Runs the subcommand.
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let (Key::New(settings)
        | Key::List(settings)
        | Key::Rotate(settings)
        | Key::Compromise(Compromise { settings, .. })) = self;
        let config = settings.load()?;
        let folder = &config.keys_folder.path;
        match self {
            Key::New(_) => output::print(&first_key(&config)?)?,
            Key::Rotate(_) => rotate(folder)?,
            Key::List(_) => {
                let keys = signer::list_keys(folder, now())?;
                output::print_json(&document::json_of(&public_keys(&keys)))?;
            }
            Key::Compromise(Compromise { version, .. }) => {
                let done = signer::compromise_key(folder, version, now())?;
                output::print(told(version, &done).trim_end())?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn rotate(folder: &Path) -> Result<()> {
    let version = signer::rotate_key(folder, now())?;
    let keys = signer::list_keys(folder, now())?;
    let made = keys.iter().find(|key| key.key_version == version);
    if let Some(unendorsed) = made.filter(|key| key.endorsement.is_none()) {
        output::complain(&format!(
            "countersign: the private half of the key that signs is not in {}, so no key endorses the new one: \
             publish it as a root: {}",
            folder.display(),
            named(unendorsed)
        ));
    }
    output::print(&version)
}

/// What became of a compromised key, and what the operator has to do now.
fn told(version: &str, done: &Compromised) -> String {
    let signs = &done.signs.key_version;
    let mut text = String::new();
    // Writing to a String cannot fail.
    let mut line = |line: &str| {
        let _ = writeln!(text, "{line}");
    };
    line(&format!(
        "{version} is compromised, for ever: nothing that it signed proves anything any more."
    ));
    for given_up in &done.given_up {
        line(&format!(
            "{given_up}, which was to take over from it, lay beside it and never signs."
        ));
    }
    match &done.made {
        Some(made) if made == signs => line(&format!(
            "{made} was made in its place. A running service signs with it within {RELOAD_SECONDS} s, and with \
             {version} no more."
        )),
        Some(made) => line(&format!(
            "{made} was made in its place and waits; {signs} signs until then."
        )),
        None => line(&format!("{signs} signs.")),
    }
    line("\nWhat to do now:");
    line(&format!(
        "- The root key is {}. Publish it wherever you published another: no endorsement by {version} or past it \
         counts any more.",
        named(&done.root)
    ));
    line(
        "- Copy this key folder to every node that has a copy of its own. Until then a node that holds no other key \
         answers 503.",
    );
    line(&format!(
        "- Tell who holds receipts of {version} to fetch them anew, from GET /receipts/{{id}}: the key that signs now \
         signs them."
    ));
    line(
        "- Find out how it got out. Who could read one file of this folder could read all: run this for every key \
         that they could read.",
    );
    text
}

fn named(key: &ListedKey) -> String {
    format!("{} {}", key.key_version, key.public_key.to_base64())
}
