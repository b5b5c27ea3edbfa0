//! Bodies: read under a limit of bytes and of time, or read and dropped.

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Bytes of one unfinished body that are not counted as room: a small body costs no more than its connection.
const UNCOUNTED_BYTES: usize = 64 << 10;
/// Bytes of all unfinished bodies together, beyond the uncounted ones. Clients that begin large bodies and do
/// not end them could otherwise fill the memory.
const ROOM_BYTES: usize = 256 << 20;
/// Bytes beyond the limit that are read and dropped so that simple clients see the answer (interfaces.md 3.2).
const DISCARDED_BYTES: usize = 4 << 20;

/// How long a client may send nothing while its rest is dropped: one that waits for us to close gets its way.
const SILENCE: Duration = Duration::from_secs(2);

/// Room for unfinished bodies, shared by all connections.
pub(crate) struct BodyRoom(AtomicUsize);

/// Why a body was not read to its end. What is left of it goes with the reason.
pub(super) enum Unread {
    TooLarge(Incoming),
    NoRoom(Incoming),
    /// The client went away, was too slow, or broke the framing.
    Broken,
}

/// Reads a body of at most `max` bytes.
pub(super) async fn read(
    body: Incoming,
    max: usize,
    room: &Arc<BodyRoom>,
    patience: Duration,
) -> Result<Bytes, Unread> {
    if body.size_hint().lower() > max as u64 {
        return Err(Unread::TooLarge(body));
    }
    let reading = read_to_end(body, max, room);
    tokio::time::timeout(patience, reading)
        .await
        .unwrap_or(Err(Unread::Broken))
}

async fn read_to_end(mut body: Incoming, max: usize, room: &Arc<BodyRoom>) -> Result<Bytes, Unread> {
    let mut taken = Taken::of(room);
    let mut whole: Vec<u8> = Vec::new();
    let mut only: Option<Bytes> = None;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else {
            // Trailers say nothing that we read.
            continue;
        };
        if whole.len() + only.as_ref().map_or(0, Bytes::len) + data.len() > max {
            return Err(Unread::TooLarge(body));
        }
        // A small body comes in one piece and is not copied.
        if whole.is_empty() && only.is_none() {
            if body.is_end_stream() {
                return Ok(data);
            }
            only = Some(data);
            continue;
        }
        if let Some(first) = only.take() {
            whole.extend_from_slice(&first);
        }
        whole.extend_from_slice(&data);
        if !taken.grow_to(whole.capacity()) {
            return Err(Unread::NoRoom(body));
        }
    }
    Ok(only.unwrap_or_else(|| whole.into()))
}

/// Reads and drops at most the limit and [`DISCARDED_BYTES`] more.
pub(super) async fn discard(mut body: Incoming, max: usize, patience: Duration) {
    let reading = async {
        let mut left = max + DISCARDED_BYTES;
        while let Ok(Some(Ok(frame))) = tokio::time::timeout(SILENCE, body.frame()).await {
            match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
                Some(less) => left = less,
                None => break,
            }
        }
    };
    // A client that is slower than that has seen the answer, or never will.
    let _ = tokio::time::timeout(patience, reading).await;
}

impl BodyRoom {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(BodyRoom(AtomicUsize::new(ROOM_BYTES)))
    }
}

/// What one body has taken of the room; given back when dropped.
struct Taken<'a> {
    room: &'a BodyRoom,
    bytes: usize,
}

impl<'a> Taken<'a> {
    fn of(room: &'a BodyRoom) -> Self {
        Taken { room, bytes: 0 }
    }

    /// Takes what is missing to `bytes`; false if there is not so much left.
    fn grow_to(&mut self, bytes: usize) -> bool {
        let wanted = bytes.saturating_sub(UNCOUNTED_BYTES);
        let missing = wanted.saturating_sub(self.bytes);
        if missing == 0 {
            return true;
        }
        let take = |left: usize| left.checked_sub(missing);
        let taken = self
            .room
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok();
        if taken {
            self.bytes += missing;
        }
        taken
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.room.0.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_bounded_and_given_back() {
        let room = BodyRoom::new();
        {
            let mut first = Taken::of(&room);
            assert!(first.grow_to(UNCOUNTED_BYTES));
            assert_eq!(room.0.load(Ordering::Relaxed), ROOM_BYTES);
            assert!(first.grow_to(UNCOUNTED_BYTES + ROOM_BYTES - 1));
            let mut second = Taken::of(&room);
            assert!(second.grow_to(UNCOUNTED_BYTES + 1));
            assert!(!second.grow_to(UNCOUNTED_BYTES + 2));
            assert!(!first.grow_to(UNCOUNTED_BYTES + ROOM_BYTES));
        }
        assert_eq!(room.0.load(Ordering::Relaxed), ROOM_BYTES);
    }
}
