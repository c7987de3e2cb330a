//! What a certificate says, and in plain words why one is not trusted. Trust itself is decided by the TLS library of the system.

use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};
use x509_cert::Certificate;
use x509_cert::der::{DateTime, Decode};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::Name;

/// A certificate for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// Whose it is.
    pub name: String,
    /// Who signed it.
    pub issuer: String,
    pub valid_from: SystemTime,
    pub valid_until: SystemTime,
    /// Hosts and addresses that it is for; empty for one that signs others.
    pub hosts: Vec<String>,
}

/// Why the certificate of a server is not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Distrust {
    pub host: String,
    pub reason: DistrustReason,
    pub facts: Option<CertificateFacts>,
    /// The TLS library's own words.
    pub words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DistrustReason {
    Expired,
    NotYetValid,
    WrongHost,
    SelfSigned,
    UnknownIssuer,
}

impl CertificateFacts {
    /// Reads the binary form (DER).
    pub(crate) fn read(der: &[u8]) -> Option<Self> {
        let certificate = Certificate::from_der(der).ok()?;
        let body = certificate.tbs_certificate();
        let hosts = match body.get_extension::<SubjectAltName>() {
            Ok(Some((_, names))) => names.0.iter().filter_map(host).collect(),
            _ => Vec::new(),
        };
        Some(Self {
            name: called(body.subject()),
            issuer: called(body.issuer()),
            valid_from: body.validity().not_before.to_system_time(),
            valid_until: body.validity().not_after.to_system_time(),
            hosts,
        })
    }

    fn is_for(&self, host: &str) -> bool {
        if let Ok(address) = host.parse::<IpAddr>() {
            return self.hosts.iter().any(|own| own.parse() == Ok(address));
        }
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.hosts.iter().any(|own| {
            let own = own.to_ascii_lowercase();
            match own.strip_prefix("*.") {
                Some(parent) => host.split_once('.').is_some_and(|(_, rest)| rest == parent),
                None => own == host,
            }
        })
    }
}

impl Distrust {
    /// Sorts a refusal by what the certificate says. The library's words decide only what cannot be read from it.
    pub fn new(host: &str, facts: Option<CertificateFacts>, words: String, now: SystemTime) -> Self {
        let reason = match &facts {
            Some(facts) if facts.valid_until < now => DistrustReason::Expired,
            Some(facts) if facts.valid_from > now => DistrustReason::NotYetValid,
            Some(facts) if !facts.is_for(host) => DistrustReason::WrongHost,
            Some(facts) if facts.issuer == facts.name => DistrustReason::SelfSigned,
            _ if words.contains("expired") => DistrustReason::Expired,
            _ => DistrustReason::UnknownIssuer,
        };
        Self {
            host: host.to_string(),
            reason,
            facts,
            words,
        }
    }

    pub fn says(&self) -> String {
        let host = &self.host;
        let what = match (self.reason, &self.facts) {
            (DistrustReason::Expired, Some(facts)) => format!("expired on {}", day(facts.valid_until)),
            (DistrustReason::Expired, None) => "expired".into(),
            (DistrustReason::NotYetValid, Some(facts)) => {
                format!("is valid only from {}", day(facts.valid_from))
            }
            (DistrustReason::WrongHost, Some(facts)) if !facts.hosts.is_empty() => {
                let hosts: Vec<&str> = facts.hosts.iter().take(4).map(String::as_str).collect();
                format!("is for {}, not for this host", hosts.join(", "))
            }
            (DistrustReason::WrongHost, _) => "is not for this host".into(),
            (DistrustReason::SelfSigned, _) => "is signed by itself".into(),
            (_, Some(facts)) => format!("is signed by an unknown issuer, \u{201c}{}\u{201d}", facts.issuer),
            (_, None) => "is signed by an unknown issuer".into(),
        };
        format!("The connection is not trusted: the certificate of {host} {what}.")
    }

    pub fn remedy(&self) -> String {
        match self.reason {
            DistrustReason::Expired => {
                "Check the clock of this machine; if it is right, those who run the server have to renew it.".into()
            }
            DistrustReason::NotYetValid => "Check date and time of this machine.".into(),
            DistrustReason::WrongHost => {
                "Check the address: it has to be one that the certificate names. A login page of the network may be in between."
                    .into()
            }
            DistrustReason::SelfSigned => {
                "If the server is yours, add its certificate file under Settings, Network.".into()
            }
            DistrustReason::UnknownIssuer => "A company's proxy often signs with its own certificate: ask for its file (PEM) and \
                                              add it under Settings, Network."
                .into(),
        }
    }
}

/// The date, as in 2026-11-22.
pub(crate) fn day(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    match DateTime::from_unix_duration(since) {
        Ok(date) => format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day()),
        Err(_) => "an unknown day".into(),
    }
}

/// The common name, else the organisation, else the whole name.
fn called(name: &Name) -> String {
    let common = name.common_name().ok().flatten();
    let short = common.or_else(|| name.organization().ok().flatten());
    let text = match short {
        Some(short) => short.value().to_string(),
        None => name.to_string(),
    };
    text.chars().filter(|c| !c.is_control()).take(120).collect()
}

fn host(name: &GeneralName) -> Option<String> {
    match name {
        GeneralName::DnsName(name) => Some(name.to_string()),
        GeneralName::IpAddress(bytes) => {
            let bytes = bytes.as_bytes();
            let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
            let v6 = || <[u8; 16]>::try_from(bytes).map(IpAddr::from);
            v4.or_else(|_| v6()).ok().map(|address| address.to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn facts(hosts: &[&str]) -> CertificateFacts {
        CertificateFacts {
            name: "server".into(),
            issuer: "Corp Proxy CA".into(),
            valid_from: UNIX_EPOCH + Duration::from_secs(1_000_000),
            valid_until: UNIX_EPOCH + Duration::from_secs(1_764_547_200),
            hosts: hosts.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn a_certificate_is_for_the_hosts_that_it_names() {
        let own = facts(&["a.example.com", "*.b.example.com", "10.0.0.1", "::1"]);
        for (host, fits) in [
            ("A.example.com.", true),
            ("x.b.example.com", true),
            ("x.y.b.example.com", false),
            ("b.example.com", false),
            ("10.0.0.1", true),
            ("::1", true),
            ("10.0.0.2", false),
        ] {
            assert_eq!(own.is_for(host), fits, "{host}");
        }
    }

    #[test]
    fn the_reason_is_read_from_the_certificate() {
        let good = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let late = UNIX_EPOCH + Duration::from_secs(1_900_000_000);
        let says = |facts, words: &str, now| Distrust::new("a.example.com", facts, words.into(), now).says();
        let own = || Some(facts(&["a.example.com"]));
        assert!(says(own(), "", late).contains("expired on 2025-12-01"));
        assert!(says(own(), "", UNIX_EPOCH).contains("valid only from 1970-01-12"));
        assert!(says(Some(facts(&["b.net"])), "", good).contains("is for b.net, not for this host"));
        assert!(says(own(), "", good).contains("unknown issuer, \u{201c}Corp Proxy CA\u{201d}"));
        assert!(says(own(), "certificate has expired", good).contains("expired"));
        assert!(says(None, "?", good).contains("unknown issuer"));
    }
}
