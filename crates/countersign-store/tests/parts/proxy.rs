//! A proxy between a store and its server, which cuts the connection in the middle of a commit.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

/// What happens to the next words of the store.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
pub(crate) enum Cut {
    Never = 0,
    /// They do not arrive.
    BeforeTheServer = 1,
    /// They arrive; the store is cut off at once, and the server only when it has answered into the void.
    BehindTheStatement = 2,
    /// They arrive and are carried out; the answer does not come back.
    BeforeTheAnswer = 3,
}

pub(crate) struct Proxy {
    port: u16,
    next: Arc<AtomicU8>,
}

impl Proxy {
    pub(crate) fn start(server: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let next = Arc::new(AtomicU8::new(0));
        let armed = next.clone();
        thread::spawn(move || {
            for store in listener.incoming() {
                let (store, armed) = (store.unwrap(), armed.clone());
                // While the server is down, connections end at once.
                if let Ok(server) = TcpStream::connect(("127.0.0.1", server)) {
                    relay(store, server, armed);
                }
            }
        });
        Proxy { port, next }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Arms the proxy for the next words of the store.
    pub(crate) fn cut(&self, how: Cut) {
        self.next.store(how as u8, Ordering::SeqCst);
    }

    /// Whether the words came, and the connection was cut.
    pub(crate) fn has_cut(&self) -> bool {
        self.next.load(Ordering::SeqCst) == Cut::Never as u8
    }
}

fn relay(store: TcpStream, server: TcpStream, armed: Arc<AtomicU8>) {
    let cutting = Arc::new(AtomicU8::new(Cut::Never as u8));
    let (mut from_server, mut to_store) = (server.try_clone().unwrap(), store.try_clone().unwrap());
    let how = cutting.clone();
    thread::spawn(move || {
        let mut words = [0; 16_384];
        while let Ok(count @ 1..) = from_server.read(&mut words) {
            let how = how.load(Ordering::SeqCst);
            if how == Cut::BeforeTheAnswer as u8 {
                break;
            }
            if how == Cut::Never as u8 && to_store.write_all(&words[..count]).is_err() {
                break;
            }
        }
        let _ = to_store.shutdown(Shutdown::Both);
        let _ = from_server.shutdown(Shutdown::Both);
    });
    let (mut from_store, mut to_server) = (store, server);
    thread::spawn(move || {
        let mut words = [0; 16_384];
        while let Ok(count @ 1..) = from_store.read(&mut words) {
            let how = armed.swap(Cut::Never as u8, Ordering::SeqCst);
            cutting.fetch_max(how, Ordering::SeqCst);
            if how == Cut::BeforeTheServer as u8 {
                let _ = to_server.shutdown(Shutdown::Both);
                break;
            }
            if to_server.write_all(&words[..count]).is_err() {
                break;
            }
            if how == Cut::BehindTheStatement as u8 {
                let _ = from_store.shutdown(Shutdown::Both);
                return;
            }
        }
        if cutting.load(Ordering::SeqCst) != Cut::BehindTheStatement as u8 {
            let _ = to_server.shutdown(Shutdown::Write);
        }
        let _ = from_store.shutdown(Shutdown::Both);
    });
}
