//! The connection test: every link with its state, and the first bad one by name.

use super::authority::{Authority, NOW, secured};
use super::http_proxy::{HttpProxy, Rules};
use super::socks_proxy::{self, SocksProxy};
use super::*;
use paddock_protocol::{LinkState, LinkTest};
use std::collections::HashMap;

const LINKS: [&str; 6] = ["address", "name", "tcp", "proxy", "tls", "http"];

async fn walk(network: &Network, base_url: &str) -> Vec<LinkTest> {
    let links = test_connection(
        network,
        &BaseUrl::parse(base_url).unwrap(),
        paddock_protocol::ProviderKind::Chat,
    )
    .await;
    let names: Vec<&str> = links.iter().map(|link| link.link.as_str()).collect();
    assert_eq!(names, LINKS, "{links:#?}");
    links
}

/// One letter for each link: good, warning, bad, not tried (`-`).
fn states(links: &[LinkTest]) -> String {
    let letter = |link: &LinkTest| match link.state {
        LinkState::Good => 'g',
        LinkState::Warning => 'w',
        LinkState::Bad => 'b',
        LinkState::NotTried => '-',
    };
    links.iter().map(letter).collect()
}

fn of<'a>(links: &'a [LinkTest], name: &str) -> &'a LinkTest {
    links.iter().find(|link| link.link == name).unwrap()
}

async fn expect(network: &Network, url: &str, states_are: &str, link: &str, says: &str, remedy: &str) {
    let links = walk(network, url).await;
    assert_eq!(states(&links), states_are, "{links:#?}");
    let found = of(&links, link);
    assert!(found.says.contains(says), "{links:#?}");
    assert!(
        found.remedy.clone().unwrap_or_default().contains(remedy),
        "{links:#?}"
    );
}

#[tokio::test]
async fn a_server_on_this_machine() {
    let network = network(NetworkConfig::default());
    let server = model_server().await;
    let links = walk(&network, &server.url("/v1")).await;
    assert_eq!(states(&links), "gggggg", "{links:#?}");
    assert_eq!(
        of(&links, "tcp").says,
        format!("Connected to 127.0.0.1:{}.", port_of(&server))
    );
    assert_eq!(of(&links, "name").says, "None to look up: it is an address.");
    assert!(of(&links, "proxy").says.contains("on this machine"));
    assert_eq!(of(&links, "http").says, "Answers with 200.");
    let closed = format!("http://127.0.0.1:{}/v1", closed_port());
    expect(
        &network,
        &closed,
        "ggb---",
        "tcp",
        "refused the connection",
        "whether the server is up",
    )
    .await;
    let unknown = "https://no-such-host.invalid/v1";
    expect(
        &network,
        unknown,
        "gb----",
        "name",
        "no-such-host.invalid was not found",
        "Check the network",
    )
    .await;
}

#[tokio::test]
async fn tls_says_version_issuer_end_and_whose_certificate_is_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("Corp Proxy CA");
    let server = model_server().await;
    let port = secured(&authority.issue(&["localhost"], NOW), port_of(&server)).await;
    let url = format!("https://localhost:{port}/v1");
    let config = NetworkConfig {
        certificate: Some(authority.file(folder.path())),
        ..NetworkConfig::default()
    };
    let links = walk(&network(config), &url).await;
    assert_eq!(states(&links), "gggggg", "{links:#?}");
    assert_eq!(
        of(&links, "tls").says,
        "TLS 1.3, certificate by Corp Proxy CA, valid until 2060-01-01. Trusted by your extra certificate."
    );
    let without = network(NetworkConfig::default());
    expect(
        &without,
        &url,
        "ggggb-",
        "tls",
        "unknown issuer, \u{201c}Corp Proxy CA\u{201d}",
        "add it under Settings",
    )
    .await;
    let wrong = format!("https://127.0.0.1:{port}/v1");
    expect(
        &without,
        &wrong,
        "ggggb-",
        "tls",
        "is for localhost, not for this host",
        "Check the address",
    )
    .await;
    let plain = greeter("HTTP/1.1 400 Bad Request\r\n\r\n").await;
    let plain = format!("https://localhost:{plain}/v1");
    expect(&without, &plain, "ggggb-", "tls", "does not speak TLS", "http://").await;
    let missing = NetworkConfig {
        certificate: Some(folder.path().join("missing.pem")),
        ..NetworkConfig::default()
    };
    expect(
        &network(missing),
        &url,
        "ggggb-",
        "tls",
        "missing.pem does not exist",
        "Choose a file in PEM form",
    )
    .await;
}

#[tokio::test]
async fn a_proxy_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("Corp Proxy CA");
    let server = model_server().await;
    let port = secured(&authority.issue(&["model.test"], NOW), port_of(&server)).await;
    let mut rules = Rules::to("model.test:443", port);
    rules.hosts.insert("model.test".into(), port_of(&server));
    let proxy = HttpProxy::start(rules.clone()).await;
    let with = |address: &str| {
        network(NetworkConfig {
            certificate: Some(authority.file(folder.path())),
            ..own_proxy(address)
        })
    };
    let links = walk(&with(&proxy.url()), "https://model.test/v1").await;
    assert_eq!(states(&links), "g--ggg", "{links:#?}");
    assert_eq!(
        of(&links, "proxy").says,
        format!("{} (from the settings) connected to model.test:443.", proxy.url())
    );
    let links = walk(&with(&proxy.url()), "http://model.test/v1").await;
    assert_eq!(states(&links), "w--ggg", "{links:#?}");
    assert!(of(&links, "address").says.contains("not encrypted"));
    let variable = by_variables(NetworkConfig::default(), &[("HTTPS_PROXY", proxy.url())]);
    let links = walk(&variable, "https://model.test/v1").await;
    assert_eq!(states(&links), "g--gb-", "{links:#?}");
    assert!(of(&links, "proxy").says.contains("(from HTTPS_PROXY)"));

    let down = format!("http://127.0.0.1:{}", closed_port());
    let secure = "https://model.test/v1";
    expect(
        &with(&down),
        secure,
        "g--b--",
        "proxy",
        "The proxy does not answer",
        "Correct the proxy",
    )
    .await;
    expect(
        &with(&proxy.url()),
        "https://other.test/v1",
        "g--b--",
        "proxy",
        "did not reach other.test:443",
        "address",
    )
    .await;
    rules.login = Some("Basic dXNlcjpnZWhlaW0=".into());
    rules.offers = "Basic";
    let strict = HttpProxy::start(rules).await;
    expect(
        &with(&strict.url()),
        secure,
        "g--b--",
        "proxy",
        "wants a user name",
        "user:password@",
    )
    .await;
    expect(
        &with(&strict.url()),
        "http://model.test/v1",
        "w--bg-",
        "proxy",
        "wants a user name",
        "user:password@",
    )
    .await;
    let wrong = by_variables(NetworkConfig::default(), &[("ALL_PROXY", "ftp://x".into())]);
    expect(
        &wrong,
        secure,
        "g--b--",
        "proxy",
        "The variable ALL_PROXY names no proxy",
        "Correct the variable",
    )
    .await;
    let hosts = HashMap::from([("model.test:443".to_string(), port)]);
    let socks = SocksProxy::start(socks_proxy::Rules { hosts, login: None }).await;
    let links = walk(&with(&format!("socks5h://127.0.0.1:{}", socks.port)), secure).await;
    assert_eq!(states(&links), "g--ggg", "{links:#?}");
}

#[tokio::test]
async fn a_proxy_alone() {
    assert_eq!(test_proxy(&network(NetworkConfig::default())).await, None);
    let proxy = HttpProxy::start(Rules::default()).await;
    let good = test_proxy(&network(own_proxy(&proxy.url()))).await.unwrap();
    assert_eq!((good.link.as_str(), good.state), ("proxy", LinkState::Good));
    assert_eq!(good.says, format!("{} (from the settings) answers.", proxy.url()));
    let down = by_variables(
        NetworkConfig::default(),
        &[("HTTPS_PROXY", format!("127.0.0.1:{}", closed_port()))],
    );
    let bad = test_proxy(&down).await.unwrap();
    assert_eq!(bad.state, LinkState::Bad);
    assert!(bad.says.contains("The proxy does not answer"), "{bad:?}");
    let wrong = by_variables(NetworkConfig::default(), &[("HTTPS_PROXY", "ftp://x".into())]);
    assert!(test_proxy(&wrong).await.unwrap().says.contains("HTTPS_PROXY"));
}

#[tokio::test]
async fn what_answers_may_not_be_a_model_server() {
    let network = network(NetworkConfig::default());
    for (reply, states_are, says, remedy) in [
        (
            Reply::status(401, &[], "{\"error\":\"no key\"}"),
            "gggggg",
            "Answers with 401.",
            "",
        ),
        (
            Reply::status(404, &[], "{\"error\":\"not found\"}"),
            "gggggg",
            "Answers with 404.",
            "",
        ),
        (
            Reply::status(200, &[], " <!doctype html><html>"),
            "gggggb",
            "a web page",
            "login page",
        ),
        (
            Reply::status(302, &[("Location", "https://login.example.com/")], ""),
            "gggggb",
            "another address, https://login.example.com/",
            "address of the server itself",
        ),
        (
            Reply::status(503, &[], "busy"),
            "gggggw",
            "Answers with 503",
            "in a moment",
        ),
        (
            Reply::empty(),
            "gggggb",
            "without an answer",
            "http:// or https://",
        ),
    ] {
        let server = Server::start(vec![reply]).await;
        expect(&network, &server.url("/v1"), states_are, "http", says, remedy).await;
        for seen in server.requests() {
            assert_eq!(seen.header("authorization"), None);
        }
    }
    let offline = NetworkConfig {
        offline: true,
        ..NetworkConfig::default()
    };
    expect(
        &super::network(offline),
        "https://model.test/v1",
        "b-----",
        "address",
        "stay offline",
        "Switch it off",
    )
    .await;
}

#[tokio::test]
async fn whoever_takes_the_connection_and_stays_silent_is_named_after_ten_seconds() {
    let silent = greeter("").await;
    let url = format!("https://127.0.0.1:{silent}/v1");
    let direct = network(NetworkConfig::default());
    let proxied = network(own_proxy(&format!("http://127.0.0.1:{silent}")));
    tokio::join!(
        expect(
            &direct,
            &url,
            "ggggb-",
            "tls",
            "did not secure the connection within 10 seconds",
            "did not speak TLS"
        ),
        expect(
            &proxied,
            "https://model.test/v1",
            "g--b--",
            "proxy",
            "The proxy does not answer",
            "Correct the proxy"
        ),
    );
}
