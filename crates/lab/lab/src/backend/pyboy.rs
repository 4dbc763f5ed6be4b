//! `pyboy_single` and `pyboy_vec_mp`: PyBoy in child processes, among which the machines are
//! divided.

use std::ops::Range;
use std::time::Duration;

use gbxcule_oracle::{OracleChild, OracleError, Python};
use gbxcule_swarm::{CpuState, FRAME_BYTES, Features, Model, OBS_V0_DIM, obs_v0, reward_v0};
use serde_json::{Value, json};

use super::{Backend, BackendConfig, BackendKind, EnvState};
use crate::LabError;

const REGISTER_BYTES: usize = 12;
const STATE_BYTES: usize = REGISTER_BYTES + 16;
const FEATURE_BYTES: usize = REGISTER_BYTES + 16;
const PIXELS: usize = 160 * 144;
/// Speed far below PyBoy's on any machine: a child that is slower hangs.
const SLOWEST_FRAMES_PER_S: u64 = 100;
/// Greatest number of machines, because each takes megabytes of Python.
const MAX_ENVS: usize = 4096;
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Pyboy {
    kind: BackendKind,
    model: Model,
    config: BackendConfig,
    children: Vec<OracleChild>,
    envs_per_child: usize,
    version: Value,
    rewards: Vec<f32>,
    observations: Vec<f32>,
}

impl Pyboy {
    pub(crate) fn open(kind: BackendKind, config: &BackendConfig) -> Result<Self, LabError> {
        if kind == BackendKind::PyboySingle && config.num_envs != 1 {
            let instead = BackendKind::PyboyVecMp;
            return Err(LabError::OneEnvOnly { backend: kind, num_envs: config.num_envs, instead });
        }
        if config.num_envs > MAX_ENVS {
            let num_envs = config.num_envs;
            return Err(LabError::TooManyEnvs { backend: kind, num_envs, most: MAX_ENVS });
        }
        let workers = config.workers().min(config.num_envs);
        let envs_per_child = config.num_envs.div_ceil(workers);
        let python = Python::find();
        let mut children = Vec::new();
        for _ in (0..config.num_envs).step_by(envs_per_child) {
            children.push(OracleChild::start("pyboy", python.oracle("pyboy"))?);
        }
        let mut pyboy = Self {
            kind,
            model: config.rom()?.model(),
            config: config.clone(),
            children,
            envs_per_child,
            version: Value::Null,
            rewards: vec![0.0; config.num_envs],
            observations: vec![0.0; config.num_envs * OBS_V0_DIM],
        };
        pyboy.version =
            pyboy.children[0].call(&json!({ "command": "hello" }), b"", TIMEOUT)?.header;
        pyboy.load()?;
        Ok(pyboy)
    }

    fn load(&mut self) -> Result<(), LabError> {
        let envs = self.envs_of_children();
        let limit = TIMEOUT + Duration::from_millis(100 * self.envs_per_child as u64);
        let rom = self.config.rom()?;
        let cartridge = rom.cartridge();
        let color = (self.model == Model::Color).then(|| {
            json!({
                "compatible": cartridge.model() == Model::Original,
                "title_sum": cartridge.title_sum,
                "palettes": cartridge.compatible_palettes,
            })
        });
        for (child, envs) in self.children.iter_mut().zip(envs) {
            let header = json!({
                "command": "load",
                "num_envs": envs.len(),
                "exact": self.config.lockstep,
                "color": color,
            });
            child.ask(&header, &self.config.rom.bytes, limit);
        }
        self.answers(0).map(drop)
    }

    fn envs_of_children(&self) -> Vec<Range<usize>> {
        let num_envs = self.config.num_envs;
        let range = |first| first..num_envs.min(first + self.envs_per_child);
        (0..num_envs).step_by(self.envs_per_child).map(range).collect()
    }

    /// Returns the children's answers in order of envs, with `bytes` bytes for each env.
    fn answers(&mut self, bytes: usize) -> Result<Vec<u8>, LabError> {
        let mut payload = Vec::with_capacity(bytes * self.config.num_envs);
        for child in &mut self.children {
            payload.extend(child.answer()?.payload);
        }
        self.expect(&payload, bytes * self.config.num_envs)?;
        Ok(payload)
    }

    fn expect(&self, payload: &[u8], bytes: usize) -> Result<(), LabError> {
        if payload.len() == bytes {
            return Ok(());
        }
        Err(LabError::Oracle(OracleError::Rubbish {
            oracle: "pyboy".to_owned(),
            command: self.kind.to_string(),
            found: format!("{} bytes instead of {bytes}", payload.len()),
            stderr: String::new(),
        }))
    }

    fn ask_one(&mut self, env: usize, mut header: Value) -> Result<Vec<u8>, LabError> {
        let last = self.config.num_envs - 1;
        if env > last {
            return Err(LabError::NoSuchEnv { backend: self.kind, env, last });
        }
        header["env"] = json!(env % self.envs_per_child);
        Ok(self.children[env / self.envs_per_child].call(&header, b"", TIMEOUT)?.payload)
    }

    fn compute_outputs(&mut self, payload: &[u8]) {
        let stage = self.config.stage;
        let observations = self.observations.as_chunks_mut::<OBS_V0_DIM>().0;
        let outputs = self.rewards.iter_mut().zip(observations);
        for ((reward, observation), record) in outputs.zip(payload.chunks_exact(FEATURE_BYTES)) {
            let mut memory = [0; 16];
            memory.copy_from_slice(&record[REGISTER_BYTES..]);
            let features = Features { cpu: registers(record), memory };
            if stage.owns_reward() {
                *reward = reward_v0(&features);
            }
            if stage.owns_observation() {
                obs_v0(&features, observation);
            }
        }
    }
}

impl Backend for Pyboy {
    fn kind(&self) -> BackendKind {
        self.kind
    }

    fn details(&self) -> Value {
        json!({
            "pyboy": self.version["version"],
            "wheel": self.version["wheel"],
            "python": self.version["python"],
            "processes": self.children.len(),
        })
    }

    fn num_envs(&self) -> usize {
        self.config.num_envs
    }

    fn reset(&mut self, _seed: u64) -> Result<(), LabError> {
        for child in &mut self.children {
            child.ask(&json!({ "command": "reset" }), b"", TIMEOUT);
        }
        self.rewards.fill(0.0);
        self.observations.fill(0.0);
        self.answers(0).map(drop)
    }

    fn step(&mut self, actions: &[u8]) -> Result<(), LabError> {
        let BackendConfig { codec, schedule, .. } = &self.config;
        let (mut buttons, mut frames_held) = (Vec::new(), Vec::new());
        for (env, &action) in actions.iter().enumerate() {
            let action = codec.get(env, action)?;
            buttons.push(action.buttons);
            frames_held.push(action.frames_held(*schedule));
        }
        let computes = self.config.stage.owns_reward() || self.config.stage.owns_observation();
        let frames = u64::from(schedule.frames_per_step()) * self.envs_per_child as u64;
        let limit = TIMEOUT + Duration::from_secs(frames / SLOWEST_FRAMES_PER_S);
        let pressed =
            buttons.chunks(self.envs_per_child).zip(frames_held.chunks(self.envs_per_child));
        for (child, (buttons, frames_held)) in self.children.iter_mut().zip(pressed) {
            let is_same = frames_held.windows(2).all(|pair| pair[0] == pair[1]);
            let header = json!({
                "command": "step",
                "frames": schedule.frames_per_step(),
                // One number is enough if all actions have the same, as in most codecs.
                "release_after": if is_same { &frames_held[..1] } else { frames_held },
                "draw_last": self.config.draw_last,
                "features": computes,
            });
            child.ask(&header, buttons, limit);
        }
        let payload = self.answers(if computes { FEATURE_BYTES } else { 0 })?;
        self.compute_outputs(&payload);
        Ok(())
    }

    fn states(&mut self) -> Result<Vec<EnvState>, LabError> {
        for child in &mut self.children {
            child.ask(&json!({ "command": "state" }), b"", TIMEOUT);
        }
        let payload = self.answers(STATE_BYTES)?;
        let state = |record: &[u8]| EnvState {
            cpu: registers(record),
            tcycles: Some(number(&record[REGISTER_BYTES..][..8])),
            frames: Some(number(&record[REGISTER_BYTES + 8..][..8])),
        };
        Ok(payload.chunks_exact(STATE_BYTES).map(state).collect())
    }

    fn read_memory(&mut self, env: usize, range: Range<u32>) -> Result<Vec<u8>, LabError> {
        let bytes =
            self.ask_one(env, json!({ "command": "read", "low": range.start, "high": range.end }))?;
        self.expect(&bytes, range.len())?;
        Ok(bytes)
    }

    fn frame(&mut self, env: usize) -> Result<Vec<u8>, LabError> {
        let bytes = self.ask_one(env, json!({ "command": "screen" }))?;
        let expected = match self.model {
            Model::Original => FRAME_BYTES,
            Model::Color => 2 * PIXELS,
        };
        self.expect(&bytes, expected)?;
        Ok(bytes)
    }

    fn rewards(&self) -> Result<Vec<f32>, LabError> {
        Ok(self.rewards.clone())
    }

    fn observations(&self) -> Result<Vec<f32>, LabError> {
        Ok(self.observations.clone())
    }
}

/// Reads the registers at the head of a record, as `struct.pack("<8B2H", ...)` wrote them.
fn registers(record: &[u8]) -> CpuState {
    CpuState {
        a: record[0],
        f: record[1],
        b: record[2],
        c: record[3],
        d: record[4],
        e: record[5],
        h: record[6],
        l: record[7],
        sp: u16::from_le_bytes([record[8], record[9]]),
        pc: u16::from_le_bytes([record[10], record[11]]),
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
