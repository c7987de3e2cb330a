//! paddock-provider
