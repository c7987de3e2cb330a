//! Which proxy an address goes through, and who said so.

use super::{Exceptions, ProxyAddress, ProxyChoice, Target, Variables, system};
use paddock_protocol::{ClientError, ErrorCode};

/// Names for one variable; the first that is set counts, as with curl.
const HTTP: [&str; 2] = ["http_proxy", "HTTP_PROXY"];
const HTTPS: [&str; 2] = ["https_proxy", "HTTPS_PROXY"];
const ALL: [&str; 2] = ["all_proxy", "ALL_PROXY"];
const EXCEPT: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// What was decided for one target.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    Direct(Direct),
    Proxy {
        address: ProxyAddress,
        /// "the settings", "HTTPS_PROXY", "the system".
        origin: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direct {
    /// The target is this machine.
    Loopback,
    /// The target is in the list of exceptions.
    Excepted,
    /// No proxy is set.
    NoProxy,
    /// The system has a script that chooses proxies, which is not run.
    Script,
}

/// Where proxies are looked up.
pub(super) enum Proxies {
    None,
    Own {
        address: ProxyAddress,
        except: Exceptions,
    },
    System {
        http: Option<Variable>,
        https: Option<Variable>,
        except: Exceptions,
    },
}

/// A variable that is set.
pub(super) struct Variable {
    name: &'static str,
    value: String,
}

impl Proxies {
    pub fn new(choice: ProxyChoice, variables: &Variables) -> Self {
        let first = |names: &[&'static str]| {
            names.iter().find_map(|name| {
                let value = variables(name)?.trim().to_string();
                (!value.is_empty()).then_some(Variable { name, value })
            })
        };
        match choice {
            ProxyChoice::None => Self::None,
            ProxyChoice::Own { address, except } => Self::Own { address, except },
            ProxyChoice::System => Self::System {
                http: first(&HTTP).or_else(|| first(&ALL)),
                https: first(&HTTPS).or_else(|| first(&ALL)),
                except: first(&EXCEPT)
                    .map(|variable| Exceptions::of_variable(&variable.value))
                    .unwrap_or_default(),
            },
        }
    }

    /// The system's settings decide, and no variable is set.
    pub fn asks_the_system(&self) -> bool {
        matches!(
            self,
            Self::System {
                http: None,
                https: None,
                ..
            }
        )
    }

    /// Fails when a variable that counts holds no proxy. This machine is never reached through one.
    pub fn choose(&self, target: &Target) -> Result<Choice, ClientError> {
        if target.is_loopback() {
            return Ok(Choice::Direct(Direct::Loopback));
        }
        match self {
            Self::None => Ok(Choice::Direct(Direct::NoProxy)),
            Self::Own { except, .. } | Self::System { except, .. } if except.contain(target) => {
                Ok(Choice::Direct(Direct::Excepted))
            }
            Self::Own { address, .. } => Ok(Choice::Proxy {
                address: address.clone(),
                origin: "the settings".into(),
            }),
            Self::System { http, https, .. } => match if target.secure { https } else { http } {
                Some(variable) => variable.proxy(),
                None if http.is_none() && https.is_none() => system::choose(target),
                None => Ok(Choice::Direct(Direct::NoProxy)),
            },
        }
    }
}

impl Variable {
    fn proxy(&self) -> Result<Choice, ClientError> {
        let address = ProxyAddress::parse(&self.value).map_err(|error| {
            ClientError::new(
                ErrorCode::BadRequest,
                format!("The variable {} names no proxy. {}", self.name, error.message),
            )
            .hint(format!(
                "Correct the variable and start Paddock again, or choose another proxy under Settings, Network. {}",
                error.hint.unwrap_or_default()
            ))
        })?;
        Ok(Choice::Proxy {
            address,
            origin: self.name.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn system(set: &'static [(&'static str, &'static str)]) -> Proxies {
        let variables: Variables = Arc::new(move |name| {
            let found = set.iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| (*value).to_string())
        });
        Proxies::new(ProxyChoice::System, &variables)
    }

    fn way(proxies: &Proxies, url: &str) -> String {
        let (scheme, host) = url.split_once("://").unwrap();
        let target = Target::new(scheme, host, None).unwrap();
        match proxies.choose(&target) {
            Ok(Choice::Direct(why)) => format!("{why:?}"),
            Ok(Choice::Proxy { address, origin }) => format!("{address} by {origin}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn variables_count_by_the_scheme_of_the_target() {
        let both = system(&[
            ("HTTP_PROXY", "one:1"),
            ("https_proxy", "https://two:2"),
            ("HTTPS_PROXY", "three:3"),
            ("ALL_PROXY", "socks5h://four:4"),
        ]);
        assert_eq!(way(&both, "http://x.org"), "http://one:1 by HTTP_PROXY");
        assert_eq!(way(&both, "https://x.org"), "https://two:2 by https_proxy");
        let all = system(&[("https_proxy", " "), ("ALL_PROXY", "socks5h://four:4")]);
        for url in ["http://x.org", "https://x.org"] {
            assert_eq!(way(&all, url), "socks5h://four:4 by ALL_PROXY");
        }
        assert_eq!(way(&system(&[("HTTPS_PROXY", "p")]), "http://x.org"), "NoProxy");
        assert_eq!(way(&system(&[]), "https://x.org"), "NoProxy");
    }

    #[test]
    fn exceptions_and_this_machine_go_directly() {
        let proxies = system(&[
            ("ALL_PROXY", "proxy:1"),
            ("NO_PROXY", "x.org,10.0.0.0/8,bad entry://"),
        ]);
        assert_eq!(way(&proxies, "https://api.x.org"), "Excepted");
        assert_eq!(way(&proxies, "http://10.1.1.1"), "Excepted");
        assert_eq!(way(&proxies, "https://y.org"), "http://proxy:1 by ALL_PROXY");
        for host in [
            "localhost",
            "LOCALHOST.",
            "127.9.9.9",
            "[::1]",
            "a.localhost",
            "[::ffff:127.0.0.1]",
        ] {
            assert_eq!(way(&proxies, &format!("http://{host}")), "Loopback", "{host}");
        }
        let own = Proxies::Own {
            address: ProxyAddress::parse("socks5://s:9").unwrap(),
            except: Exceptions::parse("x.org").unwrap(),
        };
        assert_eq!(way(&own, "https://localhost"), "Loopback");
        assert_eq!(way(&own, "https://x.org"), "Excepted");
        assert_eq!(way(&own, "https://y.org"), "socks5://s:9 by the settings");
        assert_eq!(way(&Proxies::None, "https://y.org"), "NoProxy");
    }

    #[test]
    fn a_variable_that_names_no_proxy_is_an_error_and_not_the_direct_way() {
        let proxies = system(&[("HTTPS_PROXY", "ftp://me:geheim@p")]);
        let error = way(&proxies, "https://x.org");
        assert!(
            error.contains("The variable HTTPS_PROXY names no proxy"),
            "{error}"
        );
        assert!(error.contains("does not speak ftp") && error.contains("Settings, Network"));
        assert!(!error.contains("geheim"));
    }
}
