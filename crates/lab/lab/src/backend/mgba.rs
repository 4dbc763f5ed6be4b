//! `libmgba`: the second reference, in this process.
//!
//! All foreign calls of the lab are in this file; the C side is `mgba_shim.c`.
#![allow(unsafe_code, reason = "calling a C library")]

use std::ffi::{CStr, c_char};
use std::ops::Range;
use std::ptr::NonNull;

use gbxcule_swarm::{
    CpuState, FRAME_BYTES, Features, Model, OBS_V0_DIM, Rom, button, obs_v0, reward_v0,
};
use serde_json::{Value, json};

use super::{Backend, BackendConfig, BackendKind, EnvState};
use crate::LabError;

/// Dots from the start of line 144 to the point at which libmgba begins a program of the Color and
/// a Color's boot ROM ends. As for the original, libmgba's picture is four T-cycles ahead.
const COLOR_PICTURE_TCYCLES: i32 = 456 - 172 + 4 - 20;

#[repr(C)]
struct Shim {
    _opaque: [u8; 0],
}

/// Initial state of a machine, in the layout that the shim takes.
#[repr(C)]
#[derive(Clone, Copy)]
struct ShimStart {
    divider: u16,
    picture_tcycles: i32,
    b: u8,
    compatible: bool,
    palettes: [u16; 12],
}

impl ShimStart {
    fn of(rom: &Rom) -> Self {
        let cartridge = rom.cartridge();
        let [first, second, background] = cartridge.compatible_palettes;
        let compatible = cartridge.model() == Model::Original;
        let mut palettes = [0; 12];
        palettes.copy_from_slice(&[background, first, second].concat());
        let start = Self { divider: 0xABCC, picture_tcycles: 0, b: 0, compatible: false, palettes };
        match rom.model() {
            Model::Original => start,
            Model::Color if compatible => Self {
                divider: cartridge.color_divider,
                b: cartridge.title_sum,
                compatible,
                ..start
            },
            Model::Color => Self {
                divider: cartridge.color_divider,
                picture_tcycles: COLOR_PICTURE_TCYCLES,
                ..start
            },
        }
    }
}

#[repr(C)]
#[derive(Default)]
struct ShimState {
    bytes: [u8; 8],
    sp: u16,
    pc: u16,
    tcycles: i64,
}

unsafe extern "C" {
    fn gbxcule_mgba_version() -> *const c_char;
    fn gbxcule_mgba_open(rom: *const u8, rom_bytes: usize, model: *const c_char) -> *mut Shim;
    fn gbxcule_mgba_close(shim: *mut Shim);
    fn gbxcule_mgba_reset(shim: *mut Shim, start: *const ShimStart);
    fn gbxcule_mgba_run_frame(shim: *mut Shim);
    fn gbxcule_mgba_set_keys(shim: *mut Shim, keys: u32);
    fn gbxcule_mgba_read(shim: *mut Shim, address: u16) -> u8;
    fn gbxcule_mgba_state(shim: *const Shim, out: *mut ShimState);
    fn gbxcule_mgba_pixels(shim: *const Shim, out: *mut u16);
}

/// Owner of one emulator, with its initial state.
struct Core {
    shim: NonNull<Shim>,
    start: ShimStart,
}

impl Core {
    fn open(rom: &Rom) -> Result<Self, LabError> {
        let model = match rom.model() {
            Model::Original => c"DMG",
            Model::Color => c"CGB",
        };
        let bytes = rom.bytes();
        // SAFETY: the pointer and the length are one slice's; the shim copies the bytes before it
        // returns, and the model is a terminated string.
        let shim = unsafe { gbxcule_mgba_open(bytes.as_ptr(), bytes.len(), model.as_ptr()) };
        let start = ShimStart::of(rom);
        let core = NonNull::new(shim).map(|shim| Self { shim, start });
        let core = core.ok_or_else(|| LabError::Mgba("does not load this ROM".to_owned()))?;
        core.reset();
        Ok(core)
    }

    fn reset(&self) {
        // SAFETY: the shim is alive as long as this owner, and has no other owner; the start has
        // the layout of the shim's struct.
        unsafe { gbxcule_mgba_reset(self.shim.as_ptr(), &raw const self.start) }
    }

    fn run_frame(&mut self) {
        // SAFETY: as in `reset`.
        unsafe { gbxcule_mgba_run_frame(self.shim.as_ptr()) }
    }

    fn set_keys(&mut self, keys: u32) {
        // SAFETY: as in `reset`.
        unsafe { gbxcule_mgba_set_keys(self.shim.as_ptr(), keys) }
    }

    fn read(&mut self, address: u16) -> u8 {
        // SAFETY: as in `reset`; every 16-bit address is one that the shim can read.
        unsafe { gbxcule_mgba_read(self.shim.as_ptr(), address) }
    }

    fn state(&self) -> ShimState {
        let mut state = ShimState::default();
        // SAFETY: as in `reset`; `state` has the layout of the shim's struct.
        unsafe { gbxcule_mgba_state(self.shim.as_ptr(), &raw mut state) };
        state
    }

    fn pixels(&self) -> Vec<u16> {
        let mut pixels = vec![0; 160 * 144];
        // SAFETY: as in `reset`; the shim writes exactly 160 x 144 words.
        unsafe { gbxcule_mgba_pixels(self.shim.as_ptr(), pixels.as_mut_ptr()) };
        pixels
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // SAFETY: this owner is the last to use the shim.
        unsafe { gbxcule_mgba_close(self.shim.as_ptr()) }
    }
}

pub(crate) struct Mgba {
    config: BackendConfig,
    cores: Vec<Core>,
    model: Model,
    frames: u64,
    rewards: Vec<f32>,
    observations: Vec<f32>,
}

impl Mgba {
    pub(crate) fn open(config: &BackendConfig) -> Result<Self, LabError> {
        let rom = config.rom()?;
        let cores = (0..config.num_envs).map(|_| Core::open(&rom));
        Ok(Self {
            config: config.clone(),
            cores: cores.collect::<Result<_, _>>()?,
            model: rom.model(),
            frames: 0,
            rewards: vec![0.0; config.num_envs],
            observations: vec![0.0; config.num_envs * OBS_V0_DIM],
        })
    }

    fn core(&mut self, env: usize) -> Result<&mut Core, LabError> {
        let last = self.config.num_envs - 1;
        self.cores.get_mut(env).ok_or(LabError::NoSuchEnv {
            backend: BackendKind::Libmgba,
            env,
            last,
        })
    }

    fn step_one(&mut self, env: usize, buttons: u8, frames_held: u32) {
        let schedule = self.config.schedule;
        let core = &mut self.cores[env];
        core.set_keys(keys(buttons));
        for frame in 0..schedule.frames_per_step() {
            if frame == frames_held {
                core.set_keys(0);
            }
            core.run_frame();
        }
        let mut memory = [0; 16];
        for (byte, address) in memory.iter_mut().zip(gbxcule_swarm::FEATURE_MEMORY) {
            *byte = core.read(address);
        }
        let features = Features { cpu: registers(&core.state()), memory };
        if self.config.stage.owns_reward() {
            self.rewards[env] = reward_v0(&features);
        }
        if self.config.stage.owns_observation() {
            obs_v0(&features, &mut self.observations.as_chunks_mut().0[env]);
        }
    }
}

impl Backend for Mgba {
    fn kind(&self) -> BackendKind {
        BackendKind::Libmgba
    }

    fn details(&self) -> Value {
        // SAFETY: the shim returns a constant, terminated string.
        let version = unsafe { CStr::from_ptr(gbxcule_mgba_version()) };
        json!({ "libmgba": version.to_string_lossy() })
    }

    fn num_envs(&self) -> usize {
        self.config.num_envs
    }

    fn reset(&mut self, _seed: u64) -> Result<(), LabError> {
        self.cores.iter().for_each(Core::reset);
        self.frames = 0;
        Ok(())
    }

    fn step(&mut self, actions: &[u8]) -> Result<(), LabError> {
        for (env, &action) in actions.iter().enumerate() {
            let action = self.config.codec.get(env, action)?;
            let (buttons, frames_held) = (action.buttons, action.frames_held(self.config.schedule));
            self.step_one(env, buttons, frames_held);
        }
        self.frames += u64::from(self.config.schedule.frames_per_step());
        Ok(())
    }

    fn states(&mut self) -> Result<Vec<EnvState>, LabError> {
        let frames = Some(self.frames);
        let state = |core: &Core| {
            let state = core.state();
            EnvState { cpu: registers(&state), tcycles: u64::try_from(state.tcycles).ok(), frames }
        };
        Ok(self.cores.iter().map(state).collect())
    }

    fn read_memory(&mut self, env: usize, range: Range<u32>) -> Result<Vec<u8>, LabError> {
        let core = self.core(env)?;
        Ok(range
            .map_while(|address| u16::try_from(address).ok())
            .map(|address| core.read(address))
            .collect())
    }

    fn frame(&mut self, env: usize) -> Result<Vec<u8>, LabError> {
        let pixels = self.core(env)?.pixels();
        if self.model == Model::Color {
            return Ok(pixels.into_iter().flat_map(u16::to_le_bytes).collect());
        }
        let mut frame = Vec::with_capacity(FRAME_BYTES);
        for quad in pixels.chunks_exact(4) {
            // The shades are the grays 0xFF, 0xAA, 0x55 and 0x00, truncated to five bits for red.
            let shade = |color: &u16| 3 - (color >> 3 & 3) as u8;
            frame.push(quad.iter().fold(0, |byte, color| byte << 2 | shade(color)));
        }
        Ok(frame)
    }

    fn rewards(&self) -> Result<Vec<f32>, LabError> {
        Ok(self.rewards.clone())
    }

    fn observations(&self) -> Result<Vec<f32>, LabError> {
        Ok(self.observations.clone())
    }
}

/// Converts buttons to mGBA's key bits: A, B, SELECT, START, right, left, up, down.
fn keys(buttons: u8) -> u32 {
    let order = [
        button::A,
        button::B,
        button::SELECT,
        button::START,
        button::RIGHT,
        button::LEFT,
        button::UP,
        button::DOWN,
    ];
    (0_u32..)
        .zip(order)
        .fold(0, |keys, (bit, button)| keys | u32::from(buttons & button != 0) << bit)
}

fn registers(state: &ShimState) -> CpuState {
    let [a, f, b, c, d, e, h, l] = state.bytes;
    CpuState { a, f, b, c, d, e, h, l, sp: state.sp, pc: state.pc }
}
