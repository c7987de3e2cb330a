//! Settings that change while the program runs, and settings that cannot be read.

use super::http_proxy::{HttpProxy, Rules};
use super::*;
use paddock_protocol::ErrorCode;

const URL: &str = "http://model.test/v1";

fn own(address: &str, except: &str) -> NetworkSettings {
    NetworkSettings {
        proxy: ProxySetting::Own {
            address: address.into(),
            except: except.into(),
            login: false,
        },
        ..NetworkSettings::default()
    }
}

#[tokio::test]
async fn the_next_request_goes_the_new_way_with_the_same_provider() {
    let server = Server::start(vec![Reply::kept_open("{\"data\":[{\"id\":\"one\"}]}"); 4]).await;
    let first = HttpProxy::to("model.test", port_of(&server)).await;
    let second = HttpProxy::to("model.test", port_of(&server)).await;
    let network = network(own_proxy(&first.url()));
    let provider = provider(&network, URL);
    provider.models().await.unwrap();
    provider.models().await.unwrap();
    assert_eq!(first.heads().len(), 1, "the connection was used again");
    network.change(own_proxy(&second.url()));
    provider.models().await.unwrap();
    assert_eq!((first.heads().len(), second.heads().len()), (1, 1));
    network.change(NetworkConfig {
        proxy: ProxyChoice::None,
        ..NetworkConfig::default()
    });
    let error = provider.models().await.unwrap_err();
    assert!(
        error.message.contains("the name model.test was not found"),
        "{error:?}"
    );
    assert_eq!((first.heads().len(), second.heads().len()), (1, 1));
}

#[tokio::test]
async fn settings_that_cannot_be_read_stop_requests_to_others_instead_of_sending_them_directly() {
    let server = model_server().await;
    let proxy = HttpProxy::start(Rules::to("model.test", port_of(&server))).await;
    let network = network(own_proxy(&proxy.url()));
    for (settings, says) in [
        (own("ftp://user:geheim@proxy:21", ""), "does not speak ftp"),
        (own("", ""), "The address of the proxy is empty"),
        (own("proxy:3128", "10.0.0.0/99"), "10.0.0.0/99"),
    ] {
        let wrong = network.apply(&settings, None).unwrap_err();
        assert_eq!(wrong.code, ErrorCode::BadRequest);
        assert!(wrong.message.contains(says), "{wrong}");
        let error = error(&network, URL).await;
        assert_eq!(error.message, wrong.message);
        assert!(!error.retryable && !format!("{error:?}").contains("geheim"));
        assert_eq!(ask(&network, &server.url("/v1")).await.unwrap(), ["one"]);
    }
    assert!(proxy.heads().is_empty());
    network.apply(&own(&proxy.url(), ""), None).unwrap();
    assert_eq!(ask(&network, URL).await.unwrap(), ["one"]);
}

#[tokio::test]
async fn offline_leaves_only_this_machine() {
    let server = model_server().await;
    let proxy = HttpProxy::start(Rules::to("model.test", port_of(&server))).await;
    let network = network(NetworkConfig::default());
    let offline = NetworkSettings {
        offline: true,
        ..own(&proxy.url(), "")
    };
    network.apply(&offline, None).unwrap();
    let error = error(&network, URL).await;
    assert!(error.message.contains("stay offline"), "{error:?}");
    assert!(!error.retryable && proxy.heads().is_empty());
    assert_eq!(ask(&network, &server.url("/v1")).await.unwrap(), ["one"]);
}

#[test]
fn no_password_is_in_what_is_printed_of_a_configuration() {
    let config = own_proxy("http://user:geheim@proxy:3128");
    let shown = format!("{config:?} {:?}", network(config.clone()));
    assert!(
        shown.contains("http://proxy:3128") && !shown.contains("geheim"),
        "{shown}"
    );
}
