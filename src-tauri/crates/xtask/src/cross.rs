//! Type-checks the whole app for Windows and macOS on Linux. Nothing is linked or run: this finds code under `cfg` that
//! does not compile there. Where rustup has both targets they are used; on Debian the compiler that is packaged for
//! web browsers brings the standard library's source, which serves as well without being installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::workspace::{self, DESKTOP};
use crate::{page, process, system};

const WINDOWS: &str = "x86_64-pc-windows-msvc";
const MACOS: &str = "aarch64-apple-darwin";

/// The packages that are always taken, and what the names of further ones they depend on begin with.
const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "libstd-rust-web-dev"];
const FURTHER: [&str; 5] = [
    "libstd-rust-web",
    "libllvm",
    "libgit2",
    "libhttp-parser",
    "libmbed",
];

/// Stands in for the C compiler of macOS: the few C files among the dependencies become empty objects, which is enough
/// because nothing is linked.
const C_COMPILER: &str = r#"#!/bin/sh
case "$1" in -E) echo clang; exit 0 ;; -\?) exit 1 ;; esac
out=
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
[ -n "$out" ] && exec cc -c -x c /dev/null -o "$out"
exit 0
"#;

/// The same for Windows, as its compiler and as its librarian: what is to be written becomes an empty file.
const C_TOOLS: &str = r#"#!/bin/sh
for word in "$@"; do
  case "$word" in
    -Fo*|/Fo*) : > "${word#?Fo}" ;;
    -out:*|-OUT:*|/out:*|/OUT:*) : > "${word#?[oO][uU][tT]:}" ;;
  esac
done
exit 0
"#;

/// The Rust compiler that checks for the other systems.
enum Compiler {
    Rustup,
    Unpacked(PathBuf),
}

/// Checks for both systems; says why when this machine cannot.
pub fn check() -> Result<()> {
    if !cfg!(target_os = "linux") {
        println!(
            "      skipped: it is done on Linux; here the real compiler has just seen this system's code"
        );
        return Ok(());
    }
    let cache = workspace::cache()?;
    let Some(compiler) = compiler(&cache)? else {
        println!(
            "      skipped: rustup has not the targets {WINDOWS} and {MACOS}, and apt has no rustc-web here"
        );
        return Ok(());
    };
    fs::create_dir_all(page::folder().join("dist"))?;
    let stand_in = cache.join("macos-cc");
    let windows = cache.join("windows-cl");
    for (file, script) in [(&stand_in, C_COMPILER), (&windows, C_TOOLS)] {
        fs::write(file, script)?;
        process::read(Command::new("chmod").arg("755").arg(file))?;
    }
    for target in [WINDOWS, MACOS] {
        println!("      {target}");
        let mut cargo = compiler.cargo(&cache);
        cargo.args([
            "check",
            "--target",
            target,
            "--package",
            DESKTOP,
            "--package",
            "paddock-cli",
        ]);
        cargo
            .env("CC_aarch64_apple_darwin", &stand_in)
            .env("CXX_aarch64_apple_darwin", &stand_in);
        cargo
            .env("AR_aarch64_apple_darwin", "ar")
            .env("SDKROOT", "/nonexistent");
        cargo
            .env("CC_x86_64_pc_windows_msvc", &windows)
            .env("AR_x86_64_pc_windows_msvc", &windows);
        process::show(&mut cargo)?;
    }
    Ok(())
}

impl Compiler {
    fn cargo(&self, cache: &Path) -> Command {
        let mut cargo = match self {
            Self::Rustup => workspace::cargo(),
            Self::Unpacked(folder) => {
                let mut cargo = Command::new(folder.join("usr/bin/cargo"));
                cargo.current_dir(workspace::root());
                cargo.arg("-Zbuild-std");
                cargo
                    .env("RUSTC", folder.join("usr/bin/rustc"))
                    .env("RUSTC_BOOTSTRAP", "1");
                cargo.env("LD_LIBRARY_PATH", folder.join("usr/lib/x86_64-linux-gnu"));
                cargo.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
                cargo
            }
        };
        cargo.env("CARGO_TARGET_DIR", cache.join("cross-target"));
        cargo
    }
}

fn compiler(cache: &Path) -> Result<Option<Compiler>> {
    let installed =
        process::read(Command::new("rustup").args(["target", "list", "--installed"])).unwrap_or_default();
    if [WINDOWS, MACOS]
        .iter()
        .all(|target| installed.lines().any(|line| line == *target))
    {
        return Ok(Some(Compiler::Rustup));
    }
    let folder = cache.join("rust-web");
    if folder.join("complete").exists() {
        return Ok(Some(Compiler::Unpacked(folder)));
    }
    if !system::finds("apt-get") || !process::succeeds(Command::new("apt-cache").args(["show", PACKAGES[0]]))
    {
        return Ok(None);
    }
    unpack(&folder)?;
    Ok(Some(Compiler::Unpacked(folder)))
}

/// Downloads the packages and unpacks them beside the system, where they conflict with nothing.
fn unpack(folder: &Path) -> Result<()> {
    let names = with_further(&PACKAGES)?;
    println!(
        "      fetching {} packages (about 150 MB, once): {}",
        names.len(),
        names.join(" ")
    );
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let archives = folder.join("archives");
    fs::create_dir_all(&archives)?;
    process::quiet(
        Command::new("apt-get")
            .current_dir(&archives)
            .arg("download")
            .args(&names),
    )?;
    for entry in fs::read_dir(&archives)? {
        process::quiet(Command::new("dpkg").arg("-x").arg(entry?.path()).arg(folder))?;
    }
    fs::remove_dir_all(&archives)?;
    if !folder.join("usr/bin/rustc").exists() {
        bail!("the package rustc-web did not bring a compiler");
    }
    fs::write(folder.join("complete"), "")?;
    Ok(())
}

fn with_further(names: &[&str]) -> Result<Vec<String>> {
    let mut found: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut next = 0;
    while let Some(name) = found.get(next) {
        let list = process::read(Command::new("apt-cache").args(["depends", "--important", name]))
            .with_context(|| format!("apt does not know {name}"))?;
        for depended in dependencies(&list) {
            if !found.contains(&depended) {
                found.push(depended);
            }
        }
        next += 1;
    }
    Ok(found)
}

fn dependencies(list: &str) -> Vec<String> {
    let names = list
        .lines()
        .filter_map(|line| line.trim().trim_start_matches('|').split_once("Depends: "));
    let wanted = |name: &&str| FURTHER.iter().any(|start| name.starts_with(start));
    names
        .map(|(_, name)| name)
        .filter(wanted)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::dependencies;

    #[test]
    fn only_the_compilers_own_packages_are_taken_along() {
        let list = "rustc-web\n  Depends: libc6\n  Depends: libllvm22\n |Depends: gcc\n  PreDepends: libstd-rust-web-1.96\n";
        assert_eq!(dependencies(list), ["libllvm22", "libstd-rust-web-1.96"]);
    }
}
