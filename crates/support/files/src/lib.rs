//! All reading and writing of files that a user, or another program, names.
//!
//! A path must be local: [`check_local`] refuses URLs wherever a file is opened or made. [`read()`]
//! and [`open`] accept only regular files, up to a size. [`write()`] and [`NewFile`] fill a
//! temporary file in the same folder and rename it, so that a file is complete or doesn't exist;
//! [`TemporaryFolder`] does the same with folders, and also holds scratch files. The process that
//! uses a temporary file or folder locks it, so that [`sweep`] distinguishes the remains of a
//! killed process from the work of a running process, in containers too. No other code in this
//! workspace opens a file to write. A call that is interrupted again and again is an error, for
//! standard output as well ([`write_standard`]).
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod folder;
mod foreign_name;
mod hex;
mod local_path;
mod new_file;
mod open_folder;
mod patience;
mod read;
mod removal;
mod same_file;
mod temporary;
mod tree;
mod write_target;

pub use folder::TemporaryFolder;
pub use foreign_name::{has_control_characters, is_terminal_command, shell_word};
pub use hex::hex;
pub use local_path::check_local;
pub use new_file::{
    NewFile, allow_execution, check_writable, move_inside, replace, write, write_new, write_scratch,
};
pub use patience::{Patient, write_standard};
pub use read::{MAX_ROM_BYTES, MAX_TEXT_BYTES, open, read, read_own, read_record, read_text};
pub use same_file::is_same_file;
pub use temporary::{random_word, remove_all, sweep};
pub use tree::{UnreadFolder, python_files};
