//! An unknown entry point is named.

fn g() {}

//= ir
// error[rust-entry]: no function, or more than one, is called `run`
