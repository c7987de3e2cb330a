//! paddock-tests
