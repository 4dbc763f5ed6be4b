//! Sweeps: frames per second, by number of machines and backend.
//!
//! All backends of a sweep take turns within one run, so that other load on the computer affects
//! all of them. Opening and the first step are timed separately; a window begins after a warm-up
//! and always ends with a sync. Calls that queue a device's steps return before the steps are done.
//! So the bench waits for each step of the warm-up, and computes from these times how many steps
//! fit into a window.

use std::time::{Duration, Instant};

use gbxcule_runtime::worker_count;
use serde_json::{Value, json};

use crate::action_source::ActionSource;
use crate::artifact::{SCHEMA_VERSION, run_id};
use crate::backend::{Backend, BackendConfig, BackendKind, model_name};
use crate::{LabError, program, system};

/// Default number of steps between two waits for a device.
pub const SYNC_EVERY: u64 = 64;
/// Least number of waits in a window, so that a window ends near its greatest length.
const MIN_WAITS: u32 = 8;

/// Value of `kind` in a benchmark's artifact.
pub const KIND: &str = "bench_sweep";

/// Plan of a benchmark: the backends, the ROM and the sizes that are measured.
#[derive(Debug, Clone)]
pub struct BenchPlan {
    /// The backends, the baseline first.
    pub backends: Vec<BackendKind>,
    /// Configuration of the backends, apart from their numbers of machines.
    pub config: BackendConfig,
    /// Numbers of machines to measure.
    pub env_counts: Vec<usize>,
    /// Greatest number of PyBoy's machines, because each takes megabytes of Python.
    pub most_pyboy_envs: usize,
    /// Number of steps of a window.
    pub steps: u64,
    /// Time after which a window ends early, at a sync.
    pub longest_window: Duration,
    /// Number of steps before the first window.
    pub warmup_steps: u64,
    /// Number of windows for each backend and count.
    pub repeats: u32,
    /// Greatest number of steps between two syncs, or 0 for a single sync at the end of a window.
    /// Long steps make it smaller; each result records the number.
    pub sync_every: u64,
    /// Source of the actions.
    pub action_gen: ActionSource,
    /// Seed of the actions.
    pub actions_seed: u64,
    /// Name of the experiment, if the plan is one.
    pub experiment: Option<&'static str>,
}

/// Progress of a running benchmark, for display.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Number of finished windows.
    pub done: usize,
    /// Number of all windows.
    pub of: usize,
    /// Backend that is being measured.
    pub backend: BackendKind,
    /// Number of machines.
    pub num_envs: usize,
}

/// Backend with a number of machines, during its measurement.
struct Contestant {
    backend: Box<dyn Backend>,
    actions: Vec<u8>,
    step: u64,
    open_s: f64,
    first_step_s: f64,
    /// Seconds of the fastest step that was waited for.
    step_s: f64,
    windows: Vec<Window>,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    steps: u64,
    seconds: f64,
}

/// Runs the sweep. `keep` gets the artifact after each number of machines.
///
/// # Errors
/// A backend cannot be started or failed, or `keep` failed.
pub fn run(
    plan: &BenchPlan,
    progress: &mut dyn FnMut(Progress),
    keep: &mut dyn FnMut(&Value) -> Result<(), LabError>,
) -> Result<(), LabError> {
    let of = plan.env_counts.iter().map(|envs| plan.runners(*envs).count()).sum::<usize>()
        * plan.repeats as usize;
    if of == 0 {
        return Err(LabError::NothingToMeasure { most_pyboy_envs: plan.most_pyboy_envs });
    }
    let mut done = 0;
    let mut results = Vec::new();
    let mut artifact = artifact(plan);
    for &num_envs in &plan.env_counts {
        let mut contestants = Vec::new();
        for kind in plan.runners(num_envs) {
            progress(Progress { done, of, backend: kind, num_envs });
            contestants.push(Contestant::open(plan, kind, num_envs)?);
        }
        for _ in 0..plan.repeats {
            for contestant in &mut contestants {
                progress(Progress { done, of, backend: contestant.backend.kind(), num_envs });
                contestant.run_window(plan)?;
                done += 1;
            }
        }
        for contestant in contestants {
            results.push(contestant.result(plan)?);
        }
        add_scaling(&mut results);
        artifact["results"] = json!(results);
        keep(&artifact)?;
    }
    Ok(())
}

impl BenchPlan {
    fn runners(&self, num_envs: usize) -> impl Iterator<Item = BackendKind> + '_ {
        let fits = move |kind: &BackendKind| !kind.is_pyboy() || num_envs <= self.most_pyboy_envs;
        self.backends.iter().copied().filter(fits)
    }

    fn to_json(&self) -> Value {
        let config = &self.config;
        json!({
            "backends": self.backends.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
            "baseline": self.backends.first().map(|kind| kind.name()),
            "devices": self.backends.iter().map(|kind| kind.device()).collect::<Vec<_>>(),
            "rom": { "name": config.rom.name, "sha256": config.rom.sha256 },
            "env_counts": self.env_counts,
            "most_pyboy_envs": self.most_pyboy_envs,
            "steps": self.steps,
            "longest_window_s": self.longest_window.as_secs_f64(),
            "warmup_steps": self.warmup_steps,
            "repeats": self.repeats,
            "sync_every": self.sync_every,
            "codec": config.codec.name,
            "frames_per_step": config.schedule.frames_per_step(),
            "release_after_frames": config.schedule.release_after_frames(),
            "stage": config.stage.name(),
            "programs": program::to_json(&config.programs),
            "draw_last": config.draw_last,
            "action_gen": self.action_gen.to_string(),
            "actions_seed": self.actions_seed,
            "experiment": self.experiment,
            "workers": config.workers,
            "recompile": config.recompile.name(),
            "model": model_name(config.model),
            "link": config.link.name(),
        })
    }
}

/// Makes the artifact, still without results.
fn artifact(plan: &BenchPlan) -> Value {
    json!({
        "schema_version": SCHEMA_VERSION,
        "kind": KIND,
        "run_id": run_id(&format!("bench-{}-{}", plan.config.rom.name, plan.config.stage)),
        "config": plan.to_json(),
        "system": system::describe(),
    })
}

impl Contestant {
    /// Opens a backend, takes the first step, and warms up.
    fn open(plan: &BenchPlan, kind: BackendKind, num_envs: usize) -> Result<Self, LabError> {
        let config = BackendConfig { num_envs, ..plan.config.clone() };
        let start = Instant::now();
        let backend = kind.open(&config)?;
        let mut contestant = Self {
            backend,
            actions: vec![0; num_envs],
            step: 0,
            open_s: start.elapsed().as_secs_f64(),
            first_step_s: 0.0,
            step_s: f64::INFINITY,
            windows: Vec::new(),
        };
        contestant.first_step_s = contestant.take_whole_step(plan)?;
        let start = Instant::now();
        for _ in 0..plan.warmup_steps {
            contestant.take_whole_step(plan)?;
            if start.elapsed() > plan.longest_window {
                break;
            }
        }
        Ok(contestant)
    }

    /// Takes a step and waits for it; returns its seconds.
    fn take_whole_step(&mut self, plan: &BenchPlan) -> Result<f64, LabError> {
        let start = Instant::now();
        self.take_step(plan)?;
        self.backend.sync()?;
        let seconds = start.elapsed().as_secs_f64();
        self.step_s = self.step_s.min(seconds);
        Ok(seconds)
    }

    fn take_step(&mut self, plan: &BenchPlan) -> Result<(), LabError> {
        plan.action_gen.fill(&plan.config.codec, plan.actions_seed, self.step, &mut self.actions);
        self.step += 1;
        self.backend.step(&self.actions)
    }

    /// Returns the number of steps between two syncs, and of a window.
    fn steps_of_a_window(&self, plan: &BenchPlan) -> (u64, u64) {
        let within = |time: Duration, most| steps_within(time, self.step_s, most);
        match plan.sync_every {
            0 => (0, within(plan.longest_window, plan.steps)),
            most => (within(plan.longest_window / MIN_WAITS, most), plan.steps),
        }
    }

    fn run_window(&mut self, plan: &BenchPlan) -> Result<(), LabError> {
        let (sync_every, most_steps) = self.steps_of_a_window(plan);
        let start = Instant::now();
        let mut steps = 0;
        while steps < most_steps {
            self.take_step(plan)?;
            steps += 1;
            if sync_every != 0 && steps.is_multiple_of(sync_every) {
                self.backend.sync()?;
            }
            if start.elapsed() >= plan.longest_window {
                break;
            }
        }
        self.backend.sync()?;
        self.windows.push(Window { steps, seconds: start.elapsed().as_secs_f64() });
        Ok(())
    }

    fn result(mut self, plan: &BenchPlan) -> Result<Value, LabError> {
        let num_envs = self.backend.num_envs();
        let frames_per_step = f64::from(plan.config.schedule.frames_per_step());
        let mut steps_per_s: Vec<_> =
            self.windows.iter().map(|window| window.steps as f64 / window.seconds).collect();
        steps_per_s.sort_by(f64::total_cmp);
        let median = median(&steps_per_s);
        let envs = num_envs as f64;
        let (slowest, fastest) = (steps_per_s.first().copied(), steps_per_s.last().copied());
        let spread = (fastest.unwrap_or(median) - slowest.unwrap_or(median)) / median;
        let mut counters: Vec<_> =
            self.backend.states()?.iter().map(|state| state.cpu.pc).collect();
        counters.sort_unstable();
        counters.dedup();
        let windows: Vec<_> = self
            .windows
            .iter()
            .map(|window| json!({ "steps": window.steps, "seconds": window.seconds }))
            .collect();
        Ok(json!({
            "backend": self.backend.kind().name(),
            "device": self.backend.kind().device(),
            "details": self.backend.details(),
            "num_envs": num_envs,
            "parallel": parallel(plan, self.backend.kind(), num_envs),
            "frames_per_s": median * envs * frames_per_step,
            "env_steps_per_s": median * envs,
            "steps_per_s_per_env": median,
            "spread": spread,
            "slowest_frames_per_s": slowest.unwrap_or(median) * envs * frames_per_step,
            "fastest_frames_per_s": fastest.unwrap_or(median) * envs * frames_per_step,
            "windows": windows,
            "sync_every": self.steps_of_a_window(plan).0,
            "warm_start": { "open_s": self.open_s, "first_step_s": self.first_step_s },
            "distinct_pcs_at_end": counters.len(),
        }))
    }
}

/// Returns how many steps of `step_s` seconds fit into a time: at least one and at most `most`.
fn steps_within(time: Duration, step_s: f64, most: u64) -> u64 {
    ((time.as_secs_f64() / step_s) as u64).clamp(1, most.max(1))
}

fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        count if count.is_multiple_of(2) => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
        count => sorted[count / 2],
    }
}

/// Returns the number of machines that a backend can work on at once: all of them on a device, one
/// for each worker on a CPU.
fn parallel(plan: &BenchPlan, kind: BackendKind, num_envs: usize) -> usize {
    match kind {
        BackendKind::SwarmCuda => num_envs,
        _ => num_envs.min(worker_count(plan.config.workers)),
    }
}

/// Adds the scaling efficiency: the speed-up over the backend's smallest number of machines,
/// divided by the growth of the number of machines that run at once.
fn add_scaling(results: &mut [Value]) {
    let each = |result: &Value| {
        Some(result["frames_per_s"].as_f64()? / result["parallel"].as_u64()? as f64)
    };
    for index in 0..results.len() {
        let backend = results[index]["backend"].clone();
        let of_backend = results.iter().filter(|result| result["backend"] == backend);
        let first = of_backend.min_by_key(|result| result["num_envs"].as_u64());
        let efficiency =
            first.and_then(each).zip(each(&results[index])).map(|(first, rate)| rate / first);
        results[index]["scaling_efficiency"] = json!(efficiency);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_as_many_steps_as_fit_into_its_time() {
        let within = |millis, step_s| steps_within(Duration::from_millis(millis), step_s, 64);
        assert_eq!([within(250, 0.1), within(250, 0.001), within(250, 7.0)], [2, 64, 1]);
        assert_eq!([within(0, 0.1), within(250, 0.0)], [1, 64]);
    }

    #[test]
    fn the_median_of_an_even_number_of_windows_lies_between_the_middle_two() {
        assert!((median(&[1.0, 2.0, 4.0, 9.0]) - 3.0).abs() < 1e-12);
        assert!((median(&[1.0, 2.0, 9.0]) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn scaling_is_measured_against_the_smallest_number_of_machines_of_the_same_backend() {
        let row = |backend: &str, envs: u64, frames_per_s: f64| {
            let parallel = envs.min(2);
            json!({ "backend": backend, "num_envs": envs, "parallel": parallel, "frames_per_s": frames_per_s })
        };
        let mut results = [row("a", 8, 180.0), row("b", 1, 1000.0), row("a", 1, 100.0)];
        add_scaling(&mut results);
        let scaling = results.map(|result| result["scaling_efficiency"].as_f64());
        assert_eq!(scaling, [Some(0.9), Some(1.0), Some(1.0)]);
    }
}
