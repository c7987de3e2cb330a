//! The way of tools to pages on other machines: the same network as that of the models.

use super::Providers;
use paddock_tools::{FindRoute, WebProxy, WebRoute};
use std::sync::Arc;

/// Finds the way to pages as the network is set when they are asked for.
pub fn page_routes(providers: &Arc<Providers>) -> FindRoute {
    let providers = Arc::clone(providers);
    Arc::new(move |address| {
        let providers = Arc::clone(&providers);
        Box::pin(async move { providers.page_route(&address).await })
    })
}

impl Providers {
    async fn page_route(&self, address: &str) -> Result<WebRoute, String> {
        self.sign_in().await.map_err(|error| error.to_string())?;
        let route = self
            .network
            .route(address)
            .await
            .map_err(|error| error.to_string())?;
        Ok(WebRoute {
            proxy: route.proxy.map(|proxy| WebProxy {
                address: proxy.to_string(),
                login: proxy
                    .login()
                    .map(|login| (login.user.clone(), login.password.expose().to_owned())),
            }),
            certificates: route.certificates,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use paddock_protocol::{NetworkSettings, ProxySetting};
    use paddock_store::Keys;

    #[tokio::test]
    async fn pages_are_reached_as_the_network_is_set_when_they_are_asked_for() {
        let providers = Arc::new(Providers::with_keys(Keys::passing()));
        let find = page_routes(&providers);
        let find = async |address: &str| find(address.to_owned()).await;
        let mut settings = NetworkSettings {
            proxy: ProxySetting::Own {
                address: "anna:ge:heim@proxy:3128".into(),
                except: "near.test".into(),
                login: false,
            },
            ..NetworkSettings::default()
        };
        providers.change_network(&mut settings).await.unwrap();
        let proxy = find("https://far.test/x").await.unwrap().proxy.unwrap();
        assert_eq!(proxy.address, "http://proxy:3128");
        assert_eq!(proxy.login, Some(("anna".into(), "ge:heim".into())));
        for direct in [
            "https://near.test/",
            "http://127.0.0.1:8080/",
            "http://localhost/",
        ] {
            assert!(find(direct).await.unwrap().proxy.is_none(), "{direct}");
        }
        settings.offline = true;
        providers.change_network(&mut settings).await.unwrap();
        let says = find("https://far.test/x").await.map(drop).unwrap_err();
        assert!(
            says.contains("stay offline") && says.contains("Settings, Network"),
            "{says}"
        );
        find("http://127.0.0.1:8080/").await.unwrap();
        settings.certificate = Some("/nowhere/company.pem".into());
        providers.change_network(&mut settings).await.unwrap();
        let says = find("http://127.0.0.1:8080/").await.map(drop).unwrap_err();
        assert!(says.contains("company.pem does not exist"), "{says}");
    }
}
