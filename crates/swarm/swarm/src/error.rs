//! The errors of a swarm.

use gbxcule_console::ConsoleError;
use gbxcule_gameboy::{Model, Revision};

use crate::CodecError;

/// Failures of the system or a device, and wrong calls; a refused call has changed nothing.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum SwarmError {
    #[error(transparent)]
    Console(#[from] ConsoleError),
    #[error(
        "{}, a Super Game Boy, runs on the CPU alone: choose that device, or one of the models dmg, mgb, cgb, cgb-c and \
         cgb-e", revision.name(Model::Original)
    )]
    SuperOnDevice { revision: Revision },
    #[error("the cartridge has no sensor of tilt: only those of type 22 at 0147, MBC7, have one")]
    NoTilt,
    #[error(
        "the console is no Super Game Boy: only the models sgb and sgb2 have its border and controllers"
    )]
    NoSuperGameBoy,
    #[error(
        "the controllers that are set are 1 to 3, found {found}; 0 has the buttons of the actions"
    )]
    NoController { found: u8 },
    #[error("{envs} marked envs need a byte of buttons each, found {found}")]
    WrongButtons { envs: usize, found: usize },
    #[error("a tilt is -2 to 2 times the gravity of Earth, found {found}")]
    TiltRange { found: f32 },
    #[error("a swarm needs at least one machine")]
    NoEnvs,
    #[error(
        "a step has at least one frame, and presses its action for at least one; found {frames_per_step} frames, \
         pressed for {release_after_frames}"
    )]
    EmptySchedule { frames_per_step: u32, release_after_frames: u32 },
    #[error("a step of {frames_per_step} frames is too long: it has {most} at most")]
    LongStep { frames_per_step: u32, most: u32 },
    #[error("expected one {what} for each of the {num_envs} machines, found {found}")]
    WrongLength { what: &'static str, num_envs: usize, found: usize },
    #[error("frames {start} to {end} are no range of a step, which has the frames 0 to {of}")]
    BadFrameRange { start: u32, end: u32, of: u32 },
    #[error("{}", match expected {
        0 => format!("the programs take no weights, found {found}: a program with `WEIGHTS = {found}` reads them"),
        _ => format!("the programs take {expected} weights (`WEIGHTS`), found {found}: give one number for each"),
    })]
    OtherWeights { found: usize, expected: usize },
    #[error("`sticky` is a probability from 0 to 1, found {found}")]
    NoProbability { found: f64 },
    #[error(
        "`noop_max` is 0 to {most} frames, found {found}: begin later with start_steps or a saved state"
    )]
    ManyNoops { found: u32, most: u32 },
    #[error("{message}")]
    PictureStack { message: String },
    #[error("the buffer has {found} bytes, the view fills {expected}")]
    WrongBuffer { expected: usize, found: usize },
    #[error(
        "action {action} of env {env} is not in codec {codec}, which has the actions 0 to {last}"
    )]
    UnknownAction { env: usize, action: u8, codec: String, last: usize },
    #[error(
        "action {action} of env {env} is not in codec {codec}, which takes {tables}: the env pressed nothing in that step"
    )]
    UnknownDeviceAction { env: usize, action: i64, codec: String, tables: String },
    #[error(
        "actions on a device are int32, int64 or uint8, a row of {tables} for each of the {num_envs} machines, found {found}"
    )]
    WrongActionArray { found: String, num_envs: usize, tables: usize },
    #[error("no rollout goes on: enter one before steps take actions that lie on the device")]
    NoRollout,
    #[error(
        "{low:04X} is outside of {start:04X} to {last:04X}, where numbers are read while actions lie on the device; let a program compute the reward and the end of episodes, or pass actions of the host"
    )]
    OutsideOfWorkRam { low: u32, start: u32, last: u32 },
    #[error(transparent)]
    Codec(CodecError),
    #[error("env {env} does not exist; this swarm has the envs 0 to {last}")]
    NoSuchEnv { env: usize, last: usize },
    #[error(
        "{bytes} bytes can't be shared out among {envs} marked machines: each needs the same number"
    )]
    UnevenRows { bytes: usize, envs: usize },
    #[error("a number that chance draws has 1 or 2 bytes, found {found}")]
    ChanceWidth { found: u8 },
    #[error(
        "chance can't be drawn at {address:04X}: ROM stays as it is; name a number from 8000 on"
    )]
    ChanceInRom { address: u16 },
    #[error(
        "the snapshot was taken with another cartridge: {found} bytes of cartridge RAM, expected {expected}"
    )]
    OtherCartridge { found: usize, expected: usize },
    #[error("expected one state, or one for each of the {envs} marked machines, found {found}")]
    WrongStates { envs: usize, found: usize },
    #[error("expected a weight for each of the {starts} starts, found {found}")]
    WrongWeights { starts: usize, found: usize },
    #[error("episodes begin in one state at least: give one, or a weight that is not 0")]
    NoStart,
    #[error(
        "the state holds a machine alone, without its env's seed and episode: load it without them"
    )]
    NoEpisode,
    #[error("a checkpoint of {num_envs} machines has no envs {} to {}", envs.start, envs.end)]
    NoSuchPart { envs: std::ops::Range<usize>, num_envs: usize },
    #[error(
        "the checkpoints are parts of different swarms: their ROMs, options or starts differ; take parts that one job wrote in one step"
    )]
    PartOfAnother,
    #[error(
        "there is no built-in program `{name}`; there are {}, and files that end in .py",
        crate::program::built_in().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
    )]
    NoSuchProgram { name: String },
    #[error("cannot read the program {path}: {error}")]
    ProgramFile { path: String, error: gbxcule_runtime::ReadError },
    #[error("{message}")]
    Program { message: String },
    #[error(
        "there is no bank {bank} for a hook at {address:04x}: the ROM has the banks 0 to {last}"
    )]
    NoSuchBank { bank: u16, address: u16, last: usize },
    #[error("no hook can be at {bank:02x}:{address:04x}: this cartridge has bank 0 below 4000")]
    HookOutOfReach { bank: u16, address: u16 },
    #[error("sound is made on the CPU alone; use device cpu, or turn sound off")]
    SoundOnDevice,
    #[error(
        "the snapshot is of the other model; machines of a swarm are all original or all Color"
    )]
    OtherModel,
    #[error(
        "pairs need an even number of machines, found {num_envs}: env 2i is wired to env 2i + 1"
    )]
    OddPairs { num_envs: usize },
    #[error("machines with a cable have no {what}, for now; turn {what} off, or use link open")]
    BesideLink { what: &'static str },
    #[error(
        "episodes of a pair begin together: the mask marks env {env} without the one that it is wired to; mark both"
    )]
    HalfPair { env: usize },
    #[error(
        "machines with hooks, or with a program's `settled`, make no sound; use hooks or sound, not both"
    )]
    SoundBesideHooks,
    #[error("two hooks are at {bank:02x}:{address:04x}; one hook can count, end the step and call")]
    TwoHooks { bank: u16, address: u16 },
    #[error(
        "the program says `ACTIONS = {found}`, the codec {codec} has {expected} actions: a mask has one number for each"
    )]
    OtherActions { found: usize, expected: usize, codec: String },
    #[error(
        "a hook can't call `{name}`, which runs {when}: give the hook a function of its own, such as `def caught(machine: \
         gb.Machine, scratch: wp.array(dtype=wp.float32))`"
    )]
    HookCalls { name: &'static str, when: &'static str },
    #[error(
        "`{name}` has no cell {cell} in its {array}: it sets `{} = {len}`", array.to_ascii_uppercase()
    )]
    NoSuchCell { name: String, array: &'static str, cell: usize, len: usize },
    #[error("the snapshot has {found} scratch cells, the programs of this swarm have {expected}")]
    OtherPrograms { found: usize, expected: usize },
    #[error("a program stopped in env {env}\n{error}")]
    ProgramStopped { env: usize, error: Box<SwarmError> },
    #[error(
        "`{device}` has no room for {num_envs} machines: each takes {env_bytes} bytes, all of them {:.1} GiB, {:.1} GiB \
         are free; {fit} would fit",
        gibibytes(*env_bytes) * *num_envs as f64,
        gibibytes(*free_bytes)
    )]
    TooLittleMemory {
        device: gbxcule_runtime::Device,
        free_bytes: u64,
        env_bytes: u64,
        num_envs: usize,
        fit: u64,
    },
    #[error(transparent)]
    Device(#[from] gbxcule_runtime::Error),
    #[error(
        "the swarm was made before this process was forked, and its threads do not exist in this one: make it in the process that \
         steps it"
    )]
    Forked,
    #[error("cannot start a thread for the swarm: {0}")]
    Thread(#[source] std::io::Error),
}

fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}
