//! Builds the app's context from tauri.conf.json, where the window's capabilities stand inline.

fn main() {
    // The page is embedded from here. An empty folder is enough to check and test the Rust side before the page is built.
    let _ = std::fs::create_dir_all("ui/dist");
    tauri_build::build();
}
