//! One Game Boy.
#![no_std]

pub mod apu;
pub mod cart;
pub mod header;
