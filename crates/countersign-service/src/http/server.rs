//! Listens: one worker thread for each core, each with a runtime and a listener of its own, so that a request
//! stays on the core that accepted it.

use super::body::BodyRoom;
use super::{Door, Patience, connection};
use crate::app::{App, new_id};
use crate::bench::STACK_BYTES;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

/// Connections that may wait to be accepted, for each worker.
const BACKLOG: i32 = 1024;
/// Refused connections that are told so at a time; more are closed without a word.
const REFUSALS_MAX: usize = 64;
/// The pause after an accept that failed for want of something, such as file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Such failures of one worker that are told once.
const FAILURES_TOLD_ONCE: u32 = 200;
/// Files that a service needs beside its connections: listeners, the database, keys, the runtime's own.
const OTHER_FILES: u64 = 128;

/// The listeners, bound and not yet accepting.
pub(crate) struct Server {
    address: SocketAddr,
    listeners: Vec<StdListener>,
}

/// The workers. Stopping is `stop`; dropping alone leaves them running.
pub(crate) struct Workers {
    stopping: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

/// What the workers share.
struct Shared {
    open: AtomicUsize,
    open_max: usize,
    refusals: AtomicUsize,
    stop_within: Duration,
}

impl Server {
    /// Binds `count` listeners to one address, or one if the system does not share an address.
    pub(crate) fn bind(address: SocketAddr, count: usize) -> io::Result<Self> {
        // Without sharing first: two instances started on one address by mistake would share it silently.
        let first = listener(address, Sharing::No)?;
        let address = first.local_addr()?;
        if count > 1 {
            drop(first);
            let shared: io::Result<Vec<_>> = (0..count).map(|_| listener(address, Sharing::Yes)).collect();
            if let Ok(listeners) = shared {
                return Ok(Server { address, listeners });
            }
            let first = listener(address, Sharing::No)?;
            let listeners = (1..count)
                .map(|_| first.try_clone())
                .collect::<io::Result<Vec<_>>>()?;
            let listeners = listeners.into_iter().chain([first]).collect();
            return Ok(Server { address, listeners });
        }
        Ok(Server {
            address,
            listeners: vec![first],
        })
    }

    /// The address that is bound.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts one worker for each listener.
    pub(crate) fn start(self, app: &Arc<App>, open_max: usize, patience: Patience) -> io::Result<Workers> {
        let (stopping, _) = watch::channel(false);
        let room = BodyRoom::new();
        let shared = Arc::new(Shared {
            open: AtomicUsize::new(0),
            open_max,
            refusals: AtomicUsize::new(0),
            stop_within: patience.stop,
        });
        let mut threads = Vec::with_capacity(self.listeners.len());
        for listener in self.listeners {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_io()
                .enable_time()
                .build()?;
            // A door for each worker: what is copied for every request lies close to its core.
            let door = Arc::new(Door::new(app.clone(), room.clone(), patience));
            let (shared, stopping) = (shared.clone(), stopping.subscribe());
            let work = move || {
                if let Err(error) = runtime.block_on(accept(listener, door, shared, stopping)) {
                    tracing::error!("A worker cannot listen: {error}");
                }
            };
            let thread = thread::Builder::new().name("worker".to_owned());
            threads.push(thread.stack_size(STACK_BYTES).spawn(work)?);
        }
        Ok(Workers { stopping, threads })
    }
}

impl Workers {
    /// Accepts no more, finishes what runs within the time that [`Patience::stop`] gives, and comes back when
    /// all workers have ended.
    pub(crate) fn stop(self) {
        let _ = self.stopping.send(true);
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("A worker had ended by a panic");
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Sharing {
    Yes,
    No,
}

fn listener(address: SocketAddr, sharing: Sharing) -> io::Result<StdListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A restart must not wait for the old connections' last packets.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    if sharing == Sharing::Yes {
        #[cfg(unix)]
        socket.set_reuse_port(true)?;
        #[cfg(not(unix))]
        return Err(io::ErrorKind::Unsupported.into());
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

async fn accept(
    listener: StdListener,
    door: Arc<Door>,
    shared: Arc<Shared>,
    mut stopping: watch::Receiver<bool>,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    // Each connection holds a sender; the last one to go ends the wait below.
    let (running, mut all_ended) = mpsc::channel::<()>(1);
    let mut failures = 0_u32;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = connection::stop(&mut stopping) => break,
        };
        let (stream, peer) = match accepted {
            Ok((stream, peer)) => (stream, peer.ip()),
            // One connection's fault is over with it; want of descriptors takes a moment.
            Err(error) if is_over(&error) => continue,
            Err(error) => {
                if failures.is_multiple_of(FAILURES_TOLD_ONCE) {
                    tracing::warn!("Cannot accept connections: {error}");
                }
                failures = failures.wrapping_add(1);
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        if let Some(place) = Place::take(&shared, |shared| (&shared.open, shared.open_max)) {
            let (door, stopping, running) = (door.clone(), stopping.clone(), running.clone());
            tokio::spawn(async move {
                connection::serve(stream, peer, door, stopping).await;
                drop((place, running));
            });
        } else if let Some(place) = Place::take(&shared, |shared| (&shared.refusals, REFUSALS_MAX)) {
            let request_id = new_id(door.app.now()).to_string();
            tokio::spawn(async move {
                connection::refuse(stream, request_id).await;
                drop(place);
            });
        }
    }
    drop((listener, running));
    if tokio::time::timeout(shared.stop_within, all_ended.recv())
        .await
        .is_err()
    {
        tracing::warn!("Stopped with requests unfinished");
    }
    Ok(())
}

fn is_over(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    )
}

/// Raises the limit on open files, as far as the system lets us, so that it is not met before the limit on
/// connections. Many systems start a process with 1,024.
#[cfg(unix)]
pub(crate) fn allow_open_files(connections: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = connections as u64 + OTHER_FILES;
    let now = getrlimit(Resource::Nofile);
    let current = now.current.unwrap_or(u64::MAX);
    let possible = wanted.min(now.maximum.unwrap_or(u64::MAX));
    let raised = current < possible && {
        let limit = Rlimit {
            current: Some(possible),
            maximum: now.maximum,
        };
        setrlimit(Resource::Nofile, limit).is_ok()
    };
    let allowed = if raised { possible } else { current };
    if allowed < wanted {
        tracing::warn!(
            "The system allows {allowed} open files, fewer than limits.connections = {connections} needs"
        );
    }
}

#[cfg(not(unix))]
pub(crate) fn allow_open_files(_connections: usize) {}

/// One of a limited number of places; given back when dropped.
struct Place {
    shared: Arc<Shared>,
    of: fn(&Shared) -> (&AtomicUsize, usize),
}

impl Place {
    fn take(shared: &Arc<Shared>, of: fn(&Shared) -> (&AtomicUsize, usize)) -> Option<Place> {
        let (taken, max) = of(shared);
        let more = |taken: usize| (taken < max).then_some(taken + 1);
        taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()?;
        Some(Place {
            shared: shared.clone(),
            of,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        (self.of)(&self.shared).0.fetch_sub(1, Ordering::Relaxed);
    }
}
