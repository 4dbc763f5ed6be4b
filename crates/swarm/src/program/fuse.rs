//! From texts to functions of a module that has the machine.
//!
//! The functions take the machine, ROM, cartridge RAM and the turn first, which is what a
//! `gb.Machine` stands for in a text, then what the text names.

use std::path::Path;
use std::sync::OnceLock;

use gbxcule_dialect::{EntryParam, EntryPoint, Library, Program, Reader};
use gbxcule_gameboy::SOURCES;
use gbxcule_ir::diagnostic::{Diagnostic, render};
use gbxcule_ir::source::{SourceId, SourceMap, Span};
use gbxcule_ir::{FunctionId, Module, Op, Param, Type};
use gbxcule_runtime::once;
use gbxcule_subset;

use super::{ProgramText, Programs, Sizes, refused};
use crate::SwarmError;

/// Functions of the machine's sources that a module needs to take programs: those of
/// `gameboy::view`.
pub const PROGRAM_ENTRIES: &[&str] = &[
    "view::a",
    "view::action",
    "view::b",
    "view::bc",
    "view::bcd",
    "view::bit",
    "view::buttons",
    "view::c",
    "view::cart_ram",
    "view::d",
    "view::de",
    "view::e",
    "view::env",
    "view::f",
    "view::frames",
    "view::h",
    "view::hl",
    "view::l",
    "view::pc",
    "view::pixel",
    "view::read",
    "view::read16",
    "view::rom_bank",
    "view::seed",
    "view::sp",
];

/// More cells than that are no scratch any more: 4 MiB an env.
const SCRATCH_MAX: i128 = 1 << 20;
/// Four times a frame's pixels.
const OBS_DIM_MAX: i128 = 4 * 160 * 144;

/// A module with a swarm's programs in it.
#[derive(Debug)]
pub struct Fused {
    /// The module that was given, and the programs.
    pub module: Module,
    /// `(machine: &Machine, rom: array<u8>, cart_ram: array<u8>, turn: &Turn, scratch: array<f32>)
    /// -> f32`
    pub reward: FunctionId,
    /// A function with the reward's parameters and `-> bool`, if the reward's text has a `done`.
    pub done: Option<FunctionId>,
    /// `(machine, rom, cart_ram, turn, scratch, obs: array<f32>)`
    pub observe: FunctionId,
    /// `(machine, rom, cart_ram, turn, scratch)` of the reward's text and of the observation's, as
    /// far as they have it; one text for both has it once, as the reward's.
    pub begin: [Option<FunctionId>; 2],
}

impl Fused {
    /// All functions of the programs.
    pub(crate) fn functions(&self) -> Vec<FunctionId> {
        let needed = [self.reward, self.observe];
        needed.into_iter().chain(self.done).chain(self.begin.into_iter().flatten()).collect()
    }
}

impl Programs {
    /// Lowers the programs into a module that has at least [`PROGRAM_ENTRIES`].
    ///
    /// # Panics
    /// The module lacks them.
    #[must_use]
    pub fn fuse(&self, module: Module) -> Fused {
        let lowered = lower(self.reward(), self.obs(), module);
        lowered.unwrap_or_else(|error| unreachable!("checked before: {error}")).0
    }

    /// A fault of a running program, with its place in the text.
    pub(crate) fn describe(&self, fault: &Diagnostic) -> SwarmError {
        refused(std::slice::from_ref(fault), &sources(self.reward(), self.obs()).0)
    }
}

/// The module of what programs ask the machine, and no more.
#[must_use]
pub fn view_module() -> Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    let lowered = || {
        let mut sources = SourceMap::new();
        gbxcule_subset::lower(SOURCES, PROGRAM_ENTRIES, &mut sources).unwrap_or_else(|faults| {
            unreachable!("the sources keep to the subset: {}", render(&faults, &sources))
        })
    };
    once(&MODULE, lowered).clone()
}

/// Everything about two texts but the functions, if they are right.
pub(super) fn check(reward: &ProgramText, obs: &ProgramText) -> Result<Sizes, SwarmError> {
    lower(reward, obs, view_module()).map(|(_, sizes)| sizes)
}

/// The machine's sources as [`gbxcule_subset::lower`] counts them, then the programs; and which
/// those are.
fn sources(reward: &ProgramText, obs: &ProgramText) -> (SourceMap, [SourceId; 2]) {
    let mut sources = SourceMap::new();
    for (path, text) in SOURCES {
        sources.add(*path, *text);
    }
    let first = sources.add(reward.name(), reward.text());
    let one_text = reward.text() == obs.text();
    let second = if one_text { first } else { sources.add(obs.name(), obs.text()) };
    for (path, text) in reward.files().iter().chain(obs.files()) {
        sources.add(path.as_str(), text.as_str());
    }
    (sources, [first, second])
}

fn lower(
    reward_text: &ProgramText,
    obs_text: &ProgramText,
    mut module: Module,
) -> Result<(Fused, Sizes), SwarmError> {
    let (mut sources, [first, second]) = sources(reward_text, obs_text);
    let library = library(&module);
    let mut read = |program: &ProgramText, id: SourceId, wanted: &[Want]| {
        let files = |path: &Path| {
            let mut files = program.files().iter();
            let found = files.find(|(known, _)| Path::new(known) == path);
            found.map(|(_, text)| text.clone()).into()
        };
        let program = Program::parse_beside(&mut sources, id, &files)?;
        Task::read(&program, &sources, id, wanted, &library, &mut module)
    };
    // One text begins once, with the scratch that it has for both.
    let is_one_text = reward_text.text() == obs_text.text();
    let observed: &[Want] = if is_one_text { &[OBSERVE] } else { &[OBSERVE, BEGIN] };
    let (rewards, observes) = match (
        read(reward_text, first, &[REWARD, DONE, BEGIN]),
        read(obs_text, second, observed),
    ) {
        (Ok(rewards), Ok(observes)) => (rewards, observes),
        (rewards, observes) => {
            let mut faults = Vec::new();
            for fault in [rewards.err(), observes.err()].into_iter().flatten().flatten() {
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
            return Err(refused(&faults, &sources));
        }
    };
    let (Some(reward), Some(observe), Some(obs_dim)) =
        (rewards.functions[0], observes.functions[0], observes.obs_dim)
    else {
        unreachable!("what is needed and missing is a fault")
    };
    let done = rewards.functions[1];
    let begin = [rewards.functions[2], observes.functions.get(1).copied().flatten()];
    let sizes = Sizes {
        reward_scratch: rewards.scratch,
        obs_scratch: observes.scratch,
        obs_dim,
        has_done: done.is_some(),
        has_begin: begin.map(|begin| begin.is_some()),
        looks_at_frame: looks_at_frame(&module),
    };
    Ok((Fused { module, reward, done, observe, begin }, sizes))
}

/// The functions and settings that a text has for the reward or for the observation.
struct Task {
    /// The functions that were asked for, in that order.
    functions: Vec<Option<FunctionId>>,
    scratch: usize,
    obs_dim: Option<usize>,
}

impl Task {
    fn read(
        program: &Program,
        sources: &SourceMap,
        id: SourceId,
        wanted: &[Want],
        library: &Library,
        module: &mut Module,
    ) -> Result<Self, Vec<Diagnostic>> {
        let reader = program.reader_with(library);
        let (start, name) = (Span::new(id, 0, 0), sources.get(id).name.as_str());
        let (mut functions, mut faults) = (Vec::new(), Vec::new());
        for want in wanted {
            match want.find(&reader, module) {
                Ok(None) if want.needed => faults.push(want.missing(name, start)),
                Ok(found) => functions.push(found),
                Err(found) => faults.extend(found),
            }
        }
        let mut setting = |name: &str, least: i128, most: i128| {
            let found = reader.setting(name).and_then(|found| size(name, found, least, most));
            found.map_err(|fault| faults.push(fault)).ok().flatten()
        };
        let scratch = setting("SCRATCH", 0, SCRATCH_MAX).unwrap_or(0);
        let obs_dim = setting("OBS_DIM", 1, OBS_DIM_MAX);
        if obs_dim.is_none() && wanted.iter().any(|want| want.has_obs) {
            let message = format!("`{name}` sets no `OBS_DIM`");
            let fault = Diagnostic::error("undefined-name", start, message);
            faults.push(fault.help("write how many numbers `observe` fills: `OBS_DIM = 32`"));
        }
        if faults.is_empty() { Ok(Self { functions, scratch, obs_dim }) } else { Err(faults) }
    }
}

/// Returns true if any function of the texts reads pixels; the machine's own functions do not.
fn looks_at_frame(module: &Module) -> bool {
    let pixel = view_function(module, "pixel");
    module.functions.iter().any(|(_, function)| {
        let mut values = function.body.values.iter();
        values.any(|(_, value)| matches!(value.op, Op::Call { function, .. } if function == pixel))
    })
}

fn size(
    name: &str,
    found: Option<(i128, Span)>,
    least: i128,
    most: i128,
) -> Result<Option<usize>, Diagnostic> {
    let Some((number, span)) = found else { return Ok(None) };
    if (least..=most).contains(&number) {
        return Ok(Some(number as usize));
    }
    let message = format!("`{name}` is a number from {least} to {most}, found {number}");
    Err(Diagnostic::error("wrong-arguments", span, message))
}

/// A function that programs have.
struct Want {
    name: &'static str,
    result: Type,
    has_obs: bool,
    needed: bool,
    written: &'static str,
}

const REWARD: Want = Want {
    name: "reward",
    result: Type::F32,
    has_obs: false,
    needed: true,
    written: "def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32",
};
const DONE: Want = Want {
    name: "done",
    result: Type::BOOL,
    has_obs: false,
    needed: false,
    written: "def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool",
};
const BEGIN: Want = Want {
    name: "begin",
    result: Type::UNIT,
    has_obs: false,
    needed: false,
    written: "def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32))",
};
const OBSERVE: Want = Want {
    name: "observe",
    result: Type::UNIT,
    has_obs: true,
    needed: true,
    written: "def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: \
              wp.array(dtype=wp.float32))",
};

impl Want {
    fn find(
        &self,
        reader: &Reader<'_>,
        module: &mut Module,
    ) -> Result<Option<FunctionId>, Vec<Diagnostic>> {
        let array = module.types.array(Type::F32, 1);
        let mut params = vec![EntryParam::Handle, EntryParam::Type(array)];
        params.extend(self.has_obs.then_some(EntryParam::Type(array)));
        let Self { name, result, written, .. } = *self;
        reader.function(&EntryPoint { name, params: &params, result, written }, module)
    }

    fn missing(&self, file: &str, start: Span) -> Diagnostic {
        let message = format!("`{file}` defines no `{}`", self.name);
        let help = format!("write a `@wp.func`: `{}`", self.written);
        Diagnostic::error("undefined-name", start, message).help(help)
    }
}

/// `gbxcule`, as texts import it.
fn library(module: &Module) -> Library {
    let read = &module.functions[view_function(module, "read")].params;
    let turn = &module.functions[view_function(module, "action")].params[0];
    let parts = read[..3].iter().chain([turn]).cloned();
    let functions = PROGRAM_ENTRIES.iter().map(|path| {
        let name = path.rsplit("::").next().unwrap_or(path);
        (name.to_owned(), view_function(module, name))
    });
    Library {
        name: "gbxcule".to_owned(),
        handle: "Machine".to_owned(),
        parts: parts.collect(),
        functions: functions.collect(),
    }
}

/// A function of `view`; other chips have functions of the same names.
fn view_function(module: &Module, name: &str) -> FunctionId {
    let file = SOURCES.iter().position(|(path, _)| *path == "src/view.rs").unwrap_or(usize::MAX);
    let found = module.functions.iter().find(|(_, function)| {
        function.name == name && function.span.source().is_some_and(|id| id.index() == file)
    });
    found.map_or_else(|| unreachable!("`view::{name}` is lowered with the machine"), |(id, _)| id)
}

/// The parameters that a `gb.Machine` stands for, for functions that are built without the dialect.
pub(super) fn machine_params(module: &Module) -> Vec<Param> {
    library(module).parts
}
