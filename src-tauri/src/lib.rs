//! The shell: the only Rust that names tauri.
