//! An authority of certificates, and servers that present them: another TLS than the one under test.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType,
    date_time_ymd,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ServerConfig, SupportedProtocolVersion};

pub struct Authority {
    certificate: rcgen::Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// What a server presents.
#[derive(Clone)]
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: Vec<u8>,
}

/// From the beginning of the first year to the beginning of the second.
#[derive(Clone, Copy)]
pub struct Years(pub i32, pub i32);

pub const NOW: Years = Years(2020, 2060);

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self {
            certificate,
            issuer: Issuer::new(params, key),
        }
    }

    pub fn pem(&self) -> String {
        self.certificate.pem()
    }

    pub fn der(&self) -> Vec<u8> {
        self.certificate.der().to_vec()
    }

    /// A file with the authority's certificate.
    pub fn file(&self, folder: &Path) -> PathBuf {
        let file = folder.join("authority.pem");
        std::fs::write(&file, self.pem()).unwrap();
        file
    }

    pub fn issue(&self, hosts: &[&str], years: Years) -> Identity {
        let (params, key) = leaf(hosts, years);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity {
            chain: vec![certificate.der().clone()],
            key: key.serialize_der(),
        }
    }
}

impl Identity {
    /// The certificate, binary.
    pub fn der(&self) -> Vec<u8> {
        self.chain[0].to_vec()
    }
}

/// Signed by itself.
pub fn alone(hosts: &[&str]) -> Identity {
    let (params, key) = leaf(hosts, NOW);
    let certificate = params.self_signed(&key).unwrap();
    Identity {
        chain: vec![certificate.der().clone()],
        key: key.serialize_der(),
    }
}

fn leaf(hosts: &[&str], years: Years) -> (CertificateParams, KeyPair) {
    let mut params = CertificateParams::default();
    params.subject_alt_names = hosts
        .iter()
        .map(|host| match host.parse() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName((*host).try_into().unwrap()),
        })
        .collect();
    params.distinguished_name.push(DnType::CommonName, "Model server");
    params.not_before = date_time_ymd(years.0, 1, 1);
    params.not_after = date_time_ymd(years.1, 1, 1);
    (params, KeyPair::generate().unwrap())
}

/// TLS in front of a plain server on this machine; the port of the secured one.
pub async fn secured(identity: &Identity, plain_port: u16) -> u16 {
    secured_with(identity, plain_port, &[&TLS12, &TLS13]).await
}

pub async fn secured_by_tls_12(identity: &Identity, plain_port: u16) -> u16 {
    secured_with(identity, plain_port, &[&TLS12]).await
}

async fn secured_with(
    identity: &Identity,
    plain_port: u16,
    versions: &[&'static SupportedProtocolVersion],
) -> u16 {
    let key = PrivateKeyDer::try_from(identity.key.clone()).unwrap();
    let config = ServerConfig::builder_with_protocol_versions(versions)
        .with_no_client_auth()
        .with_single_cert(identity.chain.clone(), key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut secure = acceptor.accept(socket).await.ok()?;
                let mut plain = TcpStream::connect(("127.0.0.1", plain_port)).await.ok()?;
                tokio::io::copy_bidirectional(&mut secure, &mut plain).await.ok()
            });
        }
    });
    port
}
