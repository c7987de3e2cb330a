//! Whose certificates are trusted: always the system's, and those of an extra file.

use super::CertificateFacts;
use native_tls::{Certificate, Protocol};
use paddock_protocol::{ClientError, ErrorCode};
use std::path::{Path, PathBuf};
use tokio::sync::OnceCell;
use tokio_native_tls::TlsConnector;

/// Larger than every list of authorities in use.
const FILE_LIMIT: u64 = 8 * 1024 * 1024;
const VARIABLE: &str = "SSL_CERT_FILE";

/// Which roots a connection may end at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Roots {
    /// Those of the system and of the extra files: what requests use.
    All,
    System,
    /// Any. Only to read what a refused certificate says; nothing is ever sent over such a connection.
    Unchecked,
}

/// The extra files, and the connector that requests share.
pub(super) struct Trust {
    files: Vec<(PathBuf, Origin)>,
    shared: OnceCell<TlsConnector>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Settings,
    Variable,
}

impl Trust {
    pub fn new(setting: Option<PathBuf>, variable: Option<String>) -> Self {
        let variable = variable.filter(|file| !file.trim().is_empty()).map(PathBuf::from);
        let files = setting
            .map(|file| (file, Origin::Settings))
            .into_iter()
            .chain(variable.map(|file| (file, Origin::Variable)))
            .collect();
        Self {
            files,
            shared: OnceCell::new(),
        }
    }

    pub fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// Building reads the trust store of the system, which takes tens of milliseconds: off the async thread, and once for
    /// [`Roots::All`] unless it fails.
    pub async fn connector(&self, roots: Roots) -> Result<TlsConnector, ClientError> {
        match roots {
            Roots::All => self.shared.get_or_try_init(|| self.build(roots)).await.cloned(),
            Roots::System | Roots::Unchecked => self.build(roots).await,
        }
    }

    pub async fn extra(&self) -> Result<Vec<CertificateFacts>, ClientError> {
        Ok(self.read().await?.into_iter().map(|(_, facts)| facts).collect())
    }

    /// The extra certificates themselves, in DER.
    pub async fn extra_roots(&self) -> Result<Vec<Vec<u8>>, ClientError> {
        let list = self.read().await?.into_iter();
        list.map(|(certificate, _)| certificate.to_der().map_err(|error| unprepared(&error)))
            .collect()
    }

    async fn read(&self) -> Result<Vec<(Certificate, CertificateFacts)>, ClientError> {
        let files = self.files.clone();
        tokio::task::spawn_blocking(move || certificates(&files))
            .await
            .map_err(|error| unprepared(&error))?
    }

    async fn build(&self, roots: Roots) -> Result<TlsConnector, ClientError> {
        let files = match roots {
            Roots::All => self.files.clone(),
            Roots::System | Roots::Unchecked => Vec::new(),
        };
        let build = move || {
            let mut builder = native_tls::TlsConnector::builder();
            builder.min_protocol_version(Some(Protocol::Tlsv12));
            for (certificate, _) in certificates(&files)? {
                builder.add_root_certificate(certificate);
            }
            if roots == Roots::Unchecked {
                builder
                    .danger_accept_invalid_certs(true)
                    .danger_accept_invalid_hostnames(true);
            }
            builder.build().map_err(|error| unprepared(&error))
        };
        let built = tokio::task::spawn_blocking(build)
            .await
            .map_err(|error| unprepared(&error))?;
        built.map(TlsConnector::from)
    }
}

fn unprepared(error: &dyn std::error::Error) -> ClientError {
    ClientError::new(
        ErrorCode::Internal,
        format!("No secure connection could be prepared on this system: {error}."),
    )
    .hint("Check the certificates of the system.")
}

fn certificates(files: &[(PathBuf, Origin)]) -> Result<Vec<(Certificate, CertificateFacts)>, ClientError> {
    let mut all = Vec::new();
    for (file, origin) in files {
        all.extend(read(file).map_err(|why| origin.error(file, &why))?);
    }
    Ok(all)
}

impl Origin {
    fn error(self, file: &Path, why: &str) -> ClientError {
        let file = file.display();
        let (message, hint) = match self {
            Self::Settings => (
                format!("The extra certificate file {file} {why}."),
                "Choose a file in PEM form (it begins with -----BEGIN CERTIFICATE-----) under Settings, Network.",
            ),
            Self::Variable => (
                format!("The file {file} that the variable {VARIABLE} names {why}."),
                "Correct or remove the variable and start Paddock again.",
            ),
        };
        ClientError::new(ErrorCode::BadRequest, message).hint(hint)
    }
}

/// The certificates in a file, or what is wrong with it, to follow on its name.
fn read(file: &Path) -> Result<Vec<(Certificate, CertificateFacts)>, String> {
    let meta = std::fs::metadata(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "does not exist".to_string(),
        _ => format!("cannot be read: {error}"),
    })?;
    if !meta.is_file() {
        return Err("is not a file".into());
    }
    if meta.len() > FILE_LIMIT {
        return Err(format!("is larger than {} MiB", FILE_LIMIT / 1024 / 1024));
    }
    let bytes = std::fs::read(file).map_err(|error| format!("cannot be read: {error}"))?;
    if let Some(facts) = CertificateFacts::read(&bytes) {
        let certificate =
            Certificate::from_der(&bytes).map_err(|error| format!("is refused by the system: {error}"))?;
        return Ok(vec![(certificate, facts)]);
    }
    let text = String::from_utf8_lossy(&bytes);
    let blocks = blocks(&text)?;
    if blocks.is_empty() {
        return Err(match text.contains("PRIVATE KEY-----") {
            true => "holds a private key and no certificate".into(),
            false => "holds no certificate".into(),
        });
    }
    let read = blocks.iter().enumerate().map(|(index, block)| {
        let wrong = |why: String| format!("is damaged: its certificate number {} {why}", index + 1);
        let certificate =
            Certificate::from_pem(block.as_bytes()).map_err(|_| wrong("is not readable".into()))?;
        let der = certificate.to_der().map_err(|error| wrong(error.to_string()))?;
        let facts = CertificateFacts::read(&der).ok_or_else(|| wrong("is not readable".into()))?;
        Ok((certificate, facts))
    });
    read.collect()
}

/// The PEM blocks of certificates; other text and other blocks may stand between them.
fn blocks(text: &str) -> Result<Vec<&str>, String> {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find(BEGIN) {
        let block = rest.get(begin..).unwrap_or_default();
        let Some(end) = block.find(END) else {
            return Err("is cut off: its last certificate has no end".into());
        };
        let (block, after) = block.split_at(end + END.len());
        found.push(block);
        rest = after;
    }
    Ok(found)
}
