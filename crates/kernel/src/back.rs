//! Back ends: from a checked module to something else. Each takes a `Valid<Module>`, so none of them
//! can fail on what the user wrote.

pub mod clif;
pub mod cxx;
