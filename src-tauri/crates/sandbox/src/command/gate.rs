//! Who decides about a command's connections. With `Network::Asks` a command has no network but a proxy of ours; for every
//! connection the proxy asks the gate, which the host of this crate makes: by rules, or by asking a person.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// Decides about connections. Both questions come on a thread of their own for each connection and may block for as long as
/// a person needs; an answer that comes after the end of the command does nothing.
pub trait HostGate: Send + Sync {
    /// Whether a name may be looked up. A look-up alone already tells the name to servers outside, and with it whatever
    /// a command wrote into the name; so a gate that does not know the host should decide here.
    fn admit_name(&self, _host: &str, _port: u16) -> Admission {
        Admission::Allow
    }

    /// Whether this connection may be made.
    fn admit(&self, target: &HostTarget) -> Admission;
}

/// The gate of a command.
#[derive(Clone)]
pub struct Gate(pub Arc<dyn HostGate>);

impl Gate {
    pub fn new(gate: impl HostGate + 'static) -> Self {
        Self(Arc::new(gate))
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Gate")
    }
}

/// What a command wants to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostTarget {
    /// A name or an address: lower case, ASCII, no trailing dot, no brackets.
    pub host: String,
    pub port: u16,
    /// Where the name leads; exactly the addresses that were looked at are connected to.
    pub reach: AddressReach,
    /// Method and address of a plain HTTP request; none for a tunnel.
    pub first_line: Option<String>,
}

/// Whose network an address is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressReach {
    Public,
    /// A network of the home, the company or the provider.
    Private,
    /// This machine.
    Loopback,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    Allow,
    Refuse,
}

/// Addresses that hand out credentials of a cloud machine, beyond the link-local ones.
const METADATA_V4: &[Ipv4Addr] = &[Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16)];
const METADATA_V6: &[Ipv6Addr] = &[
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
];

/// Whose network an address is in; none for addresses that no command is ever connected to: link-local ones, metadata
/// of clouds, multicast, reserved and unspecified ones. Addresses that carry another one in them count as that one.
pub fn address_reach(address: IpAddr) -> Option<AddressReach> {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

fn reach_v4(address: Ipv4Addr) -> Option<AddressReach> {
    let [a, b, c, _] = address.octets();
    if METADATA_V4.contains(&address) {
        return None;
    }
    match (a, b, c) {
        (0 | 224.., _, _) | (169, 254, _) | (192, 0, 0) | (192, 88, 99) => None,
        (127, _, _) => Some(AddressReach::Loopback),
        // The last ones are for examples and measurements; some proxies use them within a machine.
        (10, _, _)
        | (172, 16..=31, _)
        | (192, 168, _)
        | (100, 64..=127, _)
        | (198, 18..=19, _)
        | (192, 0, 2)
        | (198, 51, 100)
        | (203, 0, 113) => Some(AddressReach::Private),
        _ => Some(AddressReach::Public),
    }
}

fn reach_v6(address: Ipv6Addr) -> Option<AddressReach> {
    let parts = address.segments();
    let carried = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        reach_v4(Ipv4Addr::new(a, b, c, d))
    };
    if address == Ipv6Addr::LOCALHOST {
        return Some(AddressReach::Loopback);
    }
    if METADATA_V6.contains(&address) {
        return None;
    }
    match parts {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => carried(high, low),
        [0x2002, high, low, ..] => carried(high, low),
        // Tunnels whose far end cannot be known.
        [0x2001, 0, ..] => None,
        [0x2001, 0xdb8, ..] => Some(AddressReach::Private),
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => Some(AddressReach::Private),
        [0x2000..=0x3fff, ..] => Some(AddressReach::Public),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        use AddressReach::{Loopback, Private, Public};
        for (text, reach) in [
            ("93.184.215.14", Some(Public)),
            ("8.8.8.8", Some(Public)),
            ("172.15.0.1", Some(Public)),
            ("172.32.0.1", Some(Public)),
            ("127.0.0.1", Some(Loopback)),
            ("127.8.9.1", Some(Loopback)),
            ("10.0.0.1", Some(Private)),
            ("172.16.0.1", Some(Private)),
            ("172.31.255.255", Some(Private)),
            ("192.168.1.1", Some(Private)),
            ("100.64.0.1", Some(Private)),
            ("198.18.0.1", Some(Private)),
            ("100.100.100.200", None),
            ("168.63.129.16", None),
            ("169.254.169.254", None),
            ("0.0.0.0", None),
            ("0.1.2.3", None),
            ("224.0.0.1", None),
            ("240.0.0.1", None),
            ("255.255.255.255", None),
            ("192.0.0.192", None),
            ("::", None),
            ("::1", Some(Loopback)),
            ("::2", None),
            ("::127.0.0.1", None),
            ("::ffff:127.0.0.1", Some(Loopback)),
            ("::ffff:169.254.169.254", None),
            ("::ffff:8.8.8.8", Some(Public)),
            ("64:ff9b::7f00:1", Some(Loopback)),
            ("64:ff9b::a9fe:a9fe", None),
            ("64:ff9b::808:808", Some(Public)),
            ("64:ff9b:1::1", None),
            ("2002:7f00:1::", Some(Loopback)),
            ("2002:a9fe:a9fe::1", None),
            ("2002:808:808::1", Some(Public)),
            ("2001:0:1::1", None),
            ("2001:db8::1", Some(Private)),
            ("2606:4700::1111", Some(Public)),
            ("fe80::1", None),
            ("febf::1", None),
            ("fec0::1", Some(Private)),
            ("fc00::1", Some(Private)),
            ("fd12::1", Some(Private)),
            ("fd00:ec2::254", None),
            ("fd20:ce::254", None),
            ("ff02::1", None),
            ("100::1", None),
            ("4000::1", None),
        ] {
            assert_eq!(address_reach(text.parse().unwrap()), reach, "{text}");
        }
    }
}
