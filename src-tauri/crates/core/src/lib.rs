//! paddock-core
