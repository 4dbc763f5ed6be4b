//! Parameters of a kernel: arrays that it reads or writes, and counts.

use super::KernelBuilder;
use crate::ast::{INT, Name, Ty};
use crate::identifiers::{self, Role};
use crate::input::ArgumentInput;

impl KernelBuilder {
    /// Adds an array that is read at the launch indices, and returns its name.
    pub(super) fn input(&mut self, ty: Ty) -> Name {
        let shape = self.dims();
        self.input_of(ty, shape)
    }

    pub(super) fn input_of(&mut self, ty: Ty, shape: Vec<u32>) -> Name {
        let name = self.array_name(ty);
        let given = ArgumentInput::spread(self.random(), shape.clone());
        let name = self.param(name, ty, shape.len() as u8, given);
        self.reveal_array(&name, ty, shape);
        name
    }

    /// Adds an array of numbers that the family reads where it chooses, and returns its name.
    pub(super) fn side_table(&mut self, ty: Ty, shape: Vec<u32>) -> Name {
        let given = ArgumentInput::spread(self.random(), shape.clone());
        self.side_input(ty, shape, given)
    }

    /// Adds an array with an element for each thread, and returns its name.
    pub(super) fn side_table_here(&mut self, ty: Ty) -> Name {
        let shape = self.dims();
        self.side_table(ty, shape)
    }

    /// Adds an array whose elements are read at indices that the family chooses, and returns its
    /// name.
    pub(super) fn side_input(&mut self, ty: Ty, shape: Vec<u32>, given: ArgumentInput) -> Name {
        let name = self.array_name(ty);
        self.param(name, ty, shape.len() as u8, ArgumentInput { shape, ..given })
    }

    pub(super) fn array_name(&mut self, ty: Ty) -> Name {
        let single = if self.random().chance(12) {
            self.name_from(&["x", "a", "b", "c", "src", "data", "values"])
        } else {
            self.name_for(ty)
        };
        if single.len() < 4 || matches!(&*single, "data" | "values") {
            return single;
        }
        let plural = identifiers::plural(&single);
        if self.random().chance(70) && self.take(&plural) { plural.into() } else { single }
    }

    /// Adds an array of zeros that the kernel writes, and returns its name.
    pub(super) fn output(&mut self, ty: Ty, shape: Vec<u32>) -> Name {
        let name = self.name_of(Role::Output);
        let dims = shape.len() as u8;
        self.param(name, ty, dims, ArgumentInput::zeros(shape))
    }

    /// Adds an array of zeros that has an element for each thread, and returns its name.
    pub(super) fn output_here(&mut self, ty: Ty) -> Name {
        let shape = self.dims();
        self.output(ty, shape)
    }

    /// Adds a parameter that counts from `low` to `high`, and returns its name.
    pub(super) fn count(&mut self, low: i64, high: i64) -> Name {
        let words = ["n", "count", "iterations", "steps", "num_terms", "rounds", "limit", "order"];
        let name = self.name_from(&words);
        let given = ArgumentInput::integers(vec![], low, high);
        self.param(name, INT, 0, given)
    }
}
