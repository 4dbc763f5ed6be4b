//! Back ends: from valid IR to what others compile or run.

pub mod cxx;
