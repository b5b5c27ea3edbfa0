//! A bounded queue between async callers and a thread of our own: putting in never waits; taking out blocks, or
//! waits as a task where the thread runs tasks.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

/// A first-in, first-out queue for at most `capacity` items.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    capacity: usize,
}

struct State<T> {
    items: VecDeque<T>,
    closed: bool,
    /// Takers asleep and not yet told to wake: a push wakes one only if there is one, which saves a system
    /// call a row under load. A taker who wakes by itself leaves it one too high, which costs one needless
    /// call.
    asleep: usize,
    /// The task that waits; there is one taker at most where tasks take.
    task: Option<Waker>,
}

/// Why an item was not taken in. The item is dropped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Full,
    Closed,
}

impl<T> Queue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = State {
            items: VecDeque::new(),
            closed: false,
            asleep: 0,
            task: None,
        };
        Queue {
            state: Mutex::new(state),
            changed: Condvar::new(),
            capacity,
        }
    }

    /// Appends an item, or says at once why not.
    pub(crate) fn push(&self, item: T) -> Result<(), Refused> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refused::Closed);
        }
        if state.items.len() >= self.capacity {
            return Err(Refused::Full);
        }
        state.items.push_back(item);
        let wake = state.asleep > 0;
        state.asleep = state.asleep.saturating_sub(1);
        let task = state.task.take();
        drop(state);
        if wake {
            self.changed.notify_one();
        }
        task.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Whether a push would be refused as full.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().items.len() >= self.capacity
    }

    /// Whether a push would be refused as closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Moves up to `most` items into `batch`, waiting for the first as long as `patience` lasts. True with
    /// nothing in `batch`: it is out. False: the queue is closed and empty.
    pub(crate) fn take(&self, batch: &mut Vec<T>, most: usize, patience: Option<Duration>) -> bool {
        let mut state = self.lock();
        while state.items.is_empty() {
            if state.closed {
                return false;
            }
            state.asleep += 1;
            let Some(patience) = patience else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state = self
                .changed
                .wait_timeout(state, patience)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            break;
        }
        let count = state.items.len().min(most);
        batch.extend(state.items.drain(..count));
        true
    }

    /// Like [`Queue::take`], for the one task that takes. Whoever stops waiting loses nothing.
    pub(crate) async fn next(&self, batch: &mut Vec<T>, most: usize, patience: Option<Duration>) -> bool {
        let taken = poll_fn(|context| {
            let mut state = self.lock();
            if state.items.is_empty() && !state.closed {
                state.task = Some(context.waker().clone());
                return Poll::Pending;
            }
            let count = state.items.len().min(most);
            batch.extend(state.items.drain(..count));
            Poll::Ready(count > 0)
        });
        match patience {
            None => taken.await,
            Some(patience) => tokio::time::timeout(patience, taken).await.unwrap_or(true),
        }
    }

    /// Takes no more items in; what is inside can still be taken out.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let task = state.task.take();
        drop(state);
        self.changed.notify_all();
        task.into_iter().for_each(Waker::wake);
    }

    /// Closes the queue and drops what is inside when the guard is dropped: however the taker's thread ends,
    /// also by a panic, nobody waits for it in vain.
    pub(crate) fn abandon_on_drop(&self) -> AbandonOnDrop<'_, T> {
        AbandonOnDrop(self)
    }

    /// Nothing in here can panic while the lock is held, so a poisoned lock guards a sound state.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct AbandonOnDrop<'q, T>(&'q Queue<T>);

impl<T> Drop for AbandonOnDrop<'_, T> {
    fn drop(&mut self) {
        self.0.close();
        // Dropped outside the lock: an item's drop wakes its waiter.
        let rest = std::mem::take(&mut self.0.lock().items);
        drop(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn items_come_out_in_order_and_in_batches() {
        let queue = Queue::new(3);
        for item in 1..=3 {
            assert_eq!(queue.push(item), Ok(()));
        }
        assert_eq!(queue.push(4), Err(Refused::Full), "the fourth of three");
        assert!(queue.is_full());
        let mut batch = Vec::new();
        assert!(queue.take(&mut batch, 2, None));
        assert_eq!(batch, [1, 2]);
        assert!(!queue.is_full());
        assert!(queue.take(&mut batch, 2, None));
        assert_eq!(batch, [1, 2, 3]);
    }

    #[test]
    fn a_closed_queue_gives_what_it_has_and_takes_no_more() {
        let queue = Queue::new(3);
        assert_eq!(queue.push(1), Ok(()));
        queue.close();
        assert_eq!(queue.push(2), Err(Refused::Closed));
        let mut batch = Vec::new();
        assert!(queue.take(&mut batch, 2, None));
        assert!(!queue.take(&mut batch, 2, None), "closed and empty");
        assert_eq!(batch, [1]);
    }

    #[test]
    fn a_sleeping_taker_is_woken_by_a_push_and_by_the_end() {
        let queue = Queue::new(3);
        std::thread::scope(|scope| {
            let taker = scope.spawn(|| {
                let mut batch = Vec::new();
                while queue.take(&mut batch, 1, None) {}
                batch
            });
            while queue.lock().asleep == 0 {
                std::thread::yield_now();
            }
            assert_eq!(queue.push(7), Ok(()));
            queue.close();
            assert_eq!(taker.join().unwrap(), [7]);
        });
    }

    #[test]
    fn a_taker_out_of_patience_comes_back_with_nothing() {
        let queue = Queue::<u8>::new(3);
        let mut batch = Vec::new();
        assert!(queue.take(&mut batch, 2, Some(Duration::from_millis(1))));
        assert_eq!(batch, []);
        assert_eq!(queue.push(7), Ok(()));
        assert!(queue.take(&mut batch, 2, Some(Duration::from_millis(1))));
        assert_eq!(batch, [7]);
    }

    #[tokio::test]
    async fn a_task_takes_like_a_thread() {
        let queue = Arc::new(Queue::new(3));
        let mut batch = Vec::new();
        assert!(queue.next(&mut batch, 2, Some(Duration::from_millis(1))).await);
        assert_eq!(batch, [], "out of patience");
        let other = queue.clone();
        let pusher = std::thread::spawn(move || {
            while other.lock().task.is_none() {
                std::thread::yield_now();
            }
            assert_eq!(other.push(7), Ok(()));
            other.close();
        });
        assert!(queue.next(&mut batch, 2, None).await);
        assert!(!queue.next(&mut batch, 2, None).await, "closed and empty");
        assert_eq!(batch, [7]);
        pusher.join().unwrap();
    }

    #[test]
    fn a_taker_that_panics_leaves_nothing_behind() {
        let queue = Queue::new(3);
        let item = Arc::new(());
        assert_eq!(queue.push(item.clone()), Ok(()));
        std::thread::scope(|scope| {
            let taker = scope.spawn(|| {
                let _guard = queue.abandon_on_drop();
                panic!("a panic on purpose");
            });
            assert!(taker.join().is_err());
        });
        assert_eq!(Arc::strong_count(&item), 1, "the item was dropped");
        assert_eq!(queue.push(item), Err(Refused::Closed));
    }
}
