//! paddock-store
