//! `countersign receipt verify`: the offline check of a receipt.

use crate::{input, output};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use countersign_core::canonical::Hash;
use countersign_core::check::request::{CompileAnew, Request, rules_hash};
use countersign_core::document::json;
use countersign_core::json::{self, Value};
use countersign_core::key::{KeyList, PublicKey};
use countersign_core::receipt::{Outcome, Supplied, verify};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Receipts.
#[derive(Subcommand)]
pub(crate) enum Receipt {
    /// Verify a receipt without a network.
    ///
    /// Exit status: 0 valid, 1 not valid, 2 could not be read.
    Verify(Verify),
}

/// The arguments of `receipt verify`.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("trust").required(true))]
pub(crate) struct Verify {
    /// The receipt; - is stdin.
    file: PathBuf,
    /// The keys you trust: an agent card or a key list.
    #[arg(long, value_name = "FILE", group = "trust")]
    keys: Option<PathBuf>,
    /// The one key you trust, as base64 of its raw 32 bytes.
    #[arg(long, value_name = "BASE64", group = "trust")]
    public_key: Option<String>,
    /// Trust only this key of --keys, and the keys that endorsements lead to from it: the list may come from
    /// anywhere.
    #[arg(long, value_name = "BASE64", requires = "keys", conflicts_with = "public_key")]
    root_key: Option<String>,
    /// The whole request, to compare every hash that the receipt carries.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "schema", "rules"])]
    request: Option<PathBuf>,
    /// The output that was checked.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The schema it was checked against.
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// The rules and bounds: {"rules": …, "bounds": …}, or the array of rules alone.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
}

impl Receipt {
    /// Runs the subcommand.
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let Receipt::Verify(verify) = self;
        verify.run()
    }
}

impl Verify {
    fn run(&self) -> Result<ExitCode> {
        let keys = self.keys()?;
        let supplied = self.supplied()?;
        let receipt = input::read(&self.file)?;
        let Some(verified) = verify(&receipt, &keys, &supplied) else {
            output::print_json(&json(&vec![("outcome", Outcome::Malformed.as_str().into())]))?;
            return Ok(ExitCode::from(2));
        };
        let outcome = verified.outcome();
        let mut members = vec![("outcome", outcome.as_str().into())];
        members.extend(verified.members());
        output::print_json(&json(&members))?;
        Ok(ExitCode::from(u8::from(outcome != Outcome::Valid)))
    }

    fn keys(&self) -> Result<KeyList> {
        if let Some(text) = &self.public_key {
            return Ok(KeyList::Pinned(read_key("--public-key", text)?));
        }
        let root = self.root_key.as_deref();
        let root = root.map(|text| read_key("--root-key", text)).transpose()?;
        let path = self.keys.as_deref().context("give --keys or --public-key")?;
        let list = input::read(path)?;
        let keys = match root {
            Some(root) => KeyList::parse_rooted(&list, root),
            None => KeyList::parse(&list),
        };
        keys.with_context(|| format!("cannot use {}", path.display()))
    }

    fn supplied(&self) -> Result<Supplied> {
        if let Some(path) = &self.request {
            let request = Request::parse(&input::read(path)?, &CompileAnew);
            let request = request.with_context(|| format!("{} is not a valid request", path.display()))?;
            return Ok(request.hashes.into());
        }
        let hash = |path: &Option<PathBuf>| -> Result<Option<Hash>> {
            path.as_deref()
                .map(|path| Ok(Hash::of_value(&read_json(path)?)))
                .transpose()
        };
        Ok(Supplied {
            output: hash(&self.output)?,
            schema: hash(&self.schema)?,
            rules: self.rules.as_deref().map(hash_of_rules).transpose()?,
            request: None,
        })
    }
}

fn read_key(flag: &str, text: &str) -> Result<PublicKey> {
    PublicKey::from_base64(text).with_context(|| format!("{flag} is not the canonical base64 of 32 bytes"))
}

fn hash_of_rules(path: &Path) -> Result<Hash> {
    let value = read_json(path)?;
    match &value {
        Value::Array(_) => Ok(rules_hash(Some(&value), None)),
        Value::Object(both)
            if both
                .members()
                .iter()
                .all(|m| m.name == "rules" || m.name == "bounds") =>
        {
            Ok(rules_hash(both.get("rules"), both.get("bounds")))
        }
        _ => bail!(
            "{} needs {{\"rules\": …, \"bounds\": …}} or an array of rules",
            path.display()
        ),
    }
}

fn read_json(path: &Path) -> Result<Value> {
    json::read(&input::read(path)?).map_err(|fault| {
        anyhow::anyhow!(
            "{} is not strict JSON (line {}, column {})",
            path.display(),
            fault.line,
            fault.column
        )
    })
}
