//! SOCKS 5, as far as programs use it that make connections: no account, names or addresses.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr};

use super::request::host;

pub(super) const VERSION: u8 = 5;

/// Why a connection was not made.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reply {
    Done = 0,
    NotAllowed = 2,
    Unreachable = 4,
    CommandUnknown = 7,
    AddressUnknown = 8,
}

/// Reads a request, whose first byte was read already; none after one that was answered with a refusal.
pub(super) fn read(stream: &mut (impl Read + Write)) -> io::Result<Option<(String, u16)>> {
    let [count] = take(stream)?;
    let mut methods = vec![0; usize::from(count)];
    stream.read_exact(&mut methods)?;
    if !methods.contains(&0) {
        stream.write_all(&[VERSION, 0xFF])?;
        return Ok(None);
    }
    stream.write_all(&[VERSION, 0])?;
    let [version, command, _, kind] = take(stream)?;
    if version != VERSION {
        return Ok(None);
    }
    let name = match kind {
        1 => Some(Ipv4Addr::from(take::<4>(stream)?).to_string()),
        3 => {
            let [length] = take(stream)?;
            let mut name = vec![0; usize::from(length)];
            stream.read_exact(&mut name)?;
            String::from_utf8(name).ok()
        }
        4 => Some(Ipv6Addr::from(take::<16>(stream)?).to_string()),
        _ => None,
    };
    let Some(host) = name.as_deref().and_then(host) else {
        answer(stream, Reply::AddressUnknown)?;
        return Ok(None);
    };
    let port = u16::from_be_bytes(take(stream)?);
    if command != 1 || port == 0 {
        answer(stream, Reply::CommandUnknown)?;
        return Ok(None);
    }
    Ok(Some((host, port)))
}

/// Answers a request.
pub(super) fn answer(stream: &mut impl Write, reply: Reply) -> io::Result<()> {
    stream.write_all(&[VERSION, reply as u8, 0, 1, 0, 0, 0, 0, 0, 0])
}

fn take<const COUNT: usize>(stream: &mut impl Read) -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}
