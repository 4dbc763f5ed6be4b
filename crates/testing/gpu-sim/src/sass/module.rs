//! A loaded cubin: its kernels' programs, and its variables in memory.

use super::block;
use super::count::Counts;
use super::cubin::{Cubin, Kernel, Section};
use super::decoded::{Context, DecodedInstruction, decode};
use super::device_memory::DeviceMemory;
use super::fault::catch;
use super::form::known;
use super::kernel_code::{KernelCode, Pool};
use super::listing::{self, Line, STRIDE, Text};
use super::op::memory::bank0;
use super::run_order::{Policy, RunOrder};
use super::schedule::{self, Extents, Shape};
use super::suspect::StoppedLaunch;
use super::warp::Launch;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Reason why a cubin can't be run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is not a cubin.
    #[error("the cubin can't be read: {0}")]
    Cubin(String),
    /// `nvdisasm` is missing or refuses the cubin.
    #[error("{program}: {reason}; the wheel nvidia-cuda-nvdisasm has it")]
    Disassembler {
        /// The disassembler's program.
        program: String,
        /// Message of the disassembler.
        reason: String,
    },
    /// Unknown instructions, each once.
    #[error("{0}")]
    Refused(String),
    /// A function that the driver provides and the simulator lacks.
    #[error("the text calls `{0}`, which is not simulated")]
    Driver(String),
    /// An unknown kind of relocation.
    #[error("a relocation of kind {0} in {1}")]
    Relocation(u32, String),
    /// The variables take more memory than a simulation allows.
    #[error("its variables have {0} bytes, {MAX_VARIABLE_BYTES} are simulated")]
    Variables(usize),
}

/// A kernel that can be launched.
#[derive(Debug)]
pub struct Code {
    /// Decoded instructions.
    pub program: KernelCode,
    /// Facts that a launch needs.
    pub kernel: Kernel,
    /// Counts of all launches of the kernel.
    pub counts: Counts,
    /// Bytes of shared memory that the kernel declares.
    pub shared_bytes: usize,
}

/// A loaded cubin.
#[derive(Debug)]
pub struct LoadedCubin {
    /// Kernels by name.
    pub kernels: BTreeMap<String, Code>,
    /// Memory of the variables, by section. Code and `variables` hold addresses in this memory,
    /// so it lives as long as they do.
    memory: BTreeMap<usize, Box<[u128]>>,
    /// Address and size of each variable.
    pub variables: BTreeMap<String, (u64, usize)>,
    arch: u32,
}

/// Greatest number of bytes of all variables of a module, because each launch copies them.
const MAX_VARIABLE_BYTES: usize = 16 << 20;
/// Least number of bytes of constant bank 0.
const BANK0_BYTES: usize = 0x400;

/// Returns the output of `nvdisasm` for a cubin.
pub fn disassemble(program: &Path, cubin: &Path) -> Result<String, LoadError> {
    let failed =
        |reason: String| LoadError::Disassembler { program: program.display().to_string(), reason };
    let run = Command::new(program).arg("-c").arg(cubin).output();
    let run = run.map_err(|error| failed(error.to_string()))?;
    if !run.status.success() {
        return Err(failed(String::from_utf8_lossy(&run.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}

impl LoadedCubin {
    /// Loads a cubin by its listing.
    pub fn load(file: &[u8], listing: &str) -> Result<Self, LoadError> {
        let cubin = Cubin::read(file).map_err(LoadError::Cubin)?;
        // Names that begin with a dot belong to the assembler.
        let is_outside = |name: &str| !name.is_empty() && !name.starts_with('.');
        let mut symbols = cubin.symbols.iter();
        if let Some(function) = symbols.find(|it| it.section == 0 && is_outside(it.name)) {
            return Err(LoadError::Driver(function.name.to_owned()));
        }
        let texts = listing::read(listing).map_err(LoadError::Cubin)?;
        let memory = variables_memory(&cubin)?;
        let mut refused = BTreeSet::new();
        let mut kernels = BTreeMap::new();
        for text in &texts {
            let banks = banks(&cubin, text.kernel, &memory)?;
            let kernel = cubin.kernels.get(text.kernel).cloned().unwrap_or_default();
            let program = program(&cubin, text, banks, &mut refused);
            let counts = Counts::new(program.instructions.len());
            let shared = cubin.section(&format!(".nv.shared.{}", text.kernel));
            let shared_bytes = shared.map_or(0, |(_, it)| it.size);
            let code = Code { program, kernel, counts, shared_bytes };
            kernels.insert(text.kernel.to_owned(), code);
        }
        if !refused.is_empty() {
            return Err(LoadError::Refused(refused.into_iter().collect::<Vec<_>>().join("\n")));
        }
        let at = |section: usize| memory.get(&section).map(|it| it.as_ptr() as u64);
        let variable = |it: &super::cubin::Symbol<'_>| {
            Some((it.name.to_owned(), (at(it.section)? + it.at as u64, it.size)))
        };
        let variables = cubin.symbols.iter().filter_map(variable).collect();
        Ok(Self { kernels, memory, variables, arch: cubin.arch })
    }

    /// Runs a kernel in the host's memory, given the bytes of its parameters in order. A fault
    /// panics.
    pub fn launch(
        &mut self,
        name: &str,
        (blocks, threads): (u32, u32),
        parameters: &[&[u8]],
        order: impl Into<RunOrder>,
    ) {
        let code = self.kernels.get_mut(name).expect("a kernel of this module");
        let shape = (Extents::line(blocks), Extents::line(threads));
        let bank = filled_bank0(code, self.arch, shape, parameters);
        let launch = Launch {
            program: &code.program,
            bank0: &bank,
            local_bytes: local_bytes(&code.kernel),
            order: order.into(),
            device: None,
            shape,
        };
        let mut warps = Vec::new();
        let ran = catch(|| {
            for number in 0..blocks {
                block::run(&mut warps, &launch, &mut code.counts, (number, threads));
            }
        });
        ran.unwrap_or_else(|fault| panic!("{}", fault.message));
    }

    /// Runs a kernel in a device's memory, given the bytes of its parameters in order. Returns
    /// the first fault, with the suspect words that were read before it.
    pub fn launch_on(
        &mut self,
        name: &str,
        shape: Shape,
        parameters: &[&[u8]],
        mut memory: DeviceMemory,
    ) -> Result<DeviceMemory, StoppedLaunch> {
        for (name, &(address, size)) in self.variables.iter().filter(|(_, it)| it.1 > 0) {
            memory.add_variable(name, address, self.initial_bytes(address, size));
        }
        let code = self.kernels.get_mut(name).expect("a kernel of this module");
        memory.begin_launch(code.shared_bytes + shape.shared_bytes, shape.threads.count());
        memory.seed = shape.seed;
        let bank = filled_bank0(code, self.arch, (shape.blocks, shape.threads), parameters);
        let device = RefCell::new(memory);
        let launch = Launch {
            program: &code.program,
            bank0: &bank,
            local_bytes: local_bytes(&code.kernel),
            order: Policy::Seeded(shape.seed).into(),
            device: Some(&device),
            shape: (shape.blocks, shape.threads),
        };
        let ran = catch(|| schedule::run(&launch, &device, &mut code.counts, shape));
        let memory = device.into_inner();
        match ran {
            Ok(()) => Ok(memory),
            Err(fault) => Err(StoppedLaunch { fault, suspects: memory.suspects }),
        }
    }

    /// Copies the variables after a launch into the module, for the next launch of a program.
    pub fn keep_variables(&mut self, memory: &DeviceMemory) {
        let names = self.variables.iter().filter(|(_, it)| it.1 > 0).map(|(name, _)| name);
        let named = |name: &String| Some((name.clone(), memory.variable(name)?.to_vec()));
        self.set_variables(&names.filter_map(named).collect());
    }

    /// Returns the bytes of all variables that the next launch begins with.
    pub fn variable_bytes(&self) -> BTreeMap<String, Vec<u8>> {
        let all = self.variables.iter().filter(|(_, it)| it.1 > 0);
        all.map(|(name, &(at, size))| (name.clone(), self.initial_bytes(at, size))).collect()
    }

    /// Gives variables the bytes with which the next launch begins.
    pub fn set_variables(&mut self, contents: &BTreeMap<String, Vec<u8>>) {
        for (name, bytes) in contents {
            let Some(&(address, size)) = self.variables.get(name) else { continue };
            let begins = |it: &&mut Box<[u128]>| {
                let first = it.as_ptr() as u64;
                (first..first + 16 * it.len() as u64).contains(&address)
            };
            let Some(section) = self.memory.values_mut().find(begins) else { continue };
            let at = (address - section.as_ptr() as u64) as usize;
            for (offset, byte) in (at..at + size).zip(bytes) {
                let (sixteen, shift) = (&mut section[offset / 16], 8 * (offset % 16));
                *sixteen = *sixteen & !(0xFF << shift) | u128::from(*byte) << shift;
            }
        }
    }

    /// Returns the initial bytes of a variable of the module.
    fn initial_bytes(&self, address: u64, size: usize) -> Vec<u8> {
        let holds = |memory: &&[u128]| {
            let first = memory.as_ptr() as u64;
            (first..first + 16 * memory.len() as u64).contains(&address)
        };
        let memory = self
            .memory
            .values()
            .map(|it| &**it)
            .find(holds)
            .expect("a variable lies in its section");
        let at = (address - memory.as_ptr() as u64) as usize;
        // Only this variable is copied, because a module may have thousands.
        let around = &memory[at / 16..(at + size).div_ceil(16)];
        let bytes = around.iter().flat_map(|sixteen| sixteen.to_le_bytes());
        bytes.skip(at % 16).take(size).collect()
    }
}

fn local_bytes(kernel: &Kernel) -> usize {
    kernel.stack_bytes.next_multiple_of(16)
}

/// Makes constant bank 0 of a launch, with its parameters.
fn filled_bank0(
    code: &Code,
    arch: u32,
    shape: (Extents, Extents),
    parameters: &[&[u8]],
) -> Vec<u8> {
    let local_bytes = local_bytes(&code.kernel) as u32;
    let mut bank = bank0(bank0_bytes(&code.kernel), arch, shape, local_bytes);
    for (bytes, (offset, size)) in parameters.iter().zip(&code.kernel.parameters) {
        let at = code.kernel.base + offset;
        bank[at..at + size].copy_from_slice(bytes);
    }
    bank
}

fn bank0_bytes(kernel: &Kernel) -> usize {
    let parameters = kernel.parameters.iter().map(|(offset, size)| offset + size).max();
    (kernel.base + parameters.unwrap_or(0)).max(BANK0_BYTES)
}

/// Makes the memory of the sections with variables, filled with their values.
fn variables_memory(cubin: &Cubin<'_>) -> Result<BTreeMap<usize, Box<[u128]>>, LoadError> {
    let sections = cubin.sections.iter().enumerate();
    let sections = sections.filter(|(_, it)| matches!(it.name, ".nv.global" | ".nv.global.init"));
    // The size of a section is stored modulo 2^32, those of its variables are not.
    let size = |(number, section): (usize, &Section<'_>)| {
        let symbols = cubin.symbols.iter().filter(|it| it.section == number);
        symbols.map(|it| it.at.saturating_add(it.size)).fold(section.size, usize::max)
    };
    let bytes = sections.clone().map(size).fold(0, usize::saturating_add);
    if bytes > MAX_VARIABLE_BYTES {
        return Err(LoadError::Variables(bytes));
    }
    let filled = |bytes: &[u8], size: usize| {
        let mut memory = vec![0_u128; size.div_ceil(16)].into_boxed_slice();
        for (to, from) in memory.iter_mut().zip(bytes.chunks(16)) {
            let mut sixteen = [0; 16];
            sixteen[..from.len()].copy_from_slice(from);
            *to = u128::from_le_bytes(sixteen);
        }
        memory
    };
    Ok(sections.map(|it| (it.0, filled(it.1.bytes, size(it)))).collect())
}

/// Makes a kernel's constant banks from 1 on, with the addresses of variables in them.
fn banks(
    cubin: &Cubin<'_>,
    kernel: &str,
    memory: &BTreeMap<usize, Box<[u128]>>,
) -> Result<[Vec<u8>; 8], LoadError> {
    let mut banks: [Vec<u8>; 8] = Default::default();
    for (number, bank) in banks.iter_mut().enumerate().skip(1) {
        let name = format!(".nv.constant{number}");
        let kernel_bank = cubin.section(&format!("{name}.{kernel}"));
        let Some((section, bank_section)) = kernel_bank.or_else(|| cubin.section(&name)) else {
            continue;
        };
        *bank = bank_section.bytes.to_vec();
        bank.resize(bank_section.size, 0);
        for it in cubin.relocations.iter().filter(|it| it.section == section) {
            let unknown = || LoadError::Relocation(it.kind, bank_section.name.to_owned());
            let symbol = cubin.symbols.get(it.symbol).ok_or_else(unknown)?;
            let base = memory.get(&symbol.section).ok_or_else(unknown)?.as_ptr() as u64;
            let address = (base + symbol.at as u64).wrapping_add_signed(it.addend);
            let bytes = match it.kind {
                2 => address.to_le_bytes().to_vec(),
                56 => (address as u32).to_le_bytes().to_vec(),
                57 => ((address >> 32) as u32).to_le_bytes().to_vec(),
                _ => return Err(unknown()),
            };
            bank[it.at..it.at + bytes.len()].copy_from_slice(&bytes);
        }
    }
    Ok(banks)
}

/// Decodes all lines, and collects the unknown instructions.
fn program(
    cubin: &Cubin<'_>,
    text: &Text<'_>,
    banks: [Vec<u8>; 8],
    refused: &mut BTreeSet<String>,
) -> KernelCode {
    let code = cubin.section(&format!(".text.{}", text.kernel)).map_or(&[][..], |(_, it)| it.bytes);
    let kernel = cubin.kernels.get(text.kernel).cloned().unwrap_or_default();
    let mut pool = Pool::default();
    let bank0_bytes = bank0_bytes(&kernel);
    let mut context =
        Context { labels: &text.labels, pool: &mut pool, banks: &banks, bank0_bytes, code };
    let mut instructions = Vec::with_capacity(text.lines.len());
    for line in &text.lines {
        match inst(line, &mut context) {
            Ok(inst) => instructions.push(inst),
            Err(reason) => _ = refused.insert(reason),
        }
    }
    mark_loads_before_exchanges(&mut instructions);
    mark_loads_of_phases(&mut instructions);
    let functions = text.labels.iter().filter(|(name, _)| !name.starts_with('.'));
    let mut functions: Vec<_> =
        functions.map(|(name, address)| (address / STRIDE, (*name).to_owned())).collect();
    functions.sort();
    let entry = text.labels.get(text.kernel).map_or(0, |address| address / STRIDE);
    let kernel = text.kernel.to_owned();
    KernelCode { kernel, instructions, entry, pool: pool.entries, banks, functions }
}

/// Greatest number of instructions between a load and its compare-and-exchange.
const EXCHANGE_DISTANCE: usize = 32;

fn mark_loads_before_exchanges(instructions: &mut [DecodedInstruction]) {
    let exchanges = (0..instructions.len()).filter(|at| instructions[*at].pattern.contains("CAS"));
    for at in exchanges.collect::<Vec<_>>() {
        let base = instructions[at].place.base;
        // If the compiler makes a loop of one atomic operation, the whole loop has a single
        // source line.
        let loop_line =
            instructions[at].pattern.contains("CAST.SPIN").then_some(instructions[at].source_line);
        for before in &mut instructions[at.saturating_sub(EXCHANGE_DISTANCE)..at] {
            let is_load = before.pattern.starts_with("{LD,")
                || before.pattern.starts_with("{LDS}") && loop_line == Some(before.source_line);
            before.is_exchange |= is_load && before.place.base == base;
        }
    }
}

/// Greatest number of instructions between the load of a barrier in memory and the test of the
/// barrier's phase.
const PHASE_DISTANCE: usize = 8;

/// Marks the loads of which only the top bit is tested, in kernels that arrive on a barrier in
/// memory.
fn mark_loads_of_phases(instructions: &mut [DecodedInstruction]) {
    if !instructions.iter().any(|it| it.pattern.contains("ARRIVE")) {
        return;
    }
    let is_test =
        |it: &DecodedInstruction| it.pattern.contains("LOP3.LUT") && it.text.contains("0x80000000");
    for at in 0..instructions.len() {
        let mut next = instructions[at + 1..].iter().take(PHASE_DISTANCE);
        let to = instructions[at].to;
        if instructions[at].pattern.starts_with("{LDS}") {
            let is_tested = next.any(|it| is_test(it) && it.from.iter().any(|it| it.low == to));
            instructions[at].is_exchange |= is_tested;
        }
    }
}

fn inst(line: &Line<'_>, context: &mut Context<'_>) -> Result<DecodedInstruction, String> {
    let rows = known(line.mnemonic);
    if rows.is_empty() {
        return Err(format!("`{}` is not known: `{}`", line.mnemonic, line.text));
    }
    let mut reasons = Vec::new();
    for known in rows {
        match decode(line, known.row, known.modifiers, context) {
            Ok(inst) => return Ok(inst),
            Err(reason) => reasons.push(reason),
        }
    }
    Err(format!("`{}`: {}", line.text, reasons.join("; or ")))
}
