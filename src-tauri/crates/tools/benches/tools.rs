//! Speed of the tools on a project of 5,000 source files. `cargo bench -p paddock-tools`.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/support/mod.rs"]
mod support;

use serde_json::{Value, json};
use std::time::Instant;
use support::Project;

const ROUNDS: u32 = 10;

fn main() {
    let project = Project::new(&[(".gitignore", "target/\n*.log\n")]);
    let line = "    let value = compute(first, second).map(|result| result + 1);\n";
    for number in 0..5_000 {
        let body = line.repeat(60);
        let needle = if number % 500 == 0 { "// a needle\n" } else { "" };
        project.put(
            &format!("src/m{}/f{number}.rs", number % 100),
            format!("{body}{needle}").as_bytes(),
        );
    }
    project.put("big.txt", line.repeat(20_000).as_bytes());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let measure = |what: &str, tool: &str, arguments: Value| {
        let mut best = f64::MAX;
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            runtime.block_on(project.run(tool, arguments.clone())).unwrap();
            best = best.min(begun.elapsed().as_secs_f64() * 1e3);
        }
        println!("{what:<44} {best:>9.2} ms");
    };
    measure(
        "search_files, 5,000 files, 20 MB",
        "search_files",
        json!({"pattern": "needle"}),
    );
    measure(
        "search_files, any case",
        "search_files",
        json!({"pattern": "needle"}),
    );
    measure(
        "find_files, 5,000 files",
        "find_files",
        json!({"pattern": "f4999.*"}),
    );
    measure("list_files, 2 levels", "list_files", json!({}));
    measure(
        "read_file, 60 lines",
        "read_file",
        json!({"path": "src/m0/f0.rs"}),
    );
    measure(
        "read_file, part of 1.3 MB",
        "read_file",
        json!({"path": "big.txt", "from_line": 10_000, "to_line": 10_100}),
    );
    let mut best = f64::MAX;
    for number in 0..ROUNDS {
        let edit = json!({"path": "src/m0/f0.rs", "old_text": format!("// {}", if number == 0 { "a needle".into() } else { number.to_string() }), "new_text": format!("// {}", number + 1)});
        let begun = Instant::now();
        runtime
            .block_on(project.prepare("edit_file", edit.clone()))
            .unwrap();
        runtime.block_on(project.run("edit_file", edit)).unwrap();
        best = best.min(begun.elapsed().as_secs_f64() * 1e3);
    }
    println!("{:<44} {best:>9.2} ms", "edit_file, prepared and written durably");
    let missing =
        json!({"path": "big.txt", "old_text": "nothing like this\nis in the file\n", "new_text": ""});
    let begun = Instant::now();
    runtime.block_on(project.run("edit_file", missing)).unwrap_err();
    println!(
        "{:<44} {:>9.2} ms",
        "edit_file, not found in 20,000 lines",
        begun.elapsed().as_secs_f64() * 1e3
    );
}
