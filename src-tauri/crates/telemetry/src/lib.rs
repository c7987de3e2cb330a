//! What the programs tell about themselves to whoever asks for it: lines of what happens inside, and an export to an
//! OpenTelemetry collector. A crate of its own because all programs share it and the core must not know of it: the core
//! only says what happens (`tracing`, events); where that goes is decided here. Nothing here carries keys, arguments,
//! texts or contents of files, and nothing here can hold up or fail a turn.

#[cfg(feature = "otel")]
pub mod otel;
mod rotation;
pub mod trace;
