//! `cargo xtask bench`: runs the benchmark programs of every package that has some, optimised.

use anyhow::{Result, bail};

use crate::{process, workspace};

/// Runs all benchmarks, or those whose name holds the filter.
pub fn bench(words: &[&str]) -> Result<()> {
    let filter = match words {
        [] => "",
        [filter] => filter,
        _ => bail!("`bench` takes one filter at most"),
    };
    let programs = programs(filter)?;
    if programs.is_empty() {
        bail!("no benchmark has {filter:?} in its name");
    }
    for (package, program) in programs {
        println!("{package}: {program}");
        process::show(workspace::cargo().args([
            "bench",
            "--quiet",
            "--package",
            &package,
            "--bench",
            &program,
        ]))?;
    }
    Ok(())
}

fn programs(filter: &str) -> Result<Vec<(String, String)>> {
    let metadata = workspace::metadata()?;
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        for target in package["targets"].as_array().into_iter().flatten() {
            let is_bench = target["kind"]
                .as_array()
                .is_some_and(|kinds| kinds.iter().any(|kind| kind == "bench"));
            let (Some(package), Some(name)) = (package["name"].as_str(), target["name"].as_str()) else {
                continue;
            };
            if is_bench && name.contains(filter) {
                found.push((package.to_owned(), name.to_owned()));
            }
        }
    }
    Ok(found)
}
