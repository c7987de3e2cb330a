//! paddock-tools
