//! The machine's scalars as columns: all envs' values of one field, beside each other in one of
//! three tables by the scalar's width.
//!
//! A kernel loads all of them into a variable when it begins and stores them when it ends; in
//! between they live in the thread.

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

/// Column of every scalar of the machine.
#[derive(Debug)]
pub(crate) struct Columns {
    /// Items in the order of the machine's fields, which is that of a saved state.
    pub(crate) items: Vec<MachinePart>,
    /// Rows of each table.
    pub(crate) rows: [usize; 3],
}

/// A part of the machine.
#[derive(Debug)]
pub(crate) enum MachinePart {
    /// A scalar, its way from the machine, and its row in the table of its width.
    Scalar { path: Vec<PathStep>, scalar: Scalar, table: usize, row: usize },
    /// One of the detached arrays, by its position among them.
    Array(usize),
}

/// A step from the machine to a scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PathStep {
    Field(u32),
    At(i32),
}

impl Columns {
    /// Makes the columns of the machine whose arrays were detached.
    pub(crate) fn new(types: &Types, machine: Type) -> Self {
        let mut columns = Self { items: Vec::new(), rows: [0; 3] };
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
                            self.items.push(MachinePart::Array(array));
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
                let table = table_of(scalar);
                let row = self.rows[table];
                self.rows[table] += 1;
                self.items.push(MachinePart::Scalar { path: path.clone(), scalar, table, row });
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
        for item in &self.items {
            let MachinePart::Scalar { path, scalar, table, row } = item else { continue };
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
