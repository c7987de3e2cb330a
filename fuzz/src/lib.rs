//! What the fuzz targets do with bytes. Each target is one function that panics when something that must hold does not, so
//! that the coverage-guided run of `cargo xtask fuzz` and the short one of the test suite call the same thing.

mod command;
mod log;
mod path;
mod stream;

pub use command::command;
pub use log::log;
pub use path::path;
pub use stream::stream;
