//! One connection: requests in, answers out, until either side has enough.

use super::socket::Socket;
use super::turn::Turn;
use super::{Door, HEAD_BYTES_MAX, HEADERS_MAX};
use crate::problem::{Problem, Unavailable};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// Bytes that hyper holds of a request. Twice the limit of the head, so that a head that is a little too large
/// gets our problem; beyond this it gets hyper's bare 431.
const BUFFER_BYTES: usize = 2 * HEAD_BYTES_MAX;
/// Headers that hyper reads: more than we accept, so that too many get our problem; beyond this hyper's bare 431.
/// It costs 64 bytes a header for each request.
const HEADERS_READ_MAX: usize = 5 * HEADERS_MAX;
/// How long a refused connection is read from, so that its client sees the refusal.
const LINGER: Duration = Duration::from_secs(1);

/// Serves a connection until it ends, or until the service stops: then what runs is finished.
pub(super) async fn serve(
    stream: TcpStream,
    peer: IpAddr,
    door: Arc<Door>,
    mut stopping: watch::Receiver<bool>,
) {
    // Answers are whole when they are written: nothing is gained by waiting for more.
    let _ = stream.set_nodelay(true);
    let patience = door.patience;
    let turn = Turn::new();
    let socket = TokioIo::new(Socket::new(stream, patience.answer, turn.clone()));
    let turn_of_service = turn.clone();
    let service = service_fn(move |request| {
        let (door, turn) = (door.clone(), turn_of_service.clone());
        turn.begin();
        async move {
            let answer = door.answer(request, peer).await;
            turn.answered();
            answer
        }
    });
    let connection = http1::Builder::new()
        .max_buf_size(BUFFER_BYTES)
        .max_headers(HEADERS_READ_MAX)
        .serve_connection(socket, service);
    let mut connection = pin!(connection);
    // Errors are the client's: it went away, was too slow, or spoke no HTTP.
    let ended = tokio::select! {
        biased;
        _ = connection.as_mut() => true,
        () = turn.overdue(patience.head) => true,
        () = stop(&mut stopping) => false,
    };
    if !ended {
        connection.as_mut().graceful_shutdown();
        tokio::select! {
            biased;
            _ = connection => {}
            () = turn.overdue(patience.head) => {}
        }
    }
}

/// Comes back when the service stops.
pub(super) async fn stop(stopping: &mut watch::Receiver<bool>) {
    // Whoever would say so being gone means the same.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// Tells a client that there are too many, and closes.
pub(super) async fn refuse(mut stream: TcpStream, request_id: String) {
    let problem = Problem::ServiceUnavailable(Unavailable::Overloaded);
    let body = problem.json(&request_id);
    let head = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nretry-after: {}\r\nx-request-id: {request_id}\r\n\
         x-content-type-options: nosniff\r\naccess-control-allow-origin: *\r\nconnection: close\r\n\r\n",
        body.len(),
        problem.retry_after().unwrap_or(1),
    );
    let talk = async {
        stream.write_all(&[head.as_bytes(), &body].concat()).await?;
        stream.shutdown().await?;
        // Closing with unread bytes would reset the connection, and the client would not see the answer.
        let mut dropped = [0; 4096];
        while stream.read(&mut dropped).await? > 0 {}
        std::io::Result::Ok(())
    };
    let _ = tokio::time::timeout(LINGER, talk).await;
}
