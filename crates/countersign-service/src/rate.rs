//! How often one client may ask: an option of the operator, off by default.
//!
//! The limiter is `governor`'s, which keeps a key for ever once it has seen it. So its keys are not clients but
//! the numbers of [`SLOTS`] slots, and a client's slot is a hash of it under a random key of the process: memory is
//! bounded by the number of slots, no address is kept, and nobody can choose whose slot to share. Two clients
//! share one by chance: of 10,000 that are active at once, one in a hundred does.

use crate::client::Client;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU32;

/// Slots for clients: about 24 MiB if all are in use.
const SLOTS: u64 = 1 << 20;

/// A limit of requests a minute for each client. The whole minute's may come at once.
pub(crate) struct RateLimit {
    slots: DefaultKeyedRateLimiter<u32>,
    clock: DefaultClock,
    hasher: RandomState,
}

impl RateLimit {
    pub(crate) fn new(per_minute: NonZeroU32) -> Self {
        RateLimit {
            slots: RateLimiter::keyed(Quota::per_minute(per_minute)),
            clock: DefaultClock::default(),
            hasher: RandomState::new(),
        }
    }

    /// Counts a request. `Err`: it is one too many, and the next may come after that many seconds.
    pub(crate) fn count(&self, client: Client) -> Result<(), u64> {
        let slot = (self.hasher.hash_one(client) % SLOTS) as u32;
        self.slots.check_key(&slot).map_err(|until| {
            let wait = until.wait_time_from(self.clock.now());
            wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::TrustedProxies;
    use hyper::header::HeaderMap;
    use std::net::{IpAddr, Ipv6Addr};

    fn client(address: IpAddr) -> Client {
        TrustedProxies::default().client(address, &HeaderMap::new().get_all("x-forwarded-for"))
    }

    #[test]
    fn a_client_may_ask_so_often_and_another_is_not_touched() {
        let limit = RateLimit::new(NonZeroU32::new(3).unwrap());
        let first = client("198.51.100.7".parse().unwrap());
        for _ in 0..3 {
            assert_eq!(limit.count(first), Ok(()));
        }
        let wait = limit.count(first).unwrap_err();
        assert!((1..=20).contains(&wait), "{wait} s");
        assert_eq!(limit.count(client("198.51.100.8".parse().unwrap())), Ok(()));
    }

    #[test]
    fn a_million_clients_stay_within_the_slots() {
        let limit = RateLimit::new(NonZeroU32::new(1).unwrap());
        for number in 0..2 * SLOTS {
            let _ = limit.count(client(Ipv6Addr::from(u128::from(number) << 64).into()));
        }
        assert!(limit.slots.len() as u64 <= SLOTS);
        assert!(limit.slots.len() as u64 > SLOTS / 2);
    }
}
