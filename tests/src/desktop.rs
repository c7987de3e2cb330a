//! The built desktop app in a home of its own: every test sees a machine on which Paddock was never started.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use paddock_protocol::{ModelChoice, ProviderConfig, ProviderId, ProviderKind, Settings};

use crate::webdriver::{Launch, Page};

/// One window of the built app with its own data folder. The home is deleted when this is dropped.
#[derive(Debug)]
pub struct Desktop {
    pub page: Page,
    home: tempfile::TempDir,
}

impl Desktop {
    /// Starts the app with these arguments and waits for its page.
    pub async fn open(arguments: &[&str]) -> Result<Self> {
        Self::open_in(tempfile::tempdir()?, arguments).await
    }

    /// Starts the app in a home that an earlier window left behind.
    pub async fn open_in(home: tempfile::TempDir, arguments: &[&str]) -> Result<Self> {
        let folder = |name: &str| home.path().join(name).display().to_string();
        let launch = Launch {
            program: built_program("PADDOCK_DESKTOP")?,
            arguments: arguments.iter().map(ToString::to_string).collect(),
            variables: vec![
                ("PADDOCK_HOME".into(), folder("paddock")),
                ("HOME".into(), folder("home")),
                ("XDG_DATA_HOME".into(), folder("data")),
                ("XDG_CONFIG_HOME".into(), folder("config")),
                ("XDG_CACHE_HOME".into(), folder("cache")),
            ],
        };
        std::fs::create_dir_all(home.path().join("home"))?;
        Ok(Self {
            page: Page::open(&launch).await?,
            home,
        })
    }

    /// Starts the app with a Chat server of the test's own, its model chosen, and a project of these files among the recent
    /// ones; gives the folder of the project as well.
    pub async fn open_with_model(
        base_url: String,
        files: &[(&str, &str)],
        set: impl FnOnce(&mut Settings),
    ) -> Result<(Self, PathBuf)> {
        let home = tempfile::tempdir()?;
        let project = home.path().join("home/garden");
        std::fs::create_dir_all(&project)?;
        for (name, content) in files {
            std::fs::write(project.join(name), content)?;
        }
        let model = own_model();
        let mut settings = Settings {
            providers: vec![ProviderConfig {
                id: model.provider.clone(),
                kind: ProviderKind::Chat,
                label: "Own server".into(),
                base_url,
                needs_key: false,
                window: None,
                headers: Vec::new(),
            }],
            model: Some(model),
            recent_projects: vec![project.to_string_lossy().into_owned()],
            ..Settings::default()
        };
        set(&mut settings);
        let data = home.path().join("paddock");
        std::fs::create_dir_all(&data)?;
        std::fs::write(data.join("settings.json"), serde_json::to_vec(&settings)?)?;
        Ok((Self::open_in(home, &[]).await?, project))
    }

    /// The app's data folder.
    pub fn data(&self) -> PathBuf {
        self.home.path().join("paddock")
    }

    /// The folder around everything this window wrote, for a search through all of it.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Ends the app and hands its home on, for a test that starts it again.
    pub async fn close(self) -> Result<tempfile::TempDir> {
        self.page.close().await?;
        Ok(self.home)
    }

    /// Ends the app like a power cut and hands its home on.
    pub fn kill(self) -> Result<tempfile::TempDir> {
        self.page.kill()?;
        Ok(self.home)
    }

    /// Saves a picture of the page among the test output and fails when nothing is drawn on it.
    pub async fn picture(&self, name: &str) -> Result<PathBuf> {
        let file = test_output().join("window").join(format!("{name}.png"));
        self.page.screenshot(&file).await?;
        let colours = colours_in(&file)?;
        if colours < 8 {
            bail!("{} is blank: {colours} colours", file.display());
        }
        Ok(file)
    }
}

/// The model of the test's own server.
pub fn own_model() -> ModelChoice {
    ModelChoice {
        provider: ProviderId::new("own"),
        model: "test-model".into(),
    }
}

/// The folder that keeps what tests leave for a person to look at.
pub fn test_output() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-output")
}

/// A program that `cargo xtask test` built and named in this variable.
pub fn built_program(variable: &str) -> Result<PathBuf> {
    let path = std::env::var_os(variable).with_context(|| {
        format!("{variable} is not set: run this by `cargo xtask test window` or `cargo xtask bench`")
    })?;
    Ok(PathBuf::from(path))
}

/// Runs a program of the desktop (dunstctl, secret-tool, xdotool) and gives what it prints.
pub fn ask(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("{program} does not start"))?;
    if !output.status.success() {
        bail!(
            "{program} {arguments:?} failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// How many different colours a PNG file holds; counting stops at 1,000.
pub fn colours_in(file: &Path) -> Result<usize> {
    let mut decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(file)?));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let mut pixels = vec![0; reader.output_buffer_size().context("the picture is too large")?];
    let info = reader.next_frame(&mut pixels)?;
    let width = info.color_type.samples();
    let mut seen = std::collections::HashSet::new();
    for pixel in pixels[..info.buffer_size()].chunks_exact(width) {
        seen.insert(pixel.to_vec());
        if seen.len() == 1_000 {
            break;
        }
    }
    Ok(seen.len())
}
