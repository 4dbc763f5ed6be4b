//! Conversions between a case and the bytes that kernels see, by the names of the fields.

use std::collections::BTreeMap;

use gbxcule_ir::layout::field_offsets;
use gbxcule_ir::{Shape, Type, Types};

use gbxcule_testkit::sm83::{Outcome, RecordedInstruction, State, memory};

const REGISTERS: [&str; 8] = ["cpu.a", "f", "cpu.b", "cpu.c", "cpu.d", "cpu.e", "cpu.h", "cpu.l"];

/// Offsets of the fields of a case.
pub(crate) struct Image {
    /// Offset and size in bytes of each field, such as `machine.cells.0.value`.
    fields: BTreeMap<String, (usize, usize)>,
    pub(crate) size: usize,
}

impl Image {
    pub(crate) fn new(types: &Types, case: Type) -> Self {
        let mut fields = BTreeMap::new();
        collect(types, case, "", 0, &mut fields);
        Self { fields, size: types.layout(case).expect("a layout").size as usize }
    }

    fn place(&self, field: &str) -> (usize, usize) {
        *self.fields.get(field).unwrap_or_else(|| panic!("a case has no `{field}`"))
    }

    fn get(&self, bytes: &[u8], field: &str) -> u32 {
        let (offset, width) = self.place(field);
        let mut word = [0; 4];
        word[..width].copy_from_slice(&bytes[offset..offset + width]);
        u32::from_le_bytes(word)
    }

    fn set(&self, bytes: &mut [u8], field: &str, value: impl Into<u32>) {
        let (offset, width) = self.place(field);
        let word = value.into().to_le_bytes();
        bytes[offset..offset + width].copy_from_slice(&word[..width]);
    }

    /// Returns the bytes of a case before its instruction.
    pub(crate) fn of(&self, case: &RecordedInstruction) -> Vec<u8> {
        let mut bytes = vec![0; self.size];
        let State { registers, sp, pc, ime, memory } = &case.before;
        for (name, &value) in REGISTERS.into_iter().zip(registers) {
            self.set(&mut bytes, name, value);
        }
        self.set(&mut bytes, "cpu.sp", *sp);
        self.set(&mut bytes, "cpu.pc", *pc);
        self.set(&mut bytes, "cpu.ime", *ime);
        self.set(&mut bytes, "machine.interrupts.enabled", case.enabled);
        self.set(&mut bytes, "machine.cell_count", memory.len() as u32);
        for (at, (&address, &value)) in memory.iter().enumerate() {
            self.set(&mut bytes, &format!("machine.cells.{at}.address"), address);
            self.set(&mut bytes, &format!("machine.cells.{at}.value"), value);
        }
        self.set(&mut bytes, "mcycles", case.outcome.accesses.len() as u32);
        bytes
    }

    /// Returns the outcome in the bytes of a case.
    pub(crate) fn outcome(&self, bytes: &[u8]) -> Outcome {
        let get = |field: &str| self.get(bytes, field);
        let cells = (0..get("machine.cell_count")).map(|at| {
            let cell = |name| get(&format!("machine.cells.{at}.{name}"));
            (cell("address") as u16, cell("value") as u8)
        });
        let accesses = (0..get("machine.access_count")).map(|at| {
            let access = |name| get(&format!("machine.accesses.{at}.{name}"));
            (access("kind") as u8, access("address") as u16, access("value") as u8)
        });
        Outcome {
            state: State {
                registers: REGISTERS.map(|name| get(name) as u8),
                sp: get("cpu.sp") as u16,
                pc: get("cpu.pc") as u16,
                ime: get("cpu.ime") != 0 || get("cpu.ime_delayed") != 0,
                memory: memory(cells),
            },
            accesses: accesses.collect(),
        }
    }
}

fn collect(
    types: &Types,
    ty: Type,
    path: &str,
    at: usize,
    found: &mut BTreeMap<String, (usize, usize)>,
) {
    let inner = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    match types[ty] {
        Shape::Struct(id) => {
            let structure = types.structure(id);
            let offsets = field_offsets(types, structure).expect("a layout");
            for (field, offset) in structure.fields.iter().zip(offsets) {
                collect(types, field.ty, &inner(&field.name), at + offset as usize, found);
            }
        }
        Shape::Fixed { of, len } => {
            let step = types.layout(of).expect("a layout").size as usize;
            for index in 0..len as usize {
                collect(types, of, &inner(&index.to_string()), at + index * step, found);
            }
        }
        Shape::Scalar(scalar) => {
            found.insert(path.to_owned(), (at, scalar.bytes() as usize));
        }
        _ => panic!("a case holds a `{}`", types.display(ty)),
    }
}
