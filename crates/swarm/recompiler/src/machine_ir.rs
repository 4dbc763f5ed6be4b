//! The machine's source as IR, with the functions and fields from which blocks are made. Blocks are
//! for machines of the usual hardware revision.

use gbxcule_gameboy::{SOURCES, USUAL_FLAGS};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Builder, FunctionId, Module, Param, Shape, Type};
use std::sync::OnceLock;

/// The functions that execute an instruction.
const ENTRIES: [&str; 2] = ["Cpu::fetch", "Cpu::execute"];

/// The machine's functions and where its fields are.
#[derive(Debug)]
pub struct MachineIr {
    /// All functions with their bodies.
    pub module: Valid<Module>,
    /// The module with empty bodies, for code that only calls these functions.
    outlines: Module,
    pub(crate) fetch: FunctionId,
    pub(crate) execute: FunctionId,
    pub(crate) machine: Type,
    pub(crate) array: Type,
    /// The registers' fields: name and type.
    pub(crate) registers: Vec<(String, Type)>,
}

impl MachineIr {
    /// Returns the module, which is made once in a process.
    pub fn get() -> &'static Self {
        static TRANSLATION: OnceLock<MachineIr> = OnceLock::new();
        TRANSLATION.get_or_init(|| {
            let mut sources = SourceMap::new();
            let module =
                gbxcule_front_rust::lower_with_flags(SOURCES, USUAL_FLAGS, &ENTRIES, &mut sources);
            let module = module.and_then(check::module);
            // Tests of the machine translate every function, so this can't fail.
            let module = module.unwrap_or_else(|faults| {
                unreachable!("the machine keeps to the subset: {}", render(&faults, &sources))
            });
            Self::new(module)
        })
    }

    pub(crate) fn new(module: Valid<Module>) -> Self {
        let [fetch, execute] = ENTRIES.map(|name| {
            module.find(name).unwrap_or_else(|| unreachable!("`{name}` was asked for"))
        });
        let params = &module.functions[execute].params;
        let (cpu, machine, array) = (params[0].ty, params[1].ty, params[2].ty);
        let Shape::Struct(cpu) = module.types[cpu] else { unreachable!("`self` is the CPU") };
        let fields = module.types.structure(cpu).fields.iter();
        let registers = fields.map(|field| (field.name.clone(), field.ty)).collect();
        let mut outlines = Module::clone(&module);
        for id in outlines.functions.handles().collect::<Vec<_>>() {
            outlines.functions[id].body = gbxcule_ir::Body::default();
            let result = outlines.functions[id].result;
            let mut builder = Builder::new(&mut outlines, id);
            if result != Type::UNIT {
                let parts: Vec<Type> = match &builder.module.types[result] {
                    Shape::Tuple(parts) => parts.to_vec(),
                    _ => vec![result],
                };
                let zeros: Vec<_> = parts.iter().map(|&part| builder.zero(part)).collect();
                let zero = if parts.len() == 1 { zeros[0] } else { builder.tuple(&zeros) };
                builder.ret(Some(zero));
            }
            builder.finish();
        }
        Self { module, outlines, fetch, execute, machine, array, registers }
    }

    /// Returns a module with declarations of the machine's functions, to which callers add code.
    pub(crate) fn outlines(&self) -> Module {
        self.outlines.clone()
    }

    /// The position of a register in `registers`.
    pub(crate) fn register(&self, name: &str) -> usize {
        let position = self.registers.iter().position(|(register, _)| register == name);
        position.unwrap_or_else(|| unreachable!("the CPU has `{name}`"))
    }

    /// Field numbers that lead from the machine to one of its parts.
    pub(crate) fn path(&self, names: &[&str]) -> Vec<u64> {
        let (mut ty, mut path) = (self.machine, Vec::with_capacity(names.len()));
        for name in names {
            let Shape::Struct(id) = self.module.types[ty] else {
                unreachable!("`{name}` is a field")
            };
            let fields = &self.module.types.structure(id).fields;
            let field = fields.iter().position(|field| field.name == *name);
            let field = field.unwrap_or_else(|| unreachable!("the machine has `{name}`"));
            path.push(field as u64);
            ty = fields[field].ty;
        }
        path
    }

    /// Parameters of a block: the machine, ROM and cartridge RAM. The handles are passed by
    /// reference, so that a block that uses neither array loads nothing.
    pub(crate) fn params(&self) -> Vec<Param> {
        vec![
            Param::mutable("machine", self.machine),
            Param::shared("rom", self.array),
            Param::shared("cart_ram", self.array),
        ]
    }
}
