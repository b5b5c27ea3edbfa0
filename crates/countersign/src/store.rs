//! `countersign store`: the database, outside a service.

use crate::{Settings, input, output};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use countersign_core::document::Document;
use countersign_service::config::Config;
use countersign_service::{create_store, store_target};
use countersign_store::{Store, Target};
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The database, outside a service.
#[derive(Subcommand)]
pub(crate) enum Database {
    /// Make the store that the settings name; one that exists is left as it is.
    Create(Place),
    /// Look the whole store over, also while it is served; exit status 1 when something is wrong.
    ///
    /// Prints one line of JSON with what was counted. What is wrong is told on stderr.
    Check(Place),
    /// Bring the store up to date, and make the sums of all scores anew with the half-life of the settings.
    Migrate(Place),
    /// Copy a SQLite database into a new file, also while it is served.
    Backup(Transfer),
    /// Write every receipt as a line of JSON, also while the store is served; - is stdout.
    ///
    /// Public keys are not among them: they lie in the key folder, which is copied.
    Export(Transfer),
    /// Keep the receipts of an export under the same ids and numbers; - is stdin.
    ///
    /// An import that was broken off is begun again: what is there already is compared and passed over.
    Import(Transfer),
}

/// Which store.
#[derive(Args)]
pub(crate) struct Place {
    /// The store, such as `sqlite:countersign.db` (relative to the data folder) or `postgres://user@host/db`.
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    #[command(flatten)]
    settings: Settings,
}

/// Which store, and which file.
#[derive(Args)]
pub(crate) struct Transfer {
    /// The file.
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

impl Place {
    fn load(&self) -> Result<(Config, Target)> {
        let config = self.settings.load_with(&[("store", self.store.as_deref())])?;
        let target = store_target(&config)?;
        Ok((config, target))
    }
}

impl Database {
    /// Runs the subcommand.
    pub(crate) fn run(&self) -> Result<ExitCode> {
        match self {
            Database::Create(place) => {
                let place = create_store(&place.load()?.0)?;
                output::print(&format!("there is a store at {place}"))?;
            }
            Database::Check(place) => return check(&place.load()?.1),
            Database::Migrate(place) => {
                let (config, target) = place.load()?;
                Store::migrate(&target, config.half_life).with_context(|| target.to_string())?;
                output::print(&format!("{target} is up to date"))?;
            }
            Database::Backup(transfer) => backup(&transfer.place.load()?.1, &transfer.file)?,
            Database::Export(transfer) => export(&transfer.place.load()?.1, &transfer.file)?,
            Database::Import(transfer) => {
                let (config, target) = transfer.place.load()?;
                let mut lines = input::lines(&transfer.file)?;
                let store = Store::open(&target, config.half_life).with_context(|| target.to_string())?;
                let imported = store.import_lines(&mut lines);
                // What was kept before a bad line is there, and the next try goes on after it.
                let imported = imported.with_context(|| format!("{}", transfer.file.display()))?;
                store.close().with_context(|| target.to_string())?;
                output::complain(&format!(
                    "kept {} receipts; {} were there already",
                    imported.kept, imported.there
                ));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn check(target: &Target) -> Result<ExitCode> {
    let checked = Store::check(target).with_context(|| target.to_string())?;
    let mut line = Document::default();
    line.text("store", &target.to_string());
    line.integer("receipts", checked.receipts);
    line.integer("newest", checked.newest);
    line.integer("agents", checked.agents);
    line.integer("public_keys", checked.public_keys);
    line.integer("problems", checked.problems);
    output::print(&String::from_utf8_lossy(&line.finish()))?;
    checked.told.iter().for_each(|problem| output::complain(problem));
    Ok(ExitCode::from(u8::from(checked.problems > 0)))
}

fn backup(target: &Target, file: &Path) -> Result<()> {
    match target {
        Target::Sqlite(path) => Store::backup_sqlite(path, file).with_context(|| file.display().to_string()),
        Target::Postgres(_) => bail!(
            "PostgreSQL is backed up by its own means, such as: pg_dump --format=custom --schema=countersign"
        ),
    }
}

fn export(target: &Target, file: &Path) -> Result<()> {
    let store = Store::look(target).with_context(|| target.to_string())?;
    let count = if file == Path::new("-") {
        let mut out = BufWriter::new(stdout().lock());
        let count = store.export(&mut out)?;
        out.flush().context(output::UNWRITTEN)?;
        count
    } else {
        let told = || format!("cannot write {}", file.display());
        let mut out = BufWriter::new(new_file(file).with_context(told)?);
        let count = store.export(&mut out).with_context(told)?;
        let file = out
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)
            .with_context(told)?;
        file.sync_all().with_context(told)?;
        count
    };
    store.close().with_context(|| target.to_string())?;
    output::complain(&format!("wrote {count} receipts"));
    Ok(())
}

/// A new file that its owner alone reads; one that exists is never replaced.
fn new_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
