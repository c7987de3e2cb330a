//! Certificates: whose is trusted, and what is said of those that are not.

use super::authority::{Authority, Identity, NOW, Years, alone, secured, secured_by_tls_12};
use super::*;
use paddock_protocol::ModelErrorKind;
use std::path::Path;

fn trusting(file: &Path) -> NetworkConfig {
    NetworkConfig {
        certificate: Some(file.to_path_buf()),
        ..NetworkConfig::default()
    }
}

/// The address of a server with this identity.
async fn url_of(identity: &Identity) -> String {
    let server = model_server().await;
    format!(
        "https://localhost:{}/v1",
        secured(identity, port_of(&server)).await
    )
}

#[tokio::test]
async fn an_unknown_issuer_is_refused_and_named_until_its_certificate_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("Corp Proxy CA");
    let url = url_of(&authority.issue(&["localhost", "127.0.0.1"], NOW)).await;
    let refused = error(&network(NetworkConfig::default()), &url).await;
    assert_eq!(refused.kind, ModelErrorKind::Network);
    assert!(!refused.retryable);
    assert_eq!(
        refused.message,
        "The connection is not trusted: the certificate of localhost is signed by an unknown issuer, \u{201c}Corp Proxy CA\u{201d}."
    );
    let hint = refused.hint.unwrap();
    assert!(hint.contains("add it under Settings, Network"), "{hint}");
    assert!(refused.details.unwrap().contains("certificate"));

    let pem = authority.file(folder.path());
    let der = folder.path().join("authority.cer");
    std::fs::write(&der, authority.der()).unwrap();
    let many = folder.path().join("many.pem");
    let other = Authority::new("Another CA").pem();
    std::fs::write(
        &many,
        format!(
            "# Another CA\n{other}\n\nsubject=CN = Corp\r\n{}",
            authority.pem()
        ),
    )
    .unwrap();
    for file in [&pem, &der, &many] {
        assert_eq!(
            ask(&network(trusting(file)), &url).await.unwrap(),
            ["one"],
            "{}",
            file.display()
        );
    }
    let by_address = url.replace("localhost", "127.0.0.1");
    assert_eq!(ask(&network(trusting(&pem)), &by_address).await.unwrap(), ["one"]);
    let variable = by_variables(
        NetworkConfig::default(),
        &[("SSL_CERT_FILE", pem.to_str().unwrap().to_string())],
    );
    assert_eq!(ask(&variable, &url).await.unwrap(), ["one"]);
    let names = |list: Vec<CertificateFacts>| list.into_iter().map(|facts| facts.name).collect::<Vec<_>>();
    let found = network(trusting(&many)).extra_certificates().await.unwrap();
    assert_eq!(names(found), ["Another CA", "Corp Proxy CA"]);
    let found = trusting(&der).certificates().await.unwrap();
    assert_eq!(names(found), ["Corp Proxy CA"]);
    assert_eq!(NetworkConfig::default().certificates().await, Ok(Vec::new()));
}

#[tokio::test]
async fn expired_certificates_and_those_of_other_hosts_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("Corp Proxy CA");
    let network = network(trusting(&authority.file(folder.path())));
    let expired = url_of(&authority.issue(&["localhost"], Years(2019, 2021))).await;
    let early = url_of(&authority.issue(&["localhost"], Years(2050, 2060))).await;
    let other = url_of(&authority.issue(&["model.example.com", "*.example.org"], NOW)).await;
    let alone = url_of(&alone(&["localhost"])).await;
    for (url, message, hint) in [
        (
            expired,
            "localhost expired on 2021-01-01.",
            "clock of this machine",
        ),
        (early, "localhost is valid only from 2050-01-01.", "date and time"),
        (
            other,
            "is for model.example.com, *.example.org, not for this host",
            "Check the address",
        ),
        (
            alone,
            "localhost is signed by itself.",
            "add its certificate file",
        ),
    ] {
        let error = error(&network, &url).await;
        assert!(error.message.contains(message), "{error:?}");
        assert!(error.hint.clone().unwrap().contains(hint), "{error:?}");
        assert!(!error.retryable);
    }
}

#[tokio::test]
async fn a_certificate_that_was_signed_by_itself_can_be_added() {
    let folder = tempfile::tempdir().unwrap();
    let identity = alone(&["localhost"]);
    let file = folder.path().join("server.cer");
    std::fs::write(&file, identity.der()).unwrap();
    let url = url_of(&identity).await;
    assert_eq!(ask(&network(trusting(&file)), &url).await.unwrap(), ["one"]);
}

#[tokio::test]
async fn a_faulty_certificate_file_is_named_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("Corp Proxy CA");
    let url = url_of(&authority.issue(&["localhost"], NOW)).await;
    let whole = authority.pem();
    let damaged = whole.replacen("MII", "M\u{7}I", 1);
    for (name, content, why) in [
        ("none.pem", None, "does not exist"),
        ("empty.pem", Some(""), "holds no certificate"),
        (
            "key.pem",
            Some("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"),
            "a private key and no certificate",
        ),
        ("cut.pem", Some(&whole[..200]), "is cut off"),
        (
            "damaged.pem",
            Some(damaged.as_str()),
            "is damaged: its certificate number 1",
        ),
    ] {
        let file = folder.path().join(name);
        if let Some(content) = content {
            std::fs::write(&file, content).unwrap();
        }
        let at_once = trusting(&file).certificates().await.unwrap_err();
        let by_setting = error(&network(trusting(&file)), &url).await;
        assert!(
            by_setting.message.contains("The extra certificate file"),
            "{by_setting:?}"
        );
        assert!(
            by_setting.message.contains(name) && by_setting.message.contains(why),
            "{by_setting:?}"
        );
        assert!(by_setting.hint.unwrap().contains("Settings, Network"));
        assert_eq!(at_once.message, by_setting.message);
        let path = file.to_str().unwrap().to_string();
        let by_variable = error(
            &by_variables(NetworkConfig::default(), &[("SSL_CERT_FILE", path)]),
            &url,
        )
        .await;
        assert!(by_variable.message.contains("SSL_CERT_FILE") && by_variable.message.contains(why));
        assert!(by_variable.hint.unwrap().contains("the variable"));
    }
}

#[tokio::test]
async fn a_file_that_was_put_right_is_read_with_the_next_request() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("Corp Proxy CA");
    let url = url_of(&authority.issue(&["localhost"], NOW)).await;
    let network = network(trusting(&folder.path().join("authority.pem")));
    assert!(error(&network, &url).await.message.contains("does not exist"));
    authority.file(folder.path());
    assert_eq!(ask(&network, &url).await.unwrap(), ["one"]);
}

#[tokio::test]
async fn a_server_without_tls_and_one_that_hangs_up_are_not_called_untrusted() {
    let network = network(NetworkConfig::default());
    let plain = greeter("HTTP/1.1 400 Bad Request\r\n\r\n").await;
    let error = error(&network, &format!("https://localhost:{plain}/v1")).await;
    assert!(error.message.contains("does not speak TLS"), "{error:?}");
    assert!(error.hint.unwrap().contains("http://"));

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            drop(socket);
        }
    });
    let error = super::error(&network, &url).await;
    assert!(
        error
            .message
            .contains("closed the connection before it was secured"),
        "{error:?}"
    );
    assert!(error.retryable);
}

#[tokio::test]
async fn an_older_tls_is_spoken_too() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("Corp Proxy CA");
    let server = model_server().await;
    let identity = authority.issue(&["localhost"], NOW);
    let port = secured_by_tls_12(&identity, port_of(&server)).await;
    let network = network(trusting(&authority.file(folder.path())));
    let url = BaseUrl::parse(&format!("https://localhost:{port}/v1")).unwrap();
    let links = test_connection(&network, &url, paddock_protocol::ProviderKind::Chat).await;
    let tls = links.iter().find(|link| link.link == "tls").unwrap();
    assert!(
        tls.says
            .starts_with("TLS 1.2, certificate by Corp Proxy CA, valid until 2060-01-01."),
        "{tls:?}"
    );
}
