//! Rules about the tree itself, which no compiler holds: who depends on whom, how files are named
//! and how long they are, what one type does, how sentences read, and that pages name what exists.

mod architecture;
mod codes;
mod contributing;
mod files;
mod functions;
mod licences;
mod methods;
mod words;
