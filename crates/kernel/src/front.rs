//! Front ends: texts in some language to IR. They know neither each other nor the back ends.

pub mod python;
pub mod rust;
