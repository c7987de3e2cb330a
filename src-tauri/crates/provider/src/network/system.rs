//! The proxy in the settings of Windows and macOS. They may change while the program runs, so they are read for each connection.

use super::{Choice, Direct, Exceptions, ProxyAddress, Target};
use paddock_protocol::{ClientError, ErrorCode};

/// What the settings of the system say for a target.
pub(super) fn choose(target: &Target) -> Result<Choice, ClientError> {
    #[cfg(target_os = "macos")]
    if let Some(address) = of_macos(target) {
        return proxy(&address);
    }
    InternetSettings::read().choose(target)
}

fn proxy(address: &str) -> Result<Choice, ClientError> {
    let address = ProxyAddress::parse(address).map_err(|error| {
        ClientError::new(
            ErrorCode::BadRequest,
            format!(
                "The proxy in the settings of the system is unreadable. {}",
                error.message
            ),
        )
        .hint("Correct it there, or choose another proxy under Settings, Network.")
    })?;
    Ok(Choice::Proxy {
        address,
        origin: "the system".into(),
    })
}

#[cfg(target_os = "macos")]
fn of_macos(target: &Target) -> Option<String> {
    use hyper_util::client::proxy::matcher::Matcher;
    let scheme = if target.secure { "https" } else { "http" };
    let address = format!("{scheme}://{target}/").parse().ok()?;
    let found = Matcher::from_system().intercept(&address)?;
    Some(found.uri().to_string())
}

/// The Internet settings of a Windows account; those of other systems say nothing.
#[derive(Default)]
struct InternetSettings {
    enabled: bool,
    /// `proxy:8080`, or `http=proxy:80;https=proxy:443;socks=…`.
    server: String,
    /// `*.example.com;10.*;<local>`
    except: String,
    /// Address of a script that chooses a proxy.
    script: String,
}

impl InternetSettings {
    #[cfg(windows)]
    fn read() -> Self {
        const KEY: &str = r"Software\Microsoft\Windows\CurrentVersion\Internet Settings";
        let Ok(key) = windows_registry::CURRENT_USER.open(KEY) else {
            return Self::default();
        };
        let text = |name| key.get_string(name).unwrap_or_default();
        Self {
            enabled: key.get_u32("ProxyEnable").unwrap_or_default() != 0,
            server: text("ProxyServer"),
            except: text("ProxyOverride"),
            script: text("AutoConfigURL"),
        }
    }

    #[cfg(not(windows))]
    fn read() -> Self {
        Self::default()
    }

    fn choose(&self, target: &Target) -> Result<Choice, ClientError> {
        let server = match self.enabled {
            true => self.server_for(target),
            false => None,
        };
        match server {
            Some(_) if self.excepts(target) => Ok(Choice::Direct(Direct::Excepted)),
            Some(server) => proxy(server),
            None if !self.script.trim().is_empty() => Ok(Choice::Direct(Direct::Script)),
            None => Ok(Choice::Direct(Direct::NoProxy)),
        }
    }

    fn server_for(&self, target: &Target) -> Option<&str> {
        let server = self.server.trim();
        if !server.contains('=') {
            return (!server.is_empty()).then_some(server);
        }
        let scheme = if target.secure { "https" } else { "http" };
        server.split(';').find_map(|entry| {
            let (name, server) = entry.split_once('=')?;
            (name.trim().eq_ignore_ascii_case(scheme) && !server.trim().is_empty()).then_some(server.trim())
        })
    }

    fn excepts(&self, target: &Target) -> bool {
        let entries: Vec<String> = self
            .except
            .split(';')
            .map(|entry| entry.trim().to_lowercase())
            .collect();
        let is_local = !target.host.contains(['.', ':']);
        if is_local && entries.iter().any(|entry| entry == "<local>") {
            return true;
        }
        let list: Vec<String> = entries
            .iter()
            .map(|entry| network(entry).unwrap_or_else(|| entry.clone()))
            .collect();
        Exceptions::of_variable(&list.join(",")).contain(target)
    }
}

/// `10.*` and the like as a network: `10.0.0.0/8`.
fn network(entry: &str) -> Option<String> {
    let start = entry.strip_suffix('*')?.strip_suffix('.')?.trim_end_matches(".*");
    let numbers: Vec<u8> = start
        .split('.')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let mut octets = [0; 4];
    let known = octets.get_mut(..numbers.len()).filter(|known| known.len() < 4)?;
    known.copy_from_slice(&numbers);
    Some(format!(
        "{}/{}",
        std::net::Ipv4Addr::from(octets),
        numbers.len() * 8
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(settings: &InternetSettings, url: &str) -> String {
        let (scheme, host) = url.split_once("://").unwrap();
        let target = Target::new(scheme, host, None).unwrap();
        match settings.choose(&target) {
            Ok(Choice::Direct(why)) => format!("{why:?}"),
            Ok(Choice::Proxy { address, origin }) => format!("{address} by {origin}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_settings_of_windows_name_one_server_or_one_for_each_scheme() {
        let mut settings = InternetSettings {
            enabled: true,
            server: "proxy:8080".into(),
            ..InternetSettings::default()
        };
        assert_eq!(
            says(&settings, "https://x.org"),
            "http://proxy:8080 by the system"
        );
        settings.server = "http=one:80; HTTPS=two:81;socks=three:1080".into();
        assert_eq!(says(&settings, "http://x.org"), "http://one:80 by the system");
        assert_eq!(says(&settings, "https://x.org"), "http://two:81 by the system");
        settings.server = "http=one:80".into();
        assert_eq!(says(&settings, "https://x.org"), "NoProxy");
        settings.server = "a b".into();
        assert!(says(&settings, "https://x.org").contains("settings of the system is unreadable"));
        settings.enabled = false;
        assert_eq!(says(&settings, "https://x.org"), "NoProxy");
        settings.script = "http://wpad/wpad.dat".into();
        assert_eq!(says(&settings, "https://x.org"), "Script");
    }

    #[test]
    fn the_exceptions_of_windows_are_kept() {
        let settings = InternetSettings {
            enabled: true,
            server: "proxy:8080".into(),
            except: "*.corp.example; 10.*;192.168.*.*;172.16.5.*;<local>;intra".into(),
            ..InternetSettings::default()
        };
        for (host, way) in [
            ("a.corp.example", "Excepted"),
            ("10.9.8.7", "Excepted"),
            ("192.168.3.4", "Excepted"),
            ("172.16.5.1", "Excepted"),
            ("172.16.6.1", "http://proxy:8080 by the system"),
            ("wiki", "Excepted"),
            ("x.org", "http://proxy:8080 by the system"),
            ("[2001:db8::1]", "http://proxy:8080 by the system"),
        ] {
            assert_eq!(says(&settings, &format!("https://{host}")), way, "{host}");
        }
        assert_eq!(network("*"), None);
        assert_eq!(network("1.2.3.4.*"), None);
    }
}
