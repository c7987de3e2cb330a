use crate::bed::Case;
pub const CASES: &[Case] = &[];
