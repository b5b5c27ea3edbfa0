//! Columns of numbers, read strictly: a value that is never written is an error of the row. Who can write to the
//! database must not find two spellings of one row, because the MAC covers what is read.

use rusqlite::{Error, Result, Row};

/// Numbers that are given: below 2^53 every JSON reader has them exactly, and no addition overflows.
pub(super) const SEQUENCE_MAX: i64 = 1 << 53;

/// The number of a receipt, from 1 on.
pub(super) fn sequence(row: &Row<'_>, column: usize) -> Result<u64> {
    integer(row, column, 1, SEQUENCE_MAX)
}

/// How many.
pub(super) fn count(row: &Row<'_>, column: usize) -> Result<u64> {
    integer(row, column, 0, i64::MAX)
}

/// On or off: 1 or 0.
pub(super) fn switch(row: &Row<'_>, column: usize) -> Result<bool> {
    integer(row, column, 0, 1).map(|found| found == 1)
}

fn integer(row: &Row<'_>, column: usize, least: i64, most: i64) -> Result<u64> {
    let found = row.get(column)?;
    if (least..=most).contains(&found) {
        Ok(found.unsigned_abs())
    } else {
        Err(Error::IntegralValueOutOfRange(column, found))
    }
}
