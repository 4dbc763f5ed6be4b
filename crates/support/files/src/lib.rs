//! All reading and writing of files that a user, or another program, names.
//!
//! A path is one of this machine: [`check_local`] refuses URLs wherever a file is opened or made.
//! [`read()`] and [`open`] take regular files only, up to a size. [`write()`] and [`NewFile`] fill
//! a file under a random name beside its place and rename it, so that a file is complete or not
//! there; [`TemporaryFolder`] does so with folders, and is a place for scratch files. A file or
//! folder with such a name is locked by its owner for as long as it is in use, so that [`sweep`]
//! tells the remains of a killed process from the work of a living one, in containers too. Nothing
//! else in this workspace opens a file to write. Calls that are interrupted for ever are an error,
//! for standard output as well ([`write_standard`]).

mod folder;
mod hex;
mod local_path;
mod new_file;
mod open_folder;
mod patience;
mod read;
mod removal;
mod same_file;
mod temporary;
mod write_target;

pub use folder::TemporaryFolder;
pub use hex::hex;
pub use local_path::check_local;
pub use new_file::{
    NewFile, allow_execution, check_writable, move_inside, replace, write, write_new, write_scratch,
};
pub use patience::{Patient, write_standard};
pub use read::{MAX_ROM_BYTES, MAX_TEXT_BYTES, open, read, read_own, read_record, read_text};
pub use same_file::is_same_file;
pub use temporary::{random_word, remove_all, sweep};

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
