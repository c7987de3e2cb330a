//! paddock-policy
