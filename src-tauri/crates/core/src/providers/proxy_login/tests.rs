#![allow(clippy::unwrap_used)]

use super::*;
use paddock_protocol::{ProviderConfig, ProviderKind};
use paddock_store::Keys;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

fn own(address: &str, login: bool) -> NetworkSettings {
    NetworkSettings {
        proxy: ProxySetting::Own {
            address: address.into(),
            except: String::new(),
            login,
        },
        ..NetworkSettings::default()
    }
}

/// A proxy that answers each request with an empty list of models; the heads that it got.
fn proxy() -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, heads) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
                head.push(byte[0]);
            }
            let _ = sender.send(String::from_utf8(head).unwrap().to_lowercase());
            let body = r#"{"data":[]}"#;
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (address, heads)
}

/// With a server on another machine.
fn providers(keys: Keys) -> Providers {
    let providers = Providers::with_keys(keys);
    providers.configure(vec![ProviderConfig {
        id: ProviderId::new("far"),
        kind: ProviderKind::Chat,
        label: "Far".into(),
        base_url: "http://model.test/v1".into(),
        needs_key: false,
        headers: Vec::new(),
        window: None,
    }]);
    providers
}

async fn asked(providers: &Providers, heads: &mpsc::Receiver<String>) -> String {
    providers.list(&ProviderId::new("far")).await.unwrap();
    heads.try_recv().unwrap()
}

// anna:geheim-1234
const SIGNED: &str = "proxy-authorization: basic yw5uytpnzwhlaw0tmtizna==";

#[tokio::test]
async fn a_typed_login_leaves_the_address_and_signs_in_until_it_is_forgotten() {
    let (address, heads) = proxy();
    let keys = Keys::passing();
    let providers_one = providers(keys.clone());
    let mut settings = own(&format!("http://anna:geheim-1234@{address}"), false);
    providers_one.change_network(&mut settings).await.unwrap();
    assert_eq!(settings, own(&format!("http://{address}"), true));
    assert!(asked(&providers_one, &heads).await.contains(SIGNED));
    let in_keyring = KeyState::InKeyring {
        ends_with: String::new(),
    };
    assert_eq!(providers_one.proxy_login().await, in_keyring);
    assert_eq!(
        providers_one
            .secrets
            .mask("is geheim-1234 shown".into())
            .matches("geheim")
            .count(),
        0
    );

    // A program that starts anew finds it where it is kept, when the proxy is first used.
    let again = providers(keys.clone());
    assert!(!again.load_network(&mut settings));
    assert!(asked(&again, &heads).await.contains(SIGNED));

    again.forget_proxy_login().await.unwrap();
    assert_eq!(again.network_settings(), own(&format!("http://{address}"), false));
    assert!(!asked(&again, &heads).await.contains("proxy-authorization"));
    assert_eq!(again.proxy_login().await, KeyState::Missing);
    assert_eq!(keys.get(&entry()).await, Ok(None));
}

#[tokio::test]
async fn a_password_in_an_old_file_is_moved() {
    let (address, heads) = proxy();
    let keys = Keys::passing();
    let providers = providers(keys.clone());
    let mut settings = own(&format!("http://anna:geheim-1234@{address}"), false);
    assert!(providers.load_network(&mut settings));
    assert_eq!(settings, own(&format!("http://{address}"), true));
    assert!(asked(&providers, &heads).await.contains(SIGNED));
    let kept = keys.get(&entry()).await.unwrap().unwrap();
    assert_eq!(kept.expose(), "anna:geheim-1234");
}

#[tokio::test]
async fn a_login_stays_with_its_own_proxy() {
    let keys = Keys::passing();
    let providers = providers(keys.clone());
    let error = providers.set_proxy_login("anna", "geheim").await.unwrap_err();
    assert!(error.message.contains("No address of a proxy"), "{error}");
    providers
        .change_network(&mut own("proxy:3128", false))
        .await
        .unwrap();
    // That one is kept only Paddock says.
    assert_eq!(providers.proxy_login().await, KeyState::Missing);
    assert!(providers.set_proxy_login("an:na", "geheim").await.is_err());
    providers.set_proxy_login("anna", "ge:heim").await.unwrap();
    let mut same = NetworkSettings {
        offline: true,
        ..own("http://proxy:3128/", false)
    };
    providers.change_network(&mut same).await.unwrap();
    assert_eq!(signed_in_at(&same).as_deref(), Some("http://proxy:3128"));
    assert!(keys.get(&entry()).await.unwrap().is_some());
    let mut other = own("other:3128", true);
    providers.change_network(&mut other).await.unwrap();
    assert_eq!(other, own("other:3128", false));
    assert_eq!(keys.get(&entry()).await, Ok(None));
}
