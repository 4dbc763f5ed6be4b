//! Lowers the texts of programs to functions of a module that has the machine.
//!
//! `gb.Machine` in a text stands for the first parameters of its function: the machine, the ROM,
//! cartridge RAM and the step's numbers. The text's other parameters follow.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::LazyLock;

use gbxcule_front_rust;
use gbxcule_front_warp::{EntryParam, EntryPoint, ImportOptions, Library, Program, Reader, Texts};
use gbxcule_gameboy::{Model, SOURCES};
use gbxcule_ir::diagnostic::{Code, Diagnostic, render};
use gbxcule_ir::source::{SourceId, SourceMap, Span};
use gbxcule_ir::{FunctionId, Module, Op, Param, Type};
use gbxcule_runtime::get_or_make;

use super::optional_param::{MAX_SCRATCH, OPTIONAL, OptionalParam};
use super::{ProgramText, Programs, ScratchSize, Sizes, TextRole, refused};
use crate::machine_sources::{MachineSources, PerSources};
use crate::{Hook, SwarmError};

/// Functions that programs may call: the public ones of `gameboy::view`, sorted. A module with
/// programs must have all of them.
pub(crate) static PROGRAM_ENTRIES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let view = SOURCES[view_file()].1;
    let functions = view.split("\npub fn ").skip(1).filter_map(|text| text.split_once('('));
    let mut entries: Vec<String> = functions.map(|(name, _)| format!("view::{name}")).collect();
    entries.sort();
    // A function with a body for each model is defined twice.
    entries.dedup();
    entries
});

/// Further functions that the swarm's kernels call in a module that holds only the machine's view.
pub(crate) const KERNEL_VIEW_ENTRIES: [&str; 2] =
    ["kernel_call::set_step_numbers", "kernel_call::writes_asked"];

/// Maximum of writes by one call of a function.
pub(crate) const MAX_WRITES: u32 = 64;
/// Message about a function that writes more.
pub(crate) const TOO_MANY_WRITES: &str = "a function writes at most 64 bytes before it returns";
/// Names of the functions that write.
const WRITES: [&str; 2] = ["write", "write_bank"];

/// Four times a frame's pixels.
const MAX_OBS_DIM: i128 = 4 * 160 * 144;

/// A module with a swarm's programs in it.
#[derive(Debug)]
pub struct Fused {
    /// The given module, with the programs added.
    pub module: Module,
    /// `(machine: &Machine, rom: array<u8>, cart_ram: array<u8>, step_numbers: &StepNumbers,
    /// scratch: array<f32>) -> f32`; `None` if a text has `settled` and no reward, which is then 0.
    pub reward: Option<FunctionId>,
    /// A function with the reward's parameters and `-> bool`, if the reward's text has a `done`.
    pub done: Option<FunctionId>,
    /// `(machine, rom, cart_ram, step_numbers, scratch, obs: array<f32>)`
    pub observe: FunctionId,
    /// `(machine, rom, cart_ram, step_numbers, scratch)` of the reward's text and of the
    /// observation's, if they have a `begin`. If both are one text, only the first is set.
    pub begin: [Option<FunctionId>; 2],
    /// `(machine, rom, cart_ram, step_numbers) -> bool`, if a text has a `settled`.
    pub settled: Option<FunctionId>,
    /// A function with `observe`'s parameters, if a text has an `action_mask`.
    pub mask: Option<FunctionId>,
    /// The function that each hook calls, and the text that has it; the parameters are those of
    /// `begin`.
    pub(crate) calls: Vec<Option<(FunctionId, TextRole)>>,
}

/// The functions that may write to memory, as messages name them.
const WRITERS: &str = "`begin` and functions that hooks call may";

impl Fused {
    /// All functions of the programs.
    pub(crate) fn functions(&self) -> Vec<FunctionId> {
        let entries = [self.reward, Some(self.observe), self.done, self.settled, self.mask];
        let called = self.calls.iter().flatten().map(|&(function, _)| function);
        entries.into_iter().chain(self.begin).flatten().chain(called).collect()
    }
}

impl Programs {
    /// Lowers the programs into a module that has all functions which programs may call.
    ///
    /// # Panics
    /// The module lacks one of these functions.
    pub fn fuse(&self, module: Module) -> Fused {
        let lowered = lower(
            [self.reward_text(), self.observation_text()],
            self.hooks(),
            self.writes_memory(),
            module,
        );
        lowered.unwrap_or_else(|error| unreachable!("checked before: {error}")).0
    }

    /// A fault of a running program, with its place in the text.
    pub(crate) fn describe(&self, fault: &Diagnostic) -> SwarmError {
        refused(
            std::slice::from_ref(fault),
            &sources(self.reward_text(), self.observation_text()).0,
        )
    }
}

/// The module with the functions of the original machine that programs may call, and no others.
pub fn view_module() -> Module {
    view_module_of(Model::Original.into())
}

/// The module with the functions of a machine that programs may call, for these sources.
pub(crate) fn view_module_of(machine: MachineSources) -> Module {
    static MODULES: PerSources<Module> = PerSources::new();
    let lowered = || {
        let mut sources = SourceMap::new();
        let entries = PROGRAM_ENTRIES.iter().map(String::as_str).chain(KERNEL_VIEW_ENTRIES);
        let entries: Vec<&str> = entries.collect();
        let flags = machine.flags();
        let lowered = gbxcule_front_rust::lower_with_flags(SOURCES, flags, &entries, &mut sources);
        lowered.unwrap_or_else(|faults| {
            unreachable!("the sources keep to the subset: {}", render(&faults, &sources))
        })
    };
    get_or_make(MODULES.of(machine), lowered).clone()
}

/// Checks two texts, and returns their sizes and properties.
pub(super) fn check(
    reward: &ProgramText,
    obs: &ProgramText,
    hooks: &[Hook],
) -> Result<Sizes, SwarmError> {
    lower([reward, obs], hooks, true, view_module()).map(|(_, sizes)| sizes)
}

/// Returns the machine's sources in the order of [`gbxcule_front_rust::lower`], followed by the
/// programs, and the programs' ids.
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

/// Both texts' functions, lowered into one module.
struct ReadTexts {
    rewards: TextFunctions,
    observes: TextFunctions,
    sources: SourceMap,
    ids: [SourceId; 2],
}

/// Reads the functions of both texts, with those that hooks call.
fn read_texts(
    [reward_text, obs_text]: [&ProgramText; 2],
    called: &[&str],
    writes: bool,
    module: &mut Module,
) -> Result<ReadTexts, SwarmError> {
    let (mut sources, ids) = sources(reward_text, obs_text);
    let mut library = library(module, writes);
    library.labels = [reward_text.labels(), obs_text.labels()].concat();
    let mut read = |program: &ProgramText, id: SourceId, wanted: &[ExpectedFunction<'_>]| {
        let files = |path: &Path| {
            let mut files = program.files().iter();
            let file = files.find(|(name, _)| Path::new(name) == path);
            file.map(|(_, text)| text.clone()).into()
        };
        let options = ImportOptions { without_command_line: true, ..ImportOptions::default() };
        let mut texts = Texts::new(options);
        let program = Program::load(&mut texts, &mut sources, id, Some(&files))?;
        TextFunctions::read(&program, &sources, id, wanted, &library, module)
    };
    // Functions that either text may have. A text in both roles has each function once, with one
    // scratch.
    let mut either = vec![BEGIN, SETTLED, MASK];
    either.extend(called.iter().map(|&name| ExpectedFunction { name, ..CALLED }));
    let of_reward = [&[REWARD, DONE], &either[..]].concat();
    let is_one_text = reward_text.text() == obs_text.text();
    let beside = if is_one_text { &[] } else { &either[..] };
    let of_obs = [&[OBSERVE], beside].concat();
    match (read(reward_text, ids[0], &of_reward), read(obs_text, ids[1], &of_obs)) {
        (Ok(rewards), Ok(observes)) => Ok(ReadTexts { rewards, observes, sources, ids }),
        (rewards, observes) => {
            let mut faults = Vec::new();
            for fault in [rewards.err(), observes.err()].into_iter().flatten().flatten() {
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
            Err(refused(&faults, &sources))
        }
    }
}

/// Refuses functions that write to memory without permission.
fn refuse_writers<'a>(
    asks: impl Iterator<Item = (&'a str, Option<FunctionId>)>,
    writers: &HashSet<FunctionId>,
    module: &Module,
    sources: &SourceMap,
) -> Result<(), SwarmError> {
    for (name, id) in asks {
        if let Some(id) = id.filter(|id| writers.contains(id)) {
            let message = format!("`{name}` may not write; {WRITERS}");
            let fault = Diagnostic::error(Code::WrongCall, module.functions[id].span, message);
            return Err(refused(&[fault], sources));
        }
    }
    Ok(())
}

/// Lowers the texts; with `writes` functions get the buffer for writes as a part of the machine.
fn lower(
    [reward_text, obs_text]: [&ProgramText; 2],
    hooks: &[Hook],
    writes: bool,
    mut module: Module,
) -> Result<(Fused, Sizes), SwarmError> {
    let called: Vec<&str> = called(hooks)?;
    let ReadTexts { rewards, observes, sources, ids } =
        read_texts([reward_text, obs_text], &called, writes, &mut module)?;
    let reward = rewards.function(REWARD.name);
    let (Some(observe), Some(obs_dim)) = (observes.function(OBSERVE.name), observes.obs_dim) else {
        unreachable!("what is needed and missing is a fault")
    };
    let texts = [&rewards, &observes];
    let one = |name: &str| match texts.map(|text| text.function(name)) {
        [Some(_), Some(second)] => {
            let span = module.functions[second].span;
            let message = format!("`{name}` is defined in both files: leave it out of one");
            let fault = Diagnostic::error(Code::WrongArguments, span, message);
            Err(refused(&[fault], &sources))
        }
        [first, second] => Ok(first
            .map(|it| (it, TextRole::Reward))
            .or(second.map(|it| (it, TextRole::Observation)))),
    };
    let (settled, mask) = (one(SETTLED.name)?, one(MASK.name)?);
    let called = called.into_iter().map(|name| match one(name)? {
        Some(function) => Ok((name, function)),
        None => {
            let start = Span::new(ids[0], 0, 0);
            let fault = ExpectedFunction { name, ..CALLED }.missing(reward_text.name(), start);
            Err(refused(&[fault], &sources))
        }
    });
    let called: HashMap<&str, _> = called.collect::<Result<_, SwarmError>>()?;
    let calls = hooks.iter().map(|hook| Some(called[hook.calls.as_deref()?])).collect();
    let (done, begin) = (rewards.function(DONE.name), texts.map(|text| text.function(BEGIN.name)));
    let asks = [("reward", reward), ("done", done), ("observe", Some(observe))];
    let asks = asks.into_iter().chain(
        [("settled", settled), ("action_mask", mask)]
            .map(|(name, function)| (name, function.map(|(id, _)| id))),
    );
    let writers: HashSet<FunctionId> =
        WRITES.iter().flat_map(|write| callers(&module, view_function(&module, write))).collect();
    refuse_writers(asks, &writers, &module, &sources)?;
    let sizes = Sizes {
        writes: !writers.is_empty(),
        scratch: texts.map(|text| text.scratch),
        obs_dim,
        weights: rewards.weights.max(observes.weights),
        has_done: done.is_some(),
        has_begin: begin.map(|begin| begin.is_some()),
        reads_pixels: reads_pixels(&module),
        has_settled: settled.is_some(),
        mask: mask.and_then(|(_, text)| Some((text, texts[text.index()].actions?))),
        is_called: TextRole::ALL.map(|text| called.values().any(|&(_, of)| of == text)),
    };
    let (settled, mask) = (settled.map(|(it, _)| it), mask.map(|(it, _)| it));
    Ok((Fused { module, reward, done, observe, begin, settled, mask, calls }, sizes))
}

/// Returns the functions that call a function, directly or indirectly.
fn callers(module: &Module, of: FunctionId) -> HashSet<FunctionId> {
    let mut writers = HashSet::new();
    loop {
        let before = writers.len();
        for (id, function) in module.functions.iter() {
            let mut values = function.body.values.iter();
            let leads = |called: FunctionId| called == of || writers.contains(&called);
            if values.any(|(_, it)| matches!(it.op, Op::Call { function, .. } if leads(function))) {
                writers.insert(id);
            }
        }
        if writers.len() == before {
            return writers;
        }
    }
}

/// The functions that hooks call, each once.
fn called(hooks: &[Hook]) -> Result<Vec<&str>, SwarmError> {
    let mut names: Vec<&str> = hooks.iter().filter_map(|hook| hook.calls.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    match RUN_OTHERWISE.into_iter().find(|(name, _)| names.contains(name)) {
        Some((name, when)) => Err(SwarmError::HookCalls { name, when }),
        None => Ok(names),
    }
}

/// The functions and settings that a text has for the reward or for the observation.
struct TextFunctions {
    /// The requested functions that the text has.
    functions: Vec<(String, FunctionId)>,
    scratch: ScratchSize,
    obs_dim: Option<usize>,
    actions: Option<usize>,
    weights: usize,
}

impl TextFunctions {
    fn read(
        program: &Program,
        sources: &SourceMap,
        id: SourceId,
        wanted: &[ExpectedFunction<'_>],
        library: &Library,
        module: &mut Module,
    ) -> Result<Self, Vec<Diagnostic>> {
        let reader = program.reader_with(library);
        let (start, source) = (Span::new(id, 0, 0), sources.get(id));
        let name = source.name.as_str();
        let (mut functions, mut faults) = (Vec::new(), Vec::new());
        // A text with `settled` may lack `reward`, unless it has a (wrong) definition of `reward`.
        let defines = |start: &str| source.text.lines().any(|line| line.starts_with(start));
        let only_settles = defines("def settled(") && !defines("def rew");
        for want in wanted {
            match want.find(&reader, module) {
                Ok(None) if want.name == REWARD.name && only_settles => {}
                Ok(None) if want.needed => faults.push(want.missing(name, start)),
                Ok(function) => functions.extend(function.map(|id| (want.name.to_owned(), id))),
                Err(refusals) => faults.extend(refusals),
            }
        }
        let mut setting = |name: &str, least: i128, most: i128| {
            let number = reader.setting(name).and_then(|number| size(name, number, least, most));
            number.map_err(|fault| faults.push(fault)).ok().flatten()
        };
        let numbers = setting("SCRATCH", 0, MAX_SCRATCH).unwrap_or(0);
        let obs_dim = setting("OBS_DIM", 1, MAX_OBS_DIM);
        let actions = setting("ACTIONS", 1, 256);
        let [weights, ints, bytes] =
            OPTIONAL.map(|param| setting(param.setting, 1, param.most).unwrap_or(0));
        let scratch = ScratchSize { numbers, ints, bytes };
        let has = |want: &ExpectedFunction<'_>| functions.iter().any(|(name, _)| name == want.name);
        // A refused setting already has a message.
        let is_given = |name: &str| !matches!(reader.setting(name), Ok(None));
        let mut needs = |is_set: bool, want: &ExpectedFunction<'_>, setting: &str, help: &str| {
            // A missing function already has a message.
            let is_used = wanted.iter().any(|it| it.name == want.name);
            if is_used && !is_set && (want.needed || has(want)) {
                let message = format!("`{name}` sets no `{setting}`");
                faults.push(Diagnostic::error(Code::UndefinedName, start, message).help(help));
            }
        };
        let help = "write how many numbers `observe` fills: `OBS_DIM = 32`";
        needs(is_given("OBS_DIM"), &OBSERVE, "OBS_DIM", help);
        let help =
            "write how many actions there are, each with a number in the mask: `ACTIONS = 9`";
        needs(is_given("ACTIONS"), &MASK, "ACTIONS", help);
        let takes = |param: &OptionalParam| {
            let mut params = functions.iter().flat_map(|(_, id)| &module.functions[*id].params);
            params.any(|it| it.name == param.name)
        };
        for param in OPTIONAL.iter().filter(|it| takes(it) && !is_given(it.setting)) {
            let message = format!("`{name}` sets no `{}`", param.setting);
            faults.push(Diagnostic::error(Code::UndefinedName, start, message).help(param.help));
        }
        let task = Self { functions, scratch, obs_dim, actions, weights };
        if faults.is_empty() { Ok(task) } else { Err(faults) }
    }

    fn function(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().find(|(own, _)| own == name).map(|&(_, id)| id)
    }
}

/// Returns true if any function of the texts reads pixels; the machine's own functions do not.
fn reads_pixels(module: &Module) -> bool {
    let pixel = view_function(module, "pixel");
    module.functions.iter().any(|(_, function)| {
        let mut values = function.body.values.iter();
        values.any(|(_, value)| matches!(value.op, Op::Call { function, .. } if function == pixel))
    })
}

fn size(
    name: &str,
    setting: Option<(i128, Span)>,
    least: i128,
    most: i128,
) -> Result<Option<usize>, Diagnostic> {
    let Some((number, span)) = setting else { return Ok(None) };
    if (least..=most).contains(&number) {
        return Ok(Some(number as usize));
    }
    let message = format!("`{name}` is a number from {least} to {most}, found {number}");
    Err(Diagnostic::error(Code::WrongArguments, span, message))
}

/// A function that programs may define.
#[derive(Clone)]
struct ExpectedFunction<'a> {
    name: &'a str,
    result: Type,
    arrays: usize,
    needed: bool,
    /// Parameters and result as users write them.
    written: &'static str,
}

const REWARD: ExpectedFunction<'_> = ExpectedFunction {
    name: "reward",
    result: Type::F32,
    arrays: 1,
    needed: true,
    written: "(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32",
};
const DONE: ExpectedFunction<'_> = ExpectedFunction {
    name: "done",
    result: Type::BOOL,
    arrays: 1,
    needed: false,
    written: "(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool",
};
const BEGIN: ExpectedFunction<'_> = ExpectedFunction {
    name: "begin",
    result: Type::UNIT,
    arrays: 1,
    needed: false,
    written: "(machine: gb.Machine, scratch: wp.array(dtype=wp.float32))",
};
/// Functions that hooks can't call, with the time at which they run.
const RUN_OTHERWISE: [(&str, &str); 5] = [
    (REWARD.name, "after each step"),
    (DONE.name, "after each step"),
    (OBSERVE.name, "after each step and where episodes begin"),
    (MASK.name, "after each step and where episodes begin"),
    (SETTLED.name, "after each frame"),
];

/// A function that a hook calls, under the hook's name for it.
const CALLED: ExpectedFunction<'_> = BEGIN;
const OBSERVE: ExpectedFunction<'_> = ExpectedFunction {
    name: "observe",
    result: Type::UNIT,
    arrays: 2,
    needed: true,
    written: "(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: \
              wp.array(dtype=wp.float32))",
};
const MASK: ExpectedFunction<'_> = ExpectedFunction {
    name: "action_mask",
    result: Type::UNIT,
    arrays: 2,
    needed: false,
    written: "(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), mask: \
              wp.array(dtype=wp.float32))",
};
// `settled` has no scratch, so that machines behave equally in all stages and beside any other
// programs.
const SETTLED: ExpectedFunction<'_> = ExpectedFunction {
    name: "settled",
    result: Type::BOOL,
    arrays: 0,
    needed: false,
    written: "(machine: gb.Machine) -> wp.bool",
};

impl ExpectedFunction<'_> {
    fn find(
        &self,
        reader: &Reader<'_>,
        module: &mut Module,
    ) -> Result<Option<FunctionId>, Vec<Diagnostic>> {
        let array = module.types.array(Type::F32, 1);
        let mut params = vec![EntryParam::Handle];
        params.extend(vec![EntryParam::Type(array); self.arrays]);
        let (Self { name, result, .. }, written) = (self, &self.shown());
        let optional = OPTIONAL
            .map(|param| (param.name, EntryParam::Type(module.types.array(param.element, 1))));
        // A function that runs between frames takes the machine alone.
        let optional = if self.arrays > 0 { &optional[..] } else { &[] };
        let wanted = EntryPoint { name, params: &params, optional, result: *result, written };
        reader.function(&wanted, module)
    }

    fn shown(&self) -> String {
        format!("def {}{}", self.name, self.written)
    }

    fn missing(&self, file: &str, start: Span) -> Diagnostic {
        let message = format!("`{file}` defines no `{}`", self.name);
        let help = format!("write a `@wp.func`: `{}`", self.shown());
        Diagnostic::error(Code::UndefinedName, start, message).help(help)
    }
}

/// The library `gbxcule` that texts import.
fn library(module: &Module, writes: bool) -> Library {
    let read = &module.functions[view_function(module, "read")].params;
    let step_numbers = &module.functions[view_function(module, "action")].params[0];
    let taker = &module.functions[view_function(module, WRITES[0])].params[0];
    let parts = read[..3].iter().chain([step_numbers]).chain(writes.then_some(taker)).cloned();
    let names = PROGRAM_ENTRIES.iter().filter_map(|path| path.strip_prefix("view::"));
    let functions = names
        .filter(|name| writes || !WRITES.contains(name))
        .map(|name| (name.to_owned(), view_function(module, name)));
    Library {
        name: "gbxcule".to_owned(),
        handle: "Machine".to_owned(),
        parts: parts.collect(),
        functions: functions.collect(),
        labels: Vec::new(),
    }
}

/// The position of the file of `view` among the sources.
fn view_file() -> usize {
    let file = SOURCES.iter().position(|(path, _)| *path == "src/view.rs");
    file.unwrap_or_else(|| unreachable!("the machine has a view"))
}

/// A function of `view`, found by its file, because other files have functions of the same names.
fn view_function(module: &Module, name: &str) -> FunctionId {
    let file = view_file();
    let entry = module.functions.iter().find(|(_, function)| {
        function.name == name && function.span.source().is_some_and(|id| id.index() == file)
    });
    entry.map_or_else(|| unreachable!("`view::{name}` is lowered with the machine"), |(id, _)| id)
}

/// The parameters that a `gb.Machine` stands for.
pub(crate) fn machine_params(module: &Module, writes: bool) -> Vec<Param> {
    library(module, writes).parts
}
