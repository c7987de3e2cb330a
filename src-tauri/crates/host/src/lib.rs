//! paddock-host
