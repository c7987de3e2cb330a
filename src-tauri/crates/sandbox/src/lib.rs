//! paddock-sandbox
