//! Where heavy work is done: a few threads of our own beside the workers, so that one large body does not hold
//! up the small ones. Bounded: what does not fit in the queue is refused at once.

use crate::problem::{Problem, Unavailable};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tokio::sync::oneshot;

/// Pieces of work that may wait for each thread. A check takes 5 s at the most, a usual large one 20 ms.
const WAITING_PER_THREAD: usize = 32;
/// Bytes of stack of a thread that checks: the evaluator goes as deep as its limits let it.
pub(crate) const STACK_BYTES: usize = 16 << 20;

type Work = Box<dyn FnOnce() + Send>;

/// The threads for heavy work. They end when the bench is dropped.
pub(crate) struct Bench {
    queue: SyncSender<Work>,
}

impl Bench {
    /// Starts the threads.
    pub(crate) fn new(threads: usize) -> std::io::Result<Self> {
        let (queue, waiting) = sync_channel(threads * WAITING_PER_THREAD);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..threads {
            let waiting = waiting.clone();
            thread::Builder::new()
                .name("bench".to_owned())
                .stack_size(STACK_BYTES)
                .spawn(move || {
                    while let Some(work) = next(&waiting) {
                        work();
                    }
                })?;
        }
        Ok(Bench { queue })
    }

    /// Runs the work on a thread of the bench. A full queue is `Overloaded`, a panic an internal error.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (answer, answered) = oneshot::channel();
        let work = Box::new(move || {
            // Nobody is waiting any more: the caller left while the work stood in the queue.
            if answer.is_closed() {
                return;
            }
            // The work owns all that it touches, so nothing broken outlives its panic. The answer is dropped
            // unsent, which its waiter is told.
            if let Ok(value) = catch_unwind(AssertUnwindSafe(work)) {
                let _ = answer.send(value);
            }
        });
        self.queue.try_send(work).map_err(|refused| match refused {
            TrySendError::Full(_) => Problem::ServiceUnavailable(Unavailable::Overloaded),
            TrySendError::Disconnected(_) => Problem::InternalError("the bench has no threads".to_owned()),
        })?;
        answered
            .await
            .map_err(|_| Problem::InternalError("heavy work panicked".to_owned()))
    }
}

fn next(waiting: &Mutex<Receiver<Work>>) -> Option<Work> {
    let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn a_panic_is_an_internal_error_and_the_thread_lives_on() {
        let bench = Bench::new(1).unwrap();
        let panicked = block_on(bench.run(|| -> u8 { panic!("on purpose") }));
        assert!(matches!(panicked, Err(Problem::InternalError(_))));
        assert_eq!(block_on(bench.run(|| 7)).unwrap(), 7);
    }

    #[test]
    fn a_full_bench_refuses_at_once() {
        let bench = Bench::new(1).unwrap();
        let (release, held) = std::sync::mpsc::channel::<()>();
        block_on(async {
            let mut blocked = Box::pin(bench.run(move || held.recv()));
            let mut waiting = Vec::new();
            // Polled once, a future has its work in the queue.
            assert!(futures_poll(blocked.as_mut()).await.is_none());
            let mut refused = 0;
            for _ in 0..=WAITING_PER_THREAD {
                let mut work = Box::pin(bench.run(|| ()));
                match futures_poll(work.as_mut()).await {
                    None => waiting.push(work),
                    Some(answer) => {
                        assert!(matches!(
                            answer,
                            Err(Problem::ServiceUnavailable(Unavailable::Overloaded))
                        ));
                        refused += 1;
                    }
                }
            }
            // The first piece may or may not have left the queue by then.
            assert!((1..=2).contains(&refused), "{refused}");
            release.send(()).unwrap();
            blocked.await.unwrap().unwrap();
            for work in waiting {
                work.await.unwrap();
            }
        });
    }

    async fn futures_poll<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(match std::pin::Pin::new(&mut future).poll(context) {
                std::task::Poll::Ready(output) => Some(output),
                std::task::Poll::Pending => None,
            })
        })
        .await
    }
}
