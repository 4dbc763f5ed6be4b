//! The machine's scalars as columns: a column holds one field's values of all envs, and lies in one
//! of three tables by the scalar's width.
//!
//! A kernel loads all scalars of an env into a variable when it begins and stores them when it
//! ends; in between they live in the thread.

use gbxcule_ir::{Builder, PlaceId, Scalar, Shape, Type, Types, Value};

use super::machine_ir::{DETACHED, fields};

/// Bytes, 16-bit and 32-bit words: the element types of the tables.
pub(crate) const WIDTHS: [Scalar; 3] = [Scalar::U8, Scalar::U16, Scalar::U32];

/// Returns the table of a scalar's width.
fn table_of(scalar: Scalar) -> usize {
    match scalar.bytes() {
        1 => 0,
        2 => 1,
        4 => 2,
        _ => unreachable!("the machine has no scalar of 64 bits"),
    }
}

/// The parts of the machine, in the order of its fields and of a saved state.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MachineParts {
    pub(crate) parts: Vec<MachinePart>,
    /// Number of rows of each table.
    pub(crate) rows: [usize; 3],
}

/// A part of the machine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MachinePart {
    /// A scalar, with the table of its width and its row in it.
    Scalar { scalar: Scalar, table: usize, row: usize },
    /// A detached array, by its position in `DETACHED`.
    Array(usize),
}

impl MachineParts {
    fn push_scalar(&mut self, scalar: Scalar) {
        let table = table_of(scalar);
        let row = self.rows[table];
        self.rows[table] += 1;
        self.parts.push(MachinePart::Scalar { scalar, table, row });
    }

    /// Names of scalars and of arrays, as [`MachineParts::parse`] reads them.
    pub(crate) fn text(&self) -> String {
        let name = |part: &MachinePart| match part {
            MachinePart::Scalar { scalar, .. } => scalar.name(),
            MachinePart::Array(array) => DETACHED[*array],
        };
        self.parts.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    /// Reads what [`Self::text`] wrote; `None` for any other text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = Self::default();
        for name in text.split_whitespace() {
            match DETACHED.iter().position(|array| *array == name) {
                Some(array) => parts.parts.push(MachinePart::Array(array)),
                None => parts.push_scalar(Scalar::named(name)?),
            }
        }
        Some(parts)
    }
}

/// The columns of all scalars of the machine.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) machine: MachineParts,
    /// The path from the machine to each of its scalars.
    paths: Vec<Vec<PathStep>>,
}

/// A step of the path from the machine to a scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PathStep {
    Field(u32),
    At(i32),
}

impl Columns {
    /// Makes the columns of the machine whose arrays were detached.
    pub(crate) fn new(types: &Types, machine: Type) -> Self {
        let mut columns = Self { machine: MachineParts::default(), paths: Vec::new() };
        columns.collect(types, machine, &mut Vec::new());
        columns
    }

    fn collect(&mut self, types: &Types, ty: Type, path: &mut Vec<PathStep>) {
        match types[ty] {
            Shape::Struct(_) => {
                for (position, field) in fields(types, ty).iter().enumerate() {
                    let array = DETACHED.iter().position(|name| *name == field.name);
                    match array {
                        Some(array) if path.is_empty() => {
                            self.machine.parts.push(MachinePart::Array(array));
                        }
                        None if types.holds_array(field.ty) => {}
                        _ => {
                            path.push(PathStep::Field(position as u32));
                            self.collect(types, field.ty, path);
                            path.pop();
                        }
                    }
                }
            }
            Shape::Fixed { of, len } => {
                for index in 0..len {
                    path.push(PathStep::At(index as i32));
                    self.collect(types, of, path);
                    path.pop();
                }
            }
            Shape::Scalar(scalar) => {
                self.machine.push_scalar(scalar);
                self.paths.push(path.clone());
            }
            _ => unreachable!("the machine holds a `{}`", types.display(ty)),
        }
    }

    /// Loads an env's scalars into a machine.
    pub(crate) fn load(
        &self,
        b: &mut Builder<'_>,
        tables: [Value; 3],
        env: Value,
        machine: PlaceId,
    ) {
        self.each(b, tables, env, machine, |b, scalar, cell, place| {
            let bits = b.load(cell);
            let value = match scalar {
                Scalar::Bool => b.convert(bits, Scalar::Bool),
                scalar if scalar.is_unsigned_int() => bits,
                scalar => b.bitcast(bits, scalar),
            };
            b.store(place, value);
        });
    }

    /// Stores a machine's scalars as an env's.
    pub(crate) fn store(
        &self,
        b: &mut Builder<'_>,
        tables: [Value; 3],
        env: Value,
        machine: PlaceId,
    ) {
        self.each(b, tables, env, machine, |b, scalar, cell, place| {
            let value = b.load(place);
            let bits = match scalar {
                Scalar::Bool => b.convert(value, Scalar::U8),
                scalar if scalar.is_unsigned_int() => value,
                scalar => b.bitcast(value, WIDTHS[table_of(scalar)]),
            };
            b.store(cell, bits);
        });
    }

    fn each(
        &self,
        b: &mut Builder<'_>,
        tables: [Value; 3],
        env: Value,
        machine: PlaceId,
        visit: impl Fn(&mut Builder<'_>, Scalar, PlaceId, PlaceId),
    ) {
        let scalars = self.machine.parts.iter().filter_map(|part| match part {
            MachinePart::Scalar { scalar, table, row } => Some((scalar, table, row)),
            MachinePart::Array(_) => None,
        });
        for ((scalar, table, row), path) in scalars.zip(&self.paths) {
            let mut place = machine;
            for step in path {
                place = match *step {
                    PathStep::Field(field) => b.field(place, field),
                    PathStep::At(index) => {
                        let index = b.i32(index);
                        b.at(place, index)
                    }
                };
            }
            let (table, row) = (b.array_place(tables[*table]), b.i32(*row as i32));
            let cell = b.element(table, &[env, row]);
            visit(b, *scalar, cell, place);
        }
    }
}
