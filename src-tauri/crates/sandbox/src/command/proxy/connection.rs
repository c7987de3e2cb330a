//! One connection of a command through the proxy: what it asks for, the gate's answer, then bytes both ways.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

use super::Shared;
use super::request::{self, Request, literal};
use super::socks::{self, Reply};
use crate::command::gate::{AddressReach, Admission, HostTarget, address_reach};

const MAX_HEAD: usize = 16 * 1024;
const HEAD_TIME: Duration = Duration::from_secs(30);
const CONNECT_TIME: Duration = Duration::from_secs(10);
const MAX_ADDRESSES: usize = 4;

/// Why there is no connection; the sentence is for the program and its reader.
enum Refusal {
    NotAllowed,
    /// No person may allow it either.
    Never(&'static str),
    Unknown,
    NoAnswer,
}

/// Serves a connection to its end.
pub(super) fn serve(shared: &Shared, number: u64, mut near: TcpStream) -> io::Result<()> {
    near.set_read_timeout(Some(HEAD_TIME))?;
    let mut first = [0];
    near.read_exact(&mut first)?;
    if first[0] == socks::VERSION {
        return serve_socks(shared, number, near);
    }
    let Some((head, rest)) = read_head(&mut near, first[0])? else {
        return say(
            &mut near,
            "431 Request Header Fields Too Large",
            "The request is too large.",
        );
    };
    near.set_read_timeout(None)?;
    match request::read(&head) {
        None => say(
            &mut near,
            "400 Bad Request",
            "This is Paddock's proxy; it takes CONNECT, and plain HTTP with a full address.",
        ),
        Some(Request::Tunnel { host, port }) => match reach(shared, &host, port, None) {
            Err(refusal) => refuse(&mut near, &host, port, &refusal),
            Ok(mut far) => {
                shared.add(number, &far)?;
                near.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
                far.write_all(&rest)?;
                pass(near, far)
            }
        },
        Some(Request::Plain {
            host,
            port,
            shown,
            head,
        }) => match reach(shared, &host, port, Some(shown)) {
            Err(refusal) => refuse(&mut near, &host, port, &refusal),
            Ok(mut far) => {
                shared.add(number, &far)?;
                far.write_all(head.as_bytes())?;
                far.write_all(&rest)?;
                pass(near, far)
            }
        },
    }
}

fn serve_socks(shared: &Shared, number: u64, mut near: TcpStream) -> io::Result<()> {
    let Some((host, port)) = socks::read(&mut near)? else {
        return Ok(());
    };
    near.set_read_timeout(None)?;
    match reach(shared, &host, port, None) {
        Err(Refusal::NotAllowed | Refusal::Never(_)) => socks::answer(&mut near, Reply::NotAllowed),
        Err(Refusal::Unknown | Refusal::NoAnswer) => socks::answer(&mut near, Reply::Unreachable),
        Ok(far) => {
            shared.add(number, &far)?;
            socks::answer(&mut near, Reply::Done)?;
            pass(near, far)
        }
    }
}

/// Reads to the empty line; what came behind it is the start of the body. None when there is no end in sight.
fn read_head(near: &mut TcpStream, first: u8) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    const END: &[u8] = b"\r\n\r\n";
    let mut bytes = vec![first];
    let mut buffer = [0; 4096];
    loop {
        if let Some(at) = bytes.windows(END.len()).position(|window| window == END) {
            let rest = bytes.split_off(at + END.len());
            bytes.truncate(at);
            return Ok(Some((bytes, rest)));
        }
        if bytes.len() > MAX_HEAD {
            return Ok(None);
        }
        match near.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Looks a host up, asks the gate, connects.
fn reach(shared: &Shared, host: &str, port: u16, first_line: Option<String>) -> Result<TcpStream, Refusal> {
    let not_allowed = || {
        shared.note_refused(host, port);
        Refusal::NotAllowed
    };
    let gate = shared.gate.as_ref().ok_or_else(not_allowed)?;
    let found = match literal(host) {
        Some(address) => vec![address],
        None => {
            if !shared.may_look_up(host) || gate.0.admit_name(host, port) == Admission::Refuse {
                return Err(not_allowed());
            }
            if shared.is_over() {
                return Err(Refusal::NotAllowed);
            }
            look_up(host, port)?
        }
    };
    let reachable: Vec<(IpAddr, AddressReach)> = found
        .into_iter()
        .filter_map(|address| Some((address, reach_from_here(address)?)))
        .take(MAX_ADDRESSES)
        .collect();
    // A name that leads to several networks counts as the nearest of them.
    let Some(nearest) = reachable.iter().map(|(_, reach)| *reach).max() else {
        return Err(Refusal::Never(
            "is an address of this machine's link or of its cloud, which no command may reach",
        ));
    };
    let target = HostTarget {
        host: host.to_owned(),
        port,
        reach: nearest,
        first_line,
    };
    if gate.0.admit(&target) == Admission::Refuse {
        return Err(not_allowed());
    }
    shared.is_known(host);
    if shared.is_over() {
        return Err(Refusal::NotAllowed);
    }
    reachable
        .iter()
        .find_map(|(address, _)| {
            TcpStream::connect_timeout(&SocketAddr::new(*address, port), CONNECT_TIME).ok()
        })
        .ok_or(Refusal::NoAnswer)
}

fn look_up(host: &str, port: u16) -> Result<Vec<IpAddr>, Refusal> {
    let found: Vec<IpAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|_| Refusal::Unknown)?
        .map(|address| address.ip())
        .collect();
    if found.is_empty() {
        return Err(Refusal::Unknown);
    }
    Ok(found)
}

/// Like `address_reach`, where an address of this machine in any network counts as this machine.
fn reach_from_here(address: IpAddr) -> Option<AddressReach> {
    let reach = address_reach(address)?;
    // Only an address of one's own can be taken.
    if UdpSocket::bind((address, 0)).is_ok() {
        return Some(AddressReach::Loopback);
    }
    Some(reach)
}

fn refuse(near: &mut TcpStream, host: &str, port: u16, refusal: &Refusal) -> io::Result<()> {
    let at = request::written(host, port, 0);
    match refusal {
        Refusal::NotAllowed => say(
            near,
            &format!("403 Paddock does not allow {at}"),
            &format!(
                "Paddock: connections of this command to {at} are not allowed; retrying alone will not help."
            ),
        ),
        Refusal::Never(why) => say(
            near,
            &format!("403 Paddock never allows {at}"),
            &format!("Paddock: {at} {why}."),
        ),
        Refusal::Unknown => say(
            near,
            "502 Unknown host",
            &format!("Paddock: the name {host} could not be found."),
        ),
        Refusal::NoAnswer => say(
            near,
            "502 No connection",
            &format!("Paddock: {at} was allowed, but does not answer."),
        ),
    }
}

fn say(near: &mut TcpStream, status: &str, sentence: &str) -> io::Result<()> {
    let length = sentence.len() + 1;
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{sentence}\n"
    );
    near.write_all(answer.as_bytes())?;
    near.shutdown(Shutdown::Write)?;
    // Closing with unread bytes would reset the connection and lose the answer.
    near.set_read_timeout(Some(Duration::from_secs(1)))?;
    let _ = io::copy(&mut near.take(MAX_HEAD as u64), &mut io::sink());
    Ok(())
}

/// Passes bytes both ways until both sides are done.
fn pass(near: TcpStream, far: TcpStream) -> io::Result<()> {
    let (mut up_from, mut up_to) = (near.try_clone()?, far.try_clone()?);
    let up = std::thread::Builder::new()
        .name("command connection".into())
        .spawn(move || {
            let _ = io::copy(&mut up_from, &mut up_to);
            let _ = up_to.shutdown(Shutdown::Write);
        })?;
    let (mut down_from, mut down_to) = (&far, &near);
    let copied = io::copy(&mut down_from, &mut down_to);
    let _ = near.shutdown(if copied.is_ok() {
        Shutdown::Write
    } else {
        Shutdown::Both
    });
    let _ = up.join();
    Ok(())
}
