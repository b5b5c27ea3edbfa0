//! Whose request it is: the address of the client, also behind proxies that the operator trusts (payments.md,
//! section 2). Every door finds it here, and nothing logs or keeps it.

use hyper::header::{GetAll, HeaderValue};
use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Entries of `X-Forwarded-For` that are looked at, from the right. A chain of trusted proxies is shorter.
const HOPS_MAX: usize = 32;

/// Who is counted as one: an IPv4 address, or the /64 of an IPv6 address, which is what one customer of a provider
/// has. It is a value to compare; it does not print.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Client(IpAddr);

/// The proxies whose word about the client is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl Client {
    /// The client that an address stands for. An IPv4 address inside an IPv6 one (mapped, or NAT64 of
    /// `64:ff9b::/96`) counts as itself.
    fn at(address: IpAddr) -> Client {
        Client(match plain(address) {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
            address @ IpAddr::V4(_) => address,
        })
    }
}

impl TrustedProxies {
    /// Reads networks (`10.0.0.0/8`) and addresses. The error is read after the setting's name.
    pub(crate) fn read<'a>(entries: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let net = |entry: &str| {
            entry
                .parse()
                .or_else(|_| entry.parse::<IpAddr>().map(IpNet::from))
        };
        let nets: Result<Vec<_>, _> = entries.map(net).collect();
        nets.map(TrustedProxies)
            .map_err(|_| "must be a list of networks, such as [\"10.0.0.0/8\", \"::1\"]".to_owned())
    }

    /// The networks as texts.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }

    /// The client of a request: the peer, unless that is a trusted proxy. Then `X-Forwarded-For` is walked from
    /// the right, past trusted hops, to the first other address. An entry that is no address ends the walk at
    /// the last good hop, because what is left of it was written by somebody whom we do not know.
    pub(crate) fn client(&self, peer: IpAddr, forwarded_for: &GetAll<'_, HeaderValue>) -> Client {
        let mut last = peer;
        if self.trusts(peer) {
            let lines = forwarded_for.iter().rev();
            let entries = lines.flat_map(|line| line.to_str().unwrap_or("").rsplit(','));
            for entry in entries.take(HOPS_MAX) {
                let Some(hop) = hop(entry.trim()) else {
                    break;
                };
                last = hop;
                if !self.trusts(hop) {
                    break;
                }
            }
        }
        Client::at(last)
    }

    fn trusts(&self, address: IpAddr) -> bool {
        let (address, plain) = (address, plain(address));
        self.0
            .iter()
            .any(|net| net.contains(&address) || net.contains(&plain))
    }
}

/// An entry of `X-Forwarded-For`: an address, perhaps with a port, perhaps in brackets.
fn hop(entry: &str) -> Option<IpAddr> {
    if let Ok(address) = entry.parse() {
        return Some(address);
    }
    if let Ok(socket) = entry.parse::<std::net::SocketAddr>() {
        return Some(socket.ip());
    }
    let inner = entry.strip_prefix('[')?.strip_suffix(']')?;
    inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6)
}

/// The IPv4 address inside an IPv6 one, if there is one.
fn plain(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else {
        return address;
    };
    if let [0x64, 0xff9b, 0, 0, 0, 0, high, low] = v6.segments() {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        return Ipv4Addr::new(a, b, c, d).into();
    }
    address.to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderMap;

    const FORWARDED_FOR: &str = "x-forwarded-for";

    fn client(trusted: &[&str], peer: &str, lines: &[&str]) -> IpAddr {
        let proxies = TrustedProxies::read(trusted.iter().copied()).unwrap();
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED_FOR, HeaderValue::from_str(line).unwrap());
        }
        let forwarded_for = headers.get_all(FORWARDED_FOR);
        proxies.client(peer.parse().unwrap(), &forwarded_for).0
    }

    #[test]
    fn the_client_is_found_behind_trusted_proxies_alone() {
        let cases: &[(&[&str], &str, &[&str], &str)] = &[
            (&[], "192.0.2.1", &["198.51.100.7"], "192.0.2.1"),
            (&["10.0.0.0/8"], "192.0.2.1", &["198.51.100.7"], "192.0.2.1"),
            (&["10.0.0.0/8"], "10.1.1.1", &[], "10.1.1.1"),
            (&["10.0.0.0/8"], "10.1.1.1", &["198.51.100.7"], "198.51.100.7"),
            (
                &["10.0.0.0/8"],
                "10.1.1.1",
                &["1.2.3.4, 198.51.100.7"],
                "198.51.100.7",
            ),
            (
                &["10.0.0.0/8"],
                "10.1.1.1",
                &["198.51.100.7,10.2.2.2"],
                "198.51.100.7",
            ),
            // The lines of a repeated header are one list.
            (
                &["10.0.0.0/8"],
                "10.1.1.1",
                &["1.2.3.4", "198.51.100.7 , 10.2.2.2"],
                "198.51.100.7",
            ),
            (
                &["10.0.0.0/8"],
                "10.1.1.1",
                &["198.51.100.7", "10.2.2.2"],
                "198.51.100.7",
            ),
            // An entry that is no address ends the walk at the last good hop.
            (
                &["10.0.0.0/8"],
                "10.1.1.1",
                &["198.51.100.7, unknown, 10.2.2.2"],
                "10.2.2.2",
            ),
            (&["10.0.0.0/8"], "10.1.1.1", &["198.51.100.7, "], "10.1.1.1"),
            // All hops trusted: the first of them.
            (&["10.0.0.0/8"], "10.1.1.1", &["10.3.3.3, 10.2.2.2"], "10.3.3.3"),
            (&["10.1.1.1"], "10.1.1.1", &["10.3.3.3"], "10.3.3.3"),
            // Ports and brackets, as some proxies write them.
            (
                &["10.0.0.0/8"],
                "10.1.1.1",
                &["198.51.100.7:4711"],
                "198.51.100.7",
            ),
            (&["::1"], "::1", &["[2001:db8:1:2:3::4]:4711"], "2001:db8:1:2::"),
            (&["::1"], "::1", &["[2001:db8:1:2:3::4]"], "2001:db8:1:2::"),
            (
                &["10.0.0.0/8"],
                "::ffff:10.1.1.1",
                &["198.51.100.7"],
                "198.51.100.7",
            ),
        ];
        for (trusted, peer, lines, wanted) in cases {
            let found = client(trusted, peer, lines);
            assert_eq!(
                found,
                wanted.parse::<IpAddr>().unwrap(),
                "{trusted:?} {peer} {lines:?}"
            );
        }
    }

    #[test]
    fn one_customer_is_one_client() {
        let at = |text: &str| Client::at(text.parse().unwrap()).0.to_string();
        assert_eq!(at("198.51.100.7"), "198.51.100.7");
        assert_eq!(at("::ffff:198.51.100.7"), "198.51.100.7");
        assert_eq!(at("64:ff9b::c633:6407"), "198.51.100.7");
        assert_eq!(at("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(at("2001:db8:1:2:ffff::1"), "2001:db8:1:2::");
        assert_eq!(at("2001:db8:1:3::1"), "2001:db8:1:3::");
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for entry in ["", "10.0.0.0/33", "localhost", "10.0.0", "::1/129", "10.0.0.0/8 "] {
            assert!(TrustedProxies::read([entry].into_iter()).is_err(), "{entry:?}");
        }
    }
}
