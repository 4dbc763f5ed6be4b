//! One Game Boy.
#![no_std]

pub mod cart;
pub mod header;
