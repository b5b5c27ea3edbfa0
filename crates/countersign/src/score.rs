//! `countersign score`: a score computed anew from the record that it is made of.

use crate::{input, output};
use anyhow::{Context, Result, bail};
use clap::Args;
use countersign_core::document::{Members, Part, json};
use countersign_core::score::{CountedCheck, HalfLife, History};
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Bytes of one line, its end included. Those that `countersign agent` prints have about 90.
const LINE_BYTES_MAX: u64 = 1_024;

/// The arguments of `score`.
#[derive(Args)]
pub(crate) struct Score {
    /// What `countersign agent` printed; - is stdin.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// Age in days at which a check counts half, as the agent card says, 1 to 3650.
    #[arg(long, value_name = "DAYS", default_value = "30", value_parser = half_life)]
    half_life_days: HalfLife,
}

fn half_life(text: &str) -> Result<HalfLife, String> {
    let days = text.parse().ok().and_then(HalfLife::of_days);
    days.ok_or_else(|| "must be a whole number from 1 to 3650".to_owned())
}

impl Score {
    /// Runs the subcommand.
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let history = history(&self.from)?;
        output::print_json(&self.answer(&history)?)?;
        Ok(ExitCode::SUCCESS)
    }

    fn answer(&self, history: &History) -> Result<Vec<u8>> {
        let record = history.record(self.half_life_days);
        let estimate = record.map(|record| record.estimate()).transpose()?;
        let count = |count: Option<u64>| Part::Integer(count.unwrap_or(0));
        let or_null = |part: Option<Part<'static>>| part.unwrap_or(Part::Null);
        let interval = estimate.map(|e| Part::List(vec![Part::Ratio(e.low), Part::Ratio(e.high)]));
        let members: Members<'_> = vec![
            (
                "trust_score",
                or_null(estimate.map(|e| Part::Ratio(e.trust_score))),
            ),
            ("confidence_interval_95", or_null(interval)),
            ("sample_size", count(record.map(|record| record.verified()))),
            ("passed", count(record.map(|record| record.passed))),
            ("failed", count(record.map(|record| record.failed))),
            (
                "first_seen",
                or_null(record.map(|record| record.first_seen.to_string().into())),
            ),
            (
                "last_seen",
                or_null(record.map(|record| record.last_seen().to_string().into())),
            ),
            ("half_life_days", Part::Integer(self.half_life_days.days().into())),
        ];
        Ok(json(&members))
    }
}

/// Reads the record line by line; the first line that is none is told by its number.
fn history(path: &Path) -> Result<History> {
    let mut history = History::default();
    let mut lines = input::lines(path)?;
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = lines.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        if read.with_context(|| format!("cannot read {}", path.display()))? == 0 {
            break;
        }
        let whole = line.strip_suffix(b"\n");
        if whole.is_none() && line.len() as u64 == LINE_BYTES_MAX {
            bail!(
                "{}: line {number} is longer than {LINE_BYTES_MAX} bytes",
                path.display()
            );
        }
        let check = CountedCheck::parse(whole.unwrap_or(&line));
        let kept = check.and_then(|check| history.push(check));
        kept.map_err(|fault| anyhow::anyhow!("{}: line {number} {fault}", path.display()))?;
    }
    Ok(history)
}
