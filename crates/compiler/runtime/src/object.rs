//! Position-independent machine code of a module: it names the functions that it calls, and its
//! references to these functions, to its own functions and to its tables have no addresses yet.

use crate::error::Error;
use crate::generate::{Generated, HostCompiler};
use crate::recipe::record::{Stored, stored};
use cranelift_codegen::binemit::Reloc;
use cranelift_module::{FuncId, ModuleReloc, ModuleRelocTarget};
use gbxcule_back_clif::{Boundary, Import, LoweredModule, Options, Sharing, lower};
use gbxcule_ir::abi::Checks;
use gbxcule_ir::check::Valid;
use gbxcule_ir::{Module, Native, Scalar};

/// Machine code without addresses.
pub(crate) struct Object {
    /// Functions of the program, by position.
    pub(crate) functions: Vec<Generated>,
    /// Functions that the program's functions call, in the order of [`LoweredModule::imports`].
    pub(crate) imports: Vec<Import>,
    /// Bytes of constant tables.
    pub(crate) tables: Vec<Box<[u8]>>,
}

stored! {
    Generated { bytes, alignment, relocations }
    Object { functions, imports, tables }
}

/// Kinds of references that records hold, for the processors that Cranelift supports.
const KINDS: [Reloc; 10] = [
    Reloc::Abs8,
    Reloc::X86PCRel4,
    Reloc::X86CallPCRel4,
    Reloc::X86CallPLTRel4,
    Reloc::Arm64Call,
    Reloc::Aarch64AdrPrelPgHi21,
    Reloc::Aarch64AddAbsLo12Nc,
    Reloc::RiscvCallPlt,
    Reloc::RiscvPCRelHi20,
    Reloc::RiscvPCRelLo12I,
];

impl Object {
    /// Lowers a module and compiles it.
    pub(crate) fn new(
        module: &Valid<Module>,
        boundary: Boundary<'_>,
        checks: Checks,
        sharing: Sharing,
    ) -> Result<(Self, LoweredModule), Error> {
        let host = HostCompiler::new()?;
        let options = Options { checks, sharing, target: host.optimising.frontend_config() };
        let program = lower(module, boundary, options);
        let generated = host.generate(&program.functions).into_iter().zip(&program.functions);
        let functions = generated.map(|(generated, emitted)| {
            generated.map_err(|reason| {
                let function = module.functions[emitted.function].name.clone();
                Error::Code { function, reason }
            })
        });
        let functions = functions.collect::<Result<_, Error>>()?;
        let tables = program.tables.iter().map(|&table| module.tables[table].bytes.clone());
        let object = Self { functions, imports: program.imports.clone(), tables: tables.collect() };
        Ok((object, program))
    }

    /// Returns true if a record can hold all references and names.
    pub(crate) fn is_storable(&self) -> bool {
        let mut relocations = self.functions.iter().flat_map(|function| &function.relocations);
        self.imports.iter().all(|import| !matches!(import, Import::External(_)))
            && relocations.all(|it| {
                KINDS.contains(&it.kind) && !matches!(it.name, ModuleRelocTarget::KnownSymbol(_))
            })
    }
}

impl Stored for ModuleReloc {
    fn write(&self, record: &mut Vec<u8>) {
        let kind = KINDS.iter().position(|&kind| kind == self.kind);
        let Some(kind) = kind else { unreachable!("`is_storable` holds") };
        (self.offset, kind, self.addend).write(record);
        match &self.name {
            ModuleRelocTarget::User { namespace, index } => (0u8, *namespace, *index).write(record),
            ModuleRelocTarget::FunctionOffset(function, offset) => {
                (1u8, function.as_u32(), *offset).write(record);
            }
            ModuleRelocTarget::LibCall(call) => (2u8, call.to_string()).write(record),
            ModuleRelocTarget::KnownSymbol(_) => unreachable!("`is_storable` holds"),
        }
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let (offset, kind, addend) = <(u32, usize, i64)>::read(input)?;
        let name = match u8::read(input)? {
            0 => {
                let (namespace, index) = Stored::read(input)?;
                ModuleRelocTarget::User { namespace, index }
            }
            1 => {
                let (function, offset) = Stored::read(input)?;
                ModuleRelocTarget::FunctionOffset(FuncId::from_u32(function), offset)
            }
            2 => ModuleRelocTarget::LibCall(String::read(input)?.parse().ok()?),
            _ => return None,
        };
        Some(Self { offset, kind: *KINDS.get(kind)?, name, addend })
    }
}

/// Iterates over all functions of the runtime that code calls, with their names in records.
fn imports() -> impl Iterator<Item = (String, Import)> {
    let floats = [Scalar::F32, Scalar::F64];
    let natives = Native::all().flat_map(move |native| {
        floats.map(|of| {
            (format!("{} {}", native.row().name, of.spelled()), Import::Native(native, of))
        })
    });
    let remainders = floats.map(|of| (format!("fmod {}", of.spelled()), Import::Remainder(of)));
    natives.chain(remainders).chain([("print".into(), Import::Print)])
}

impl Stored for Import {
    fn write(&self, record: &mut Vec<u8>) {
        let name = imports().find(|(_, import)| import == self).map(|(name, _)| name);
        let Some(name) = name else { unreachable!("`is_storable` holds") };
        name.write(record);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let name = String::read(input)?;
        imports().find(|(known, _)| *known == name).map(|(_, import)| import)
    }
}
