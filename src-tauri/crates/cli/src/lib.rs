//! paddock-cli
