//! Fetches from real servers on this machine, with names that lead where a test says.

use super::*;
use crate::{WebProxy, WebRoute};
use address::Addresses;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A server that answers each path with what the test says; returns its port and the number of its requests.
fn server(answer: fn(&str, &mut TcpStream)) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((HERE, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let counted = Arc::clone(&counted);
            std::thread::spawn(move || {
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
                    head.push(byte[0]);
                }
                counted.fetch_add(1, Ordering::SeqCst);
                let head = String::from_utf8(head).unwrap();
                assert!(
                    head.starts_with("GET ") && head.contains("accept-encoding: identity"),
                    "{head}"
                );
                assert!(!head.to_lowercase().contains("cookie") && !head.to_lowercase().contains("referer"));
                let path = head.split(' ').nth(1).unwrap();
                answer(path, &mut stream);
            });
        }
    });
    (port, requests)
}

fn send(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // A client that has enough closes the connection.
    let _: std::io::Result<()> = stream.write_all(body);
}

fn ok(stream: &mut TcpStream, content_type: &str, body: &[u8]) {
    send(
        stream,
        "200 OK",
        &format!("content-type: {content_type}\r\n"),
        body,
    );
}

/// All names lead to this machine; counts the look-ups.
fn here() -> (LookUp, Arc<AtomicUsize>) {
    let looked_up = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&looked_up);
    let look_up: LookUp = Arc::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(vec![HERE])
    });
    (look_up, looked_up)
}

fn directly() -> FindRoute {
    Arc::new(|_| Box::pin(async { Ok(WebRoute::default()) }))
}

async fn fetched(url: &str) -> Result<Answer, ToolError> {
    let target = Target::parse(url)?;
    FetchUrl::looking_up(here().0)
        .fetch(&target, HostReach::Loopback, &directly())
        .await
}

async fn refused(url: &str) -> String {
    fetched(url).await.unwrap_err().to_string()
}

fn redirecting(path: &str, stream: &mut TcpStream) {
    let location = match path {
        "/start" => "/next?x=1",
        "/next?x=1" => "next/last",
        "/next/last" => return ok(stream, "text/plain", b"arrived"),
        "/loop" => "/loop",
        "/metadata" => "http://169.254.169.254/latest/meta-data/",
        "/loopback" => "http://127.0.0.1:1/",
        "/other" => "https://other.test/x",
        "/port" => "http://name.test:1/",
        "/user" => "//me:secret@name.test/",
        "/file" => "file:///etc/passwd",
        "/none" => return send(stream, "302 Found", "", b"no address"),
        other => panic!("{other}"),
    };
    send(
        stream,
        "302 Found",
        &format!("location: {location}\r\n"),
        b"moved",
    );
}

#[tokio::test]
async fn redirects_stay_on_the_server_that_was_allowed() {
    let (port, requests) = server(redirecting);
    let base = format!("http://name.test:{port}");
    let (look_up, looked_up) = here();
    let tool = FetchUrl::looking_up(look_up);
    let target = Target::parse(&format!("{base}/start")).unwrap();
    let answer = tool
        .fetch(&target, HostReach::Loopback, &directly())
        .await
        .unwrap();
    assert_eq!((answer.body.as_slice(), answer.status), (&b"arrived"[..], 200));
    assert_eq!(answer.url.path(), "/next/last");
    assert_eq!(
        looked_up.load(Ordering::SeqCst),
        1,
        "a second look-up could lead elsewhere"
    );
    assert_eq!(requests.load(Ordering::SeqCst), 3);
    for (path, address) in [
        ("/metadata", "http://169.254.169.254/latest/meta-data/"),
        ("/loopback", "http://127.0.0.1:1/"),
        ("/other", "https://other.test/x"),
        ("/port", "http://name.test:1/"),
        ("/user", "http://me:secret@name.test/"),
        ("/file", "file:///etc/passwd"),
    ] {
        let before = requests.load(Ordering::SeqCst);
        let text = refused(&format!("{base}{path}")).await;
        assert!(
            text.contains("redirects elsewhere") && text.ends_with(address),
            "{path}: {text}"
        );
        assert_eq!(requests.load(Ordering::SeqCst), before + 1, "{path}");
    }
    assert!(
        refused(&format!("{base}/loop"))
            .await
            .contains("more than 5 times")
    );
    let none = fetched(&format!("{base}/none")).await.unwrap();
    assert_eq!((none.status, none.body.as_slice()), (302, &b"no address"[..]));
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_than_was_known_is_refused() {
    let (port, requests) = server(|_, stream| ok(stream, "text/plain", b"here"));
    let (look_up, _) = here();
    let tool = FetchUrl::looking_up(look_up);
    let target = Target::parse(&format!("http://rebound.test:{port}/")).unwrap();
    assert_eq!(tool.reach_before(&target), HostReach::Unknown);
    for shown in [HostReach::Unknown, HostReach::Public, HostReach::Private] {
        let text = tool
            .fetch(&target, shown, &directly())
            .await
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("this machine itself") && text.contains("nothing was fetched"),
            "{text}"
        );
    }
    assert_eq!(requests.load(Ordering::SeqCst), 0);
    assert_eq!(
        tool.reach_before(&target),
        HostReach::Loopback,
        "the next question says it"
    );
    let answer = tool
        .fetch(&target, HostReach::Loopback, &directly())
        .await
        .unwrap();
    assert_eq!(answer.body, b"here");
    // An address that is written out says itself where it leads.
    let literal = Target::parse(&format!("http://127.0.0.1:{port}/")).unwrap();
    assert!(
        tool.fetch(&literal, HostReach::Unknown, &directly())
            .await
            .is_ok()
    );
    let local = Target::parse(&format!("http://LOCALHOST:{port}/")).unwrap();
    assert!(tool.fetch(&local, HostReach::Unknown, &directly()).await.is_ok());
}

#[tokio::test]
async fn what_a_name_leads_to_is_sorted() {
    let target = Target::parse("https://name.test/").unwrap();
    let look = |addresses: &'static [&'static str]| {
        let look_up: LookUp =
            Arc::new(move |_| Ok(addresses.iter().map(|text| text.parse().unwrap()).collect()));
        let target = target.clone();
        async move { target.look_up(&look_up, LOOK_UP_LIMIT, false).await }
    };
    let at = |text: &str| SocketAddr::new(text.parse().unwrap(), 443);
    let mixed = look(&["93.184.215.14", "169.254.169.254", "10.0.0.1"])
        .await
        .unwrap();
    assert_eq!(
        mixed,
        Addresses {
            all: vec![at("93.184.215.14"), at("10.0.0.1")],
            reach: HostReach::Private
        }
    );
    for (shown, permitted) in [
        (HostReach::Unknown, false),
        (HostReach::Public, false),
        (HostReach::Loopback, false),
        (HostReach::Private, true),
    ] {
        assert_eq!(target.permit(&mixed, shown).is_ok(), permitted, "{shown:?}");
    }
    let only = look(&["fe80::1", "::ffff:169.254.169.254", "0.0.0.0"]).await;
    assert!(only.unwrap_err().to_string().contains("never connected to"));
    assert_eq!(look(&["2606:4700::1111"]).await.unwrap().reach, HostReach::Public);
    assert!(
        look(&[])
            .await
            .unwrap_err()
            .to_string()
            .contains("No address was found")
    );
    let nowhere: LookUp = Arc::new(|_| Err(std::io::ErrorKind::NotFound.into()));
    let by_proxy = target.look_up(&nowhere, LOOK_UP_LIMIT, true).await.unwrap();
    assert_eq!((by_proxy.all.len(), by_proxy.reach), (0, HostReach::Unknown));
    let slow: LookUp = Arc::new(|_| {
        std::thread::sleep(Duration::from_millis(500));
        Ok(vec![HERE])
    });
    assert!(
        target
            .look_up(&slow, Duration::from_millis(20), false)
            .await
            .is_err()
    );
}

#[test]
fn an_argument_is_read_strictly() {
    for (url, host, port) in [
        ("https://Example.COM/a#b", "example.com", 443),
        (" http://bücher.example:8080/ ", "xn--bcher-kva.example", 8080),
        ("http://example.com./", "example.com", 80),
        ("http://[::1]:9/", "::1", 9),
        ("http://0x7f.1/", "127.0.0.1", 80),
        ("http://2130706433/", "127.0.0.1", 80),
    ] {
        let target = Target::parse(url).unwrap();
        assert_eq!((target.host.as_str(), target.port), (host, port), "{url}");
        assert!(target.url.fragment().is_none());
    }
    let long = format!("https://example.com/{}", "a".repeat(5000));
    for url in [
        "",
        "example.com",
        "ftp://example.com/",
        "file:///etc/passwd",
        "javascript:1",
        "https://",
        "https://me:pw@example.com/",
        "https://me@example.com/",
        long.as_str(),
    ] {
        assert!(
            matches!(Target::parse(url), Err(ToolError::Arguments(_))),
            "{url}"
        );
    }
    for never in [
        "http://169.254.169.254/",
        "http://0.0.0.0/",
        "http://[fe80::1]/",
        "http://[::ffff:a9fe:a9fe]/",
    ] {
        assert!(Target::parse(never).unwrap().check().is_err(), "{never}");
    }
}

fn odd(path: &str, stream: &mut TcpStream) {
    match path {
        "/huge" => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n";
            stream.write_all(head.as_bytes()).unwrap();
            let piece = [b'x'; 64 * 1024];
            while stream.write_all(&piece).is_ok() {}
        }
        "/slow" => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n";
            stream.write_all(head.as_bytes()).unwrap();
            while stream.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        "/bomb" => send(stream, "200 OK", "content-encoding: gzip\r\n", &[0x1f; 1000]),
        "/short" => {
            let head = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nonly this";
            stream.write_all(head.as_bytes()).unwrap();
        }
        "/image" => ok(stream, "image/png", &[0; 100]),
        "/hidden" => ok(stream, "application/octet-stream", b"\x89PNG\r\n\x1a\n"),
        "/nul" => ok(stream, "text/plain", b"a\0b"),
        "/latin" => ok(stream, "text/plain; charset=utf-8", b"caf\xe9\x1b[31m\xff"),
        "/page" => ok(stream, "text/html", b"<title>T</title><p>x<script>no</script>"),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn odd_answers_end_well() {
    let (port, _) = server(odd);
    let base = format!("http://name.test:{port}");
    let huge = fetched(&format!("{base}/huge")).await.unwrap();
    assert_eq!((huge.body.len(), huge.is_cut), (MAX_BODY, true));
    for (path, words) in [
        ("/bomb", "compressed"),
        ("/short", "broke off"),
        ("/image", "It is image/png (100 B), not text."),
    ] {
        let text = refused(&format!("{base}{path}")).await;
        assert!(text.contains(words), "{path}: {text}");
    }
    for (path, words) in [
        ("/hidden", "It is a PNG image (8 B), not text."),
        ("/nul", "not text"),
    ] {
        let answer = fetched(&format!("{base}{path}")).await.unwrap();
        let text = page::text(&answer).unwrap_err().to_string();
        assert!(text.contains(words), "{path}: {text}");
    }
    for (path, expected) in [("/latin", "caféÿ"), ("/page", "Title: T\n\nx\n")] {
        let answer = fetched(&format!("{base}{path}")).await.unwrap();
        assert_eq!(page::text(&answer).unwrap(), expected, "{path}");
    }
    let closed = TcpListener::bind((HERE, 0)).unwrap().local_addr().unwrap().port();
    let text = refused(&format!("http://name.test:{closed}/")).await;
    assert!(text.contains("could not be reached on port"), "{text}");
}

#[tokio::test]
async fn a_server_that_trickles_is_left() {
    let (port, _) = server(odd);
    let mut tool = FetchUrl::looking_up(here().0);
    tool.limit = Duration::from_millis(400);
    let target = Target::parse(&format!("http://name.test:{port}/slow")).unwrap();
    assert!(
        tool.in_time(&target, HostReach::Loopback, &directly())
            .await
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_redirect_never_leaves_protection() {
    let to = |from: &str, location: &str| {
        let answer = http::Response::builder().status(301).header("location", location);
        let answer = reqwest::Response::from(answer.body("").unwrap());
        request::next(&from.parse().unwrap(), &answer)
    };
    let text = to("https://a.test/", "http://a.test/").unwrap_err().to_string();
    assert!(text.contains("unprotected"), "{text}");
    let upgraded = to("http://a.test/x", "https://a.test/x").unwrap().unwrap();
    assert_eq!(upgraded.as_str(), "https://a.test/x");
    assert!(to("http://a.test:8080/x", "https://a.test/x").is_err());
    assert!(to("https://a.test/", "https://A.test:443/y").unwrap().is_some());
    assert!(to("https://a.test/", "https://b.a.test/").is_err());
}

/// A proxy that answers itself; the heads that it got.
fn proxy() -> (WebProxy, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind((HERE, 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
                head.push(byte[0]);
            }
            seen.lock()
                .unwrap()
                .push(String::from_utf8(head).unwrap().to_lowercase());
            ok(&mut stream, "text/plain", b"by the proxy");
        }
    });
    let login = Some(("anna".to_owned(), "geheim".to_owned()));
    (WebProxy { address, login }, heads)
}

#[tokio::test]
async fn a_page_goes_through_the_proxy_of_the_settings_and_what_is_near_does_not() {
    let (proxy, heads) = proxy();
    let find: FindRoute = Arc::new(move |_| {
        let proxy = Some(proxy.clone());
        Box::pin(async {
            Ok(WebRoute {
                proxy,
                ..WebRoute::default()
            })
        })
    });
    // Only the proxy knows this name.
    let unknown: LookUp = Arc::new(|_| Err(std::io::ErrorKind::NotFound.into()));
    let tool = FetchUrl::looking_up(unknown);
    let far = Target::parse("http://far.test/page").unwrap();
    let answer = tool.fetch(&far, HostReach::Unknown, &find).await.unwrap();
    assert_eq!(answer.body, b"by the proxy");
    let head = heads.lock().unwrap().remove(0);
    assert!(head.starts_with("get http://far.test/page http/1.1"), "{head}");
    assert!(
        head.contains("proxy-authorization: basic yw5uytpnzwhlaw0="),
        "{head}"
    );

    let (port, requests) = server(|_, stream| ok(stream, "text/plain", b"near"));
    let near = Target::parse(&format!("http://name.test:{port}/")).unwrap();
    let tool = FetchUrl::looking_up(here().0);
    let answer = tool.fetch(&near, HostReach::Loopback, &find).await.unwrap();
    assert_eq!(
        (answer.body.as_slice(), requests.load(Ordering::SeqCst)),
        (&b"near"[..], 1)
    );
    assert!(heads.lock().unwrap().is_empty());
}

#[tokio::test]
async fn where_nothing_may_be_asked_no_name_is_looked_up() {
    let (look_up, looked_up) = here();
    let find: FindRoute = Arc::new(|_| Box::pin(async { Err("Paddock is set to stay offline.".to_owned()) }));
    let target = Target::parse("http://name.test/").unwrap();
    let refused = FetchUrl::looking_up(look_up)
        .fetch(&target, HostReach::Loopback, &find)
        .await
        .unwrap_err();
    assert_eq!(refused.to_string(), "Paddock is set to stay offline.");
    assert_eq!(looked_up.load(Ordering::SeqCst), 0);
}
