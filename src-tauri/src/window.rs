//! The one window: its place on the screen, its title, what its page may load, and how it comes to the front.

use crate::desk::Desk;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tauri::{AppHandle, Manager as _, Url, WebviewWindowBuilder, WindowEvent};

pub const MAIN: &str = "main";
const NAME: &str = "Paddock";
/// Steps of the zoom; the middle one is the page's own size.
const ZOOM: [f64; 9] = [0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0];
const ZOOM_NORMAL: usize = 4;

/// How the window looked when it was closed last. In logical pixels, without its place: the screens may be others.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(default)]
struct Frame {
    width: f64,
    height: f64,
    maximized: bool,
    zoom: usize,
}

impl Default for Frame {
    fn default() -> Self {
        Self {
            width: 1200.0,
            height: 800.0,
            maximized: false,
            zoom: ZOOM_NORMAL,
        }
    }
}

/// What title and frame are made of.
#[derive(Default)]
struct Face {
    project: Option<String>,
    waiting: u32,
    frame: Frame,
}

#[derive(Default)]
struct Faces(Mutex<Face>);

/// Opens the window as it was left.
pub fn open(app: &AppHandle) -> tauri::Result<()> {
    let frame = frame_file(app)
        .and_then(|file| std::fs::read(file).ok())
        .and_then(|json| serde_json::from_slice::<Frame>(&json).ok())
        .unwrap_or_default();
    app.manage(Faces::default());
    face(app).frame = frame;
    let config = &app.config().app.windows;
    let config = config.iter().find(|window| window.label == MAIN);
    let config = config.ok_or(tauri::Error::WindowNotFound)?;
    let own = app.config().build.dev_url.clone();
    let window = WebviewWindowBuilder::from_config(app, config)?
        .inner_size(frame.width.max(640.0), frame.height.max(480.0))
        .maximized(frame.maximized)
        // Nothing but the app's own page is ever shown: a link or a dropped file cannot take its place.
        .on_navigation(move |address| is_own(address, own.as_ref()))
        .build()?;
    window.set_zoom(ZOOM[frame.zoom.min(ZOOM.len() - 1)])?;
    let handle = app.clone();
    window.on_window_event(move |event| heard(&handle, event));
    app.state::<Desk>()
        .views
        .focus(window.is_focused().unwrap_or(false));
    #[cfg(target_os = "linux")]
    revive(&window)?;
    Ok(())
}

fn is_own(address: &Url, dev: Option<&Url>) -> bool {
    match address.scheme() {
        "tauri" => address.host_str() == Some("localhost"),
        // WebView2 has no schemes of its own.
        "http" | "https" if address.host_str() == Some("tauri.localhost") => cfg!(windows),
        _ => cfg!(dev) && dev.is_some_and(|dev| dev.origin() == address.origin()),
    }
}

fn heard(app: &AppHandle, event: &WindowEvent) {
    match event {
        WindowEvent::Focused(focused) => app.state::<Desk>().views.focus(*focused),
        WindowEvent::CloseRequested { .. } => keep_frame(app),
        WindowEvent::Resized(_) => note_size(app),
        _ => {}
    }
}

fn note_size(app: &AppHandle) {
    let Some(window) = app.get_webview_window(MAIN) else {
        return;
    };
    let maximized = window.is_maximized().unwrap_or(false);
    let frame = &mut face(app).frame;
    frame.maximized = maximized;
    if !maximized && let (Ok(size), Ok(scale)) = (window.inner_size(), window.scale_factor()) {
        let size = size.to_logical::<f64>(scale);
        (frame.width, frame.height) = (size.width, size.height);
    }
}

/// Writes down how the window looks, for the next start.
pub fn keep_frame(app: &AppHandle) {
    let frame = face(app).frame;
    let Some(file) = frame_file(app) else { return };
    let written = serde_json::to_vec(&frame)
        .map_err(std::io::Error::from)
        .and_then(|json| std::fs::write(file, json));
    if let Err(error) = written {
        tracing::warn!(%error, "the size of the window could not be kept");
    }
}

fn frame_file(app: &AppHandle) -> Option<PathBuf> {
    let desk = app.state::<Desk>();
    desk.home.as_ref().map(|home| home.path().join("window.json"))
}

/// The window works on this project now.
pub fn show_project(app: &AppHandle, name: &str) {
    face(app).project = Some(name.to_owned());
    retitle(app);
}

/// So many things wait for the person.
pub fn show_waiting(app: &AppHandle, waiting: u32) {
    face(app).waiting = waiting;
    retitle(app);
}

fn retitle(app: &AppHandle) {
    let title = {
        let face = face(app);
        let count = match face.waiting {
            0 => String::new(),
            waiting => format!("({waiting}) "),
        };
        let project = face.project.as_ref().map(|name| format!("{name} – "));
        format!("{count}{}{NAME}", project.unwrap_or_default())
    };
    if let Some(window) = app.get_webview_window(MAIN) {
        let _ = window.set_title(&title);
    }
}

/// Brings the window to the person: out of hiding, up from the task bar, in front.
pub fn bring_up(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(MAIN) {
        let _ = window.show();
        let _ = window.unminimize();
        let _ = window.set_focus();
    }
}

/// Closes the window as its own button does; the app ends with it.
pub fn close(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(MAIN) {
        let _ = window.close();
    }
}

/// Makes the page larger or smaller by a number of steps; 0 brings back its own size.
pub fn zoom(app: &AppHandle, steps: isize) {
    let zoom = {
        let frame = &mut face(app).frame;
        let wanted = match steps {
            0 => ZOOM_NORMAL,
            steps => frame.zoom.saturating_add_signed(steps).min(ZOOM.len() - 1),
        };
        frame.zoom = wanted;
        ZOOM[wanted]
    };
    if let Some(window) = app.get_webview_window(MAIN) {
        let _ = window.set_zoom(zoom);
    }
}

/// Loads the page again when its process died; one that dies again at once stays down. The sessions never notice.
#[cfg(target_os = "linux")]
fn revive(window: &tauri::WebviewWindow) -> tauri::Result<()> {
    use std::cell::Cell;
    use std::time::{Duration, Instant};
    use webkit2gtk::WebViewExt as _;

    const AT_ONCE: Duration = Duration::from_secs(5);
    window.with_webview(|page| {
        let last: Cell<Option<Instant>> = Cell::default();
        page.inner().connect_web_process_terminated(move |page, why| {
            tracing::error!(?why, "the page's process ended");
            if last
                .replace(Some(Instant::now()))
                .is_none_or(|last| last.elapsed() > AT_ONCE)
            {
                page.reload();
            }
        });
    })
}

fn face(app: &AppHandle) -> MutexGuard<'_, Face> {
    let faces = app.state::<Faces>().inner();
    faces.0.lock().unwrap_or_else(PoisonError::into_inner)
}
