//! Moving receipts from one store to another, as lines of JSON.

use crate::{BadLine, LINE_BYTES_MAX, Store, StoreError, StoredReceipt};
use std::io::{self, BufRead, Read, Write};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};

/// Receipts that are read or kept at a time. A bad line undoes at most as many lines before it.
const PAGE_RECEIPTS: usize = 4_096;

/// Why receipts were not moved. What was moved before stays moved; a new try goes on after it.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The lines cannot be read or written.
    #[error("{0}")]
    Lines(#[from] io::Error),
    /// A line is no receipt.
    #[error("line {line}: {problem}")]
    BadLine {
        /// Its number, from 1 on.
        line: u64,
        /// What is wrong with it.
        problem: BadLine,
    },
    /// The store has another receipt under this number, so the lines are those of another store.
    #[error("line {line}: this store has another receipt under number {sequence}")]
    Different {
        /// The number of the line, from 1 on.
        line: u64,
        /// The receipt's number.
        sequence: u64,
    },
    /// The store did not take these lines, and kept none of them.
    #[error("lines {first} to {last}: {error}")]
    Refused {
        /// The first of them, from 1 on.
        first: u64,
        /// The last of them.
        last: u64,
        /// What the store says.
        error: StoreError,
    },
}

/// What an import did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Receipts that were kept.
    pub kept: u64,
    /// Receipts that were there already, and the same.
    pub there: u64,
}

impl Store {
    /// Writes every receipt as a line, in the order of their numbers; those that are kept meanwhile come at the
    /// end. Comes back with how many there were. Blocks, so it is not for a task of a runtime.
    pub fn export(&self, out: &mut impl Write) -> Result<u64, TransferError> {
        let (mut after, mut count) = (0, 0);
        loop {
            let page = wait(self.receipts_after(after, PAGE_RECEIPTS))?;
            for receipt in &page {
                out.write_all(&receipt.to_line())?;
                out.write_all(b"\n")?;
            }
            count += page.len() as u64;
            match page.last() {
                Some(last) if page.len() == PAGE_RECEIPTS => after = last.sequence,
                _ => return Ok(count),
            }
        }
    }

    /// Keeps the receipts of an export. Lines whose numbers the store has already are compared with what it has,
    /// so an import that was broken off is simply begun again. Blocks, so it is not for a task of a runtime.
    pub fn import_lines(&self, lines: &mut impl BufRead) -> Result<Imported, TransferError> {
        let newest = wait(self.newest())?;
        let mut import = Import {
            store: self,
            done: Imported::default(),
            line: 0,
            page: Vec::new(),
        };
        while let Some(receipt) = import.next(lines)? {
            let crosses =
                receipt.sequence > newest && import.page.last().is_some_and(|last| last.sequence <= newest);
            if crosses || import.page.len() == PAGE_RECEIPTS {
                import.settle(newest, import.line - 1)?;
            }
            import.page.push(receipt);
        }
        import.settle(newest, import.line)?;
        Ok(import.done)
    }
}

/// Waits on this thread. The store's threads answer, so no runtime is needed.
fn wait<T>(future: impl Future<Output = T>) -> T {
    struct Sleeper(Thread);
    impl Wake for Sleeper {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Sleeper(thread::current())).into();
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

struct Import<'store> {
    store: &'store Store,
    done: Imported,
    /// Lines that were read.
    line: u64,
    /// Receipts that were read and not settled yet: either all of them are there already, or none.
    page: Vec<StoredReceipt>,
}

impl Import<'_> {
    fn next(&mut self, lines: &mut impl BufRead) -> Result<Option<StoredReceipt>, TransferError> {
        let mut text = Vec::new();
        let limited = &mut lines.by_ref().take(LINE_BYTES_MAX as u64 + 2);
        if limited.read_until(b'\n', &mut text)? == 0 {
            return Ok(None);
        }
        self.line += 1;
        let line = text.strip_suffix(b"\n").unwrap_or(&text);
        match StoredReceipt::from_line(line) {
            Ok(receipt) => Ok(Some(receipt)),
            Err(problem) => Err(TransferError::BadLine {
                line: self.line,
                problem,
            }),
        }
    }

    /// Keeps the page, or compares it with what is there. `last` is the number of its last line.
    fn settle(&mut self, newest: u64, last: u64) -> Result<(), TransferError> {
        let page = std::mem::take(&mut self.page);
        let count = page.len() as u64;
        let first = last + 1 - count;
        let Some(begin) = page.first().map(|receipt| receipt.sequence) else {
            return Ok(());
        };
        if begin > newest {
            let kept = wait(self.store.import(page));
            kept.map_err(|error| TransferError::Refused { first, last, error })?;
            self.done.kept += count;
            return Ok(());
        }
        let there = self.store.receipts_after(begin - 1, page.len());
        let there = wait(there)?;
        for (index, receipt) in page.iter().enumerate() {
            if there.get(index) != Some(receipt) {
                return Err(TransferError::Different {
                    line: first + index as u64,
                    sequence: receipt.sequence,
                });
            }
        }
        self.done.there += count;
        Ok(())
    }
}
