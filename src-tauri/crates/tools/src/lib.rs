//! What the agent can do: one typed file and its prose per tool.
//!
//! A tool declares what it would touch and then does it; whether it may is decided elsewhere, in one place.
//! Deliberately absent: permission code, the loop, anything a model could use to widen its reach.

mod arguments;
mod bounds;
pub mod bulk;
mod change;
mod contract;
mod diff;
mod folder;
mod gather;
mod nearest;
mod outcome;
mod patch;
mod paths;
mod place;
mod processes;
mod registry;
mod several;
mod terminal;
mod text;
mod typed;
mod walk;

mod apply_patch;
mod ask_question;
mod converse;
mod delegate;
mod delete_file;
mod diagnostics;
mod edit_file;
mod fetch;
mod find_files;
mod list_files;
mod matching;
mod move_file;
mod read_file;
mod read_output;
mod remember;
mod run_command;
mod search_files;
mod stop_process;
mod task_completion;
mod update_plan;
mod write_file;

pub use change::version_of;
pub use contract::*;
pub use diff::file_change;
pub use processes::{MAX_PROCESSES, OnProcessChange, ProcessChange, Processes};
pub use registry::Registry;
pub use text::{Encoding, LineEnd, Text};
