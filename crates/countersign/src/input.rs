//! Files that the arguments name, `-` being stdin; each with a limit.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, stdin};
use std::path::Path;

/// Bytes of one input that is not a request: a receipt, a key list, an output, a schema.
const BYTES_MAX: usize = 16 << 20;

/// Reads a file, or stdin for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let bytes = read_up_to(path, BYTES_MAX)?;
    if bytes.len() > BYTES_MAX {
        bail!("{} is larger than 16 MiB", path.display());
    }
    Ok(bytes)
}

/// Reads a file, or stdin for `-`, up to one byte over `limit`: who sees that byte knows that there is more.
pub(crate) fn read_up_to(path: &Path, limit: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let one_over = limit as u64 + 1;
    let read = if path == Path::new("-") {
        stdin().lock().take(one_over).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(one_over).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(bytes)
}

/// A file, or stdin for `-`, to be read line by line; the reader of the lines limits them.
pub(crate) fn lines(path: &Path) -> Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(stdin())));
    }
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Box::new(BufReader::new(file)))
}
