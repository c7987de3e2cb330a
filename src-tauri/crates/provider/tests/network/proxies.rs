//! Proxies: chosen by setting and by variable, with and without a login, and what is said when they do not do it.

use super::authority::{Authority, NOW, secured};
use super::http_proxy::{HttpProxy, Rules};
use super::socks_proxy::{self, SocksProxy};
use super::*;
use paddock_protocol::ModelErrorKind;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const HOST: &str = "model.test";
/// "user:geheim" as the header has it.
const LOGIN: &str = "Basic dXNlcjpnZWhlaW0=";

/// A model server behind TLS, which only proxies reach: as `model.test` and as 192.0.2.7.
struct Far {
    server: Server,
    port: u16,
    certificate: PathBuf,
    _folder: tempfile::TempDir,
}

impl Far {
    async fn start() -> Self {
        Self::with(model_server().await).await
    }

    async fn with(server: Server) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new("Corp Proxy CA");
        let identity = authority.issue(&[HOST, "192.0.2.7", "localhost"], NOW);
        Self {
            port: secured(&identity, port_of(&server)).await,
            certificate: authority.file(folder.path()),
            server,
            _folder: folder,
        }
    }

    fn rules(&self) -> Rules {
        Rules::to(&format!("{HOST}:443"), self.port)
    }

    fn by(&self, proxy: &str) -> Network {
        network(NetworkConfig {
            certificate: Some(self.certificate.clone()),
            ..own_proxy(proxy)
        })
    }
}

#[tokio::test]
async fn a_proxy_of_the_settings_is_asked_to_connect() {
    let far = Far::start().await;
    let proxy = HttpProxy::start(far.rules()).await;
    let network = far.by(&proxy.url());
    assert_eq!(ask(&network, "https://model.test/v1").await.unwrap(), ["one"]);
    assert_eq!(
        proxy.heads(),
        ["CONNECT model.test:443 HTTP/1.1\r\nHost: model.test:443\r\n\r\n"]
    );
    assert_eq!(far.server.requests()[0].line, "GET /v1/models HTTP/1.1");
    assert_eq!(far.server.requests()[0].header("proxy-authorization"), None);
}

#[tokio::test]
async fn requests_without_tls_are_passed_on_with_the_whole_address() {
    let server = model_server().await;
    let mut rules = Rules::to(HOST, port_of(&server));
    rules.login = Some(LOGIN.into());
    let proxy = HttpProxy::start(rules).await;
    let address = format!("http://user:geheim@127.0.0.1:{}", proxy.port);
    let url = format!("http://{HOST}/v1");
    assert_eq!(ask(&network(own_proxy(&address)), &url).await.unwrap(), ["one"]);
    let head = proxy.heads().remove(0);
    assert!(
        head.starts_with("GET http://model.test/v1/models HTTP/1.1\r\n"),
        "{head}"
    );
    let refused = error(&network(own_proxy(&proxy.url())), &url).await;
    assert!(
        refused.message.contains("wants a user name and a password"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_login_is_given_and_a_missing_wrong_or_foreign_one_is_named() {
    let far = Far::start().await;
    let mut rules = far.rules();
    rules.login = Some(LOGIN.into());
    rules.offers = "Basic realm=\"corp\"";
    let proxy = HttpProxy::start(rules.clone()).await;
    let with = |login: &str| format!("http://{login}127.0.0.1:{}", proxy.port);
    let url = "https://model.test/v1";
    assert_eq!(ask(&far.by(&with("user:geheim@")), url).await.unwrap(), ["one"]);
    let missing = error(&far.by(&with("")), url).await;
    assert!(
        missing.message.ends_with("wants a user name and a password."),
        "{missing:?}"
    );
    assert!(missing.hint.unwrap().contains("http://user:password@host:port"));
    let wrong = error(&far.by(&with("user:verkehrt@")), url).await;
    assert!(
        wrong.message.ends_with("refused the user name or the password."),
        "{wrong:?}"
    );
    assert!(!wrong.retryable);
    assert!(!format!("{wrong:?}").contains("verkehrt"));
    rules.offers = "NTLM";
    let ntlm = HttpProxy::start(rules).await;
    let foreign = error(&far.by(&ntlm.url()), url).await;
    assert!(foreign.hint.unwrap().contains("takes NTLM only"));
}

#[tokio::test]
async fn a_proxy_that_is_down_unknown_or_none_is_named_as_the_proxy() {
    let far = Far::start().await;
    let mail = greeter("220 mail.example.com ESMTP\r\n\r\n").await;
    let down = closed_port();
    for (address, message) in [
        (
            format!("http://127.0.0.1:{down}"),
            format!("The proxy does not answer: 127.0.0.1:{down} refused"),
        ),
        (
            format!("socks5h://127.0.0.1:{down}"),
            format!("The proxy does not answer: 127.0.0.1:{down} refused"),
        ),
        (
            "http://no-such-proxy.invalid:3128".into(),
            "The proxy does not answer: the name of no-such-proxy.invalid:3128 was not found".into(),
        ),
        (
            format!("http://127.0.0.1:{mail}"),
            "does not answer as a proxy of this kind".into(),
        ),
        (
            format!("socks5h://127.0.0.1:{mail}"),
            "does not answer as a proxy of this kind".into(),
        ),
    ] {
        // What a mail server says to a request without TLS is taken for the answer of the model server.
        let passed_on = address.starts_with("http://") && address.ends_with(&mail.to_string());
        let urls = ["https://model.test/v1", "http://model.test/v1"];
        for url in urls.iter().take(if passed_on { 1 } else { 2 }) {
            let error = error(&far.by(&address), url).await;
            assert_eq!(error.kind, ModelErrorKind::Network);
            assert!(error.message.contains(&message), "{address}: {error:?}");
            assert!(
                error.hint.clone().unwrap().contains("Settings, Network"),
                "{error:?}"
            );
        }
    }
    assert!(far.server.requests().is_empty());
}

#[tokio::test]
async fn what_a_proxy_does_not_allow_or_not_reach_is_told_apart() {
    let far = Far::start().await;
    let forbidding = HttpProxy::start(Rules {
        refusal: Some("HTTP/1.1 403 Forbidden by policy\r\nContent-Length: 0\r\n\r\n"),
        ..Rules::default()
    })
    .await;
    let denied = error(&far.by(&forbidding.url()), "https://model.test/v1").await;
    assert!(
        denied
            .message
            .contains("does not let requests to model.test:443 pass: 403 Forbidden by policy")
    );
    assert!(!denied.retryable);
    let proxy = HttpProxy::start(far.rules()).await;
    let lost = error(&far.by(&proxy.url()), "https://elsewhere.test/v1").await;
    assert!(
        lost.message
            .contains("did not reach elsewhere.test:443: 502 Host unknown"),
        "{lost:?}"
    );
    assert!(lost.retryable);
}

#[tokio::test]
async fn a_proxy_can_be_spoken_with_through_tls() {
    let far = Far::start().await;
    let proxy = HttpProxy::start(far.rules()).await;
    let authority = Authority::new("CA of the proxy");
    let folder = tempfile::tempdir().unwrap();
    let port = secured(&authority.issue(&["localhost"], NOW), proxy.port).await;
    let both = folder.path().join("both.pem");
    let far_pem = std::fs::read_to_string(&far.certificate).unwrap();
    std::fs::write(&both, far_pem + &authority.pem()).unwrap();
    let address = format!("https://localhost:{port}");
    let trusted = network(NetworkConfig {
        certificate: Some(both),
        ..own_proxy(&address)
    });
    assert_eq!(ask(&trusted, "https://model.test/v1").await.unwrap(), ["one"]);
    let error = error(&far.by(&address), "https://model.test/v1").await;
    assert!(error.message.contains("connection to the proxy"), "{error:?}");
    assert!(error.message.contains("certificate of localhost"), "{error:?}");
}

#[tokio::test]
async fn a_socks_proxy_is_given_the_name_or_the_address() {
    let far = Far::start().await;
    let hosts = HashMap::from([
        ("model.test:443".to_string(), far.port),
        ("192.0.2.7:443".to_string(), far.port),
    ]);
    let rules = socks_proxy::Rules { hosts, login: None };
    let proxy = SocksProxy::start(rules.clone()).await;
    let by_name = far.by(&format!("socks5h://127.0.0.1:{}", proxy.port));
    assert_eq!(ask(&by_name, "https://model.test/v1").await.unwrap(), ["one"]);
    let by_address = far.by(&format!("socks5://127.0.0.1:{}", proxy.port));
    assert_eq!(ask(&by_address, "https://192.0.2.7/v1").await.unwrap(), ["one"]);
    assert_eq!(proxy.asked(), ["name model.test:443", "address 192.0.2.7:443"]);
    let unknown = error(&by_address, "https://model.test/v1").await;
    assert!(
        unknown.message.contains("the name model.test was not found"),
        "{unknown:?}"
    );
    let lost = error(&by_name, "https://elsewhere.test/v1").await;
    assert!(
        lost.message
            .contains("did not reach elsewhere.test:443: Host unreachable"),
        "{lost:?}"
    );

    let login = Some(("user", "geheim"));
    let proxy = SocksProxy::start(socks_proxy::Rules { login, ..rules }).await;
    let with = |login: &str| far.by(&format!("socks5h://{login}127.0.0.1:{}", proxy.port));
    assert_eq!(
        ask(&with("user:geheim@"), "https://model.test/v1").await.unwrap(),
        ["one"]
    );
    let missing = error(&with(""), "https://model.test/v1").await;
    assert!(missing.message.contains("wants a user name"), "{missing:?}");
    let wrong = error(&with("user:verkehrt@"), "https://model.test/v1").await;
    assert!(wrong.message.contains("refused the user name"), "{wrong:?}");
    assert!(!format!("{wrong:?}").contains("verkehrt"));
}

#[tokio::test]
async fn exceptions_and_this_machine_never_meet_the_proxy() {
    let far = Far::start().await;
    let proxy = HttpProxy::start(far.rules()).await;
    let url = proxy.url();
    let excepting = by_variables(
        NetworkConfig::default(),
        &[("HTTPS_PROXY", url.clone()), ("NO_PROXY", "model.test".into())],
    );
    let excepted = error(&excepting, "https://model.test/v1").await;
    assert!(
        excepted.message.contains("the name model.test was not found"),
        "{excepted:?}"
    );
    let everything = by_variables(
        NetworkConfig {
            certificate: Some(far.certificate.clone()),
            ..NetworkConfig::default()
        },
        &[("ALL_PROXY", url.clone()), ("HTTP_PROXY", url)],
    );
    for network in [&everything, &far.by(&proxy.url())] {
        let plain = far.server.url("/v1");
        assert_eq!(ask(network, &plain).await.unwrap(), ["one"]);
        let secure = format!("https://localhost:{}/v1", far.port);
        assert_eq!(ask(network, &secure).await.unwrap(), ["one"]);
    }
    assert!(proxy.heads().is_empty());
    assert_eq!(ask(&everything, "https://model.test/v1").await.unwrap(), ["one"]);
    assert_eq!(proxy.heads().len(), 1);
}

/// The variables of a real process: the test starts itself with them, and is then the process that asks.
#[test]
fn the_variables_of_the_process_count() {
    const ROLE: &str = "PADDOCK_TEST_ASK";
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if let Ok(url) = std::env::var(ROLE) {
        let answer = runtime.block_on(ask(&Network::default(), &url));
        println!("asked: {answer:?}");
        return;
    }
    runtime.block_on(async {
        let far = Far::start().await;
        let proxy = HttpProxy::start(far.rules()).await;
        let asked = async |url: &str, except: &str| {
            let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
            child.args([
                "--exact",
                "proxies::the_variables_of_the_process_count",
                "--nocapture",
            ]);
            for name in [
                "http_proxy",
                "https_proxy",
                "all_proxy",
                "no_proxy",
                "HTTP_PROXY",
                "ALL_PROXY",
            ] {
                child.env_remove(name);
            }
            child
                .env(ROLE, url)
                .env("HTTPS_PROXY", proxy.url())
                .env("NO_PROXY", except);
            child.env("SSL_CERT_FILE", &far.certificate);
            let output = child.output().await.unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let said = asked("https://model.test/v1", "").await;
        assert!(said.contains("asked: Ok([\"one\"])"), "{said}");
        let said = asked("https://model.test/v1", "other.test,.test").await;
        assert!(said.contains("the name model.test was not found"), "{said}");
        let said = asked(&format!("https://localhost:{}/v1", far.port), "").await;
        assert!(said.contains("asked: Ok([\"one\"])"), "{said}");
        assert_eq!(proxy.heads().len(), 1);
    });
}

#[tokio::test]
async fn an_answer_streams_through_a_proxy_and_ends_at_both_sides_when_it_is_dropped() {
    let mut reply = Reply::stream();
    for _ in 0..200 {
        reply = reply.bytes(chunk("more ")).wait(50);
    }
    let far = Far::with(Server::start(vec![reply]).await).await;
    let proxy = HttpProxy::start(far.rules()).await;
    let provider = provider(&far.by(&proxy.url()), "https://model.test/v1");
    let started = Instant::now();
    let mut arrived = Vec::new();
    let request = request();
    let mut on_event = |event: ModelEvent| {
        if matches!(event, ModelEvent::Text(_)) {
            arrived.push(started.elapsed());
        }
    };
    let sample = provider.sample(&request, &mut on_event);
    assert!(
        tokio::time::timeout(Duration::from_millis(1_500), sample)
            .await
            .is_err()
    );
    assert!(arrived.len() > 5, "{arrived:?}");
    let apart = *arrived.last().unwrap() - arrived[0];
    assert!(apart > Duration::from_millis(200), "{arrived:?}");
    let dropped = Instant::now();
    while !far.server.was_hung_up() {
        assert!(
            dropped.elapsed() < Duration::from_secs(3),
            "the server still sends"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
