//! Lockstep: two backends take the same actions, and after every step all compared values must be
//! equal.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::LabError;
use crate::action_source::ActionSource;
use crate::artifact::sha256;
use crate::backend::{Backend, BackendConfig, BackendKind, EnvState, model_name};
use crate::program;
use crate::region::Region;

/// Greatest number of actions of a run, because they stay in memory to its end.
const MAX_ACTIONS: u64 = 1 << 33;

/// Greatest number of bytes of all regions together: sixteen times the whole memory.
const MAX_REGION_BYTES: u64 = 16 << 16;

/// Plan of a comparison: the two backends, the run, and the values that are compared.
#[derive(Debug, Clone)]
pub struct VerifyPlan {
    /// Backend that is trusted.
    pub reference: BackendKind,
    /// Backend under test.
    pub dut: BackendKind,
    /// Configuration of both. A frame that is drawn is compared as well.
    pub config: BackendConfig,
    /// Number of steps.
    pub steps: u64,
    /// Number of steps between two comparisons; the last step is compared as well.
    pub compare_every: u64,
    /// Regions of memory to compare; the rest of memory is ignored.
    pub regions: Vec<Region>,
    /// True if elapsed T-cycles are compared as well, if both backends count them.
    pub compare_counters: bool,
    /// Source of the actions.
    pub action_gen: ActionSource,
    /// Seed of the actions.
    pub actions_seed: u64,
}

impl VerifyPlan {
    /// Makes a plan of defaults: 1024 steps, every one compared.
    #[must_use]
    pub fn new(reference: BackendKind, dut: BackendKind, config: BackendConfig) -> Self {
        Self {
            reference,
            dut,
            config: BackendConfig { lockstep: true, ..config },
            steps: 1024,
            compare_every: 1,
            regions: Vec::new(),
            compare_counters: false,
            action_gen: ActionSource::Random,
            actions_seed: 0,
        }
    }

    /// Checks that the plan can be carried out, because plans come from command lines and bundles.
    fn check(&self) -> Result<(), LabError> {
        let actions = u128::from(self.steps) * self.config.num_envs as u128;
        // Each step's list takes some bytes, too.
        if actions.max(u128::from(self.steps) * 32) > u128::from(MAX_ACTIONS) {
            let (steps, num_envs) = (self.steps, self.config.num_envs);
            return Err(LabError::TooManyActions { steps, num_envs, most: MAX_ACTIONS });
        }
        let bytes = self.regions.iter().map(|region| u64::from(region.high - region.low)).sum();
        if bytes > MAX_REGION_BYTES {
            return Err(LabError::TooMuchMemory { bytes, most: MAX_REGION_BYTES });
        }
        Ok(())
    }

    /// Writes the plan in the form that artifacts have.
    pub fn to_json(&self) -> Value {
        let config = &self.config;
        json!({
            "reference": self.reference.name(),
            "dut": self.dut.name(),
            "cuda": config.cuda,
            "rom": { "name": config.rom.name, "sha256": config.rom.sha256 },
            "num_envs": config.num_envs,
            "verify_steps": self.steps,
            "compare_every": self.compare_every,
            "mem_regions": self.regions.iter().map(Region::to_string).collect::<Vec<_>>(),
            "compare_counters": self.compare_counters,
            "compare_frame": config.draw_last,
            "codec": config.codec.name,
            "frames_per_step": config.schedule.frames_per_step(),
            "release_after_frames": config.schedule.release_after_frames(),
            "stage": config.stage.name(),
            "programs": program::to_json(&config.programs),
            "action_gen": self.action_gen.to_string(),
            "actions_seed": self.actions_seed,
            "recompile": config.recompile.name(),
            "model": model_name(config.model),
            "link": config.link.name(),
        })
    }
}

/// Observation of one machine on one backend.
#[derive(Debug, Clone)]
pub struct Observed {
    /// Registers and counters.
    pub state: EnvState,
    /// Bytes of the plan's regions, in its order.
    pub regions: Vec<Vec<u8>>,
    /// The drawn frame, if the plan compares frames.
    pub frame: Option<Vec<u8>>,
    /// Outputs of the stage, by name.
    pub outputs: Vec<(String, f32)>,
}

/// One value that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// A register's name, `tcycles`, `frame`, or a region.
    pub field: String,
    /// Value on the reference.
    pub reference: String,
    /// Value on the device under test.
    pub dut: String,
}

/// The first disagreement of a run.
#[derive(Debug, Clone)]
pub struct Mismatch {
    /// Number of steps taken before the disagreement appeared.
    pub step: u64,
    /// The first machine that disagrees.
    pub env: usize,
    /// Number of machines that disagree at that step.
    pub disagreeing_envs: usize,
    /// Values that differ.
    pub differences: Vec<Difference>,
    /// Machine of the reference.
    pub reference: Observed,
    /// Machine under test.
    pub dut: Observed,
}

/// Result of a run.
#[derive(Debug)]
pub struct VerifyResult {
    /// Number of steps taken.
    pub steps: u64,
    /// Number of comparisons, each of all machines.
    pub comparisons: u64,
    /// Actions of every step that was run.
    pub actions: Vec<Vec<u8>>,
    /// Number of disagreements with a known reason.
    pub set_aside: u64,
    /// Disagreement that ended the run, if there was one.
    pub mismatch: Option<Mismatch>,
    /// Duration of the run.
    pub elapsed: Duration,
    /// Details of the two backends.
    pub details: [Value; 2],
}

/// Runs the plan with its own actions; `judge` decides about disagreements.
///
/// # Errors
/// A backend failed. A disagreement is not an error: [`VerifyResult`] reports it.
pub fn verify(
    plan: &VerifyPlan,
    judge: &mut dyn FnMut(&Mismatch) -> Judgement,
    progress: &mut dyn FnMut(u64),
) -> Result<VerifyResult, LabError> {
    let mut source = |step: u64, actions: &mut [u8]| {
        plan.action_gen.fill(&plan.config.codec, plan.actions_seed, step, actions);
    };
    lockstep(plan, &mut source, judge, progress)
}

/// Decision about a disagreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// The run ends here.
    Stop,
    /// The disagreement has a known reason: it is counted, and the run goes on.
    SetAside,
}

/// Runs the plan with actions from a given source; `judge` decides about disagreements.
///
/// # Errors
/// A backend failed. A disagreement is not an error: [`VerifyResult`] reports it.
pub fn lockstep(
    plan: &VerifyPlan,
    actions_of: &mut dyn FnMut(u64, &mut [u8]),
    judge: &mut dyn FnMut(&Mismatch) -> Judgement,
    progress: &mut dyn FnMut(u64),
) -> Result<VerifyResult, LabError> {
    plan.check()?;
    let start = Instant::now();
    let mut reference = plan.reference.open(&plan.config)?;
    let mut dut = plan.dut.open(&plan.config)?;
    let mut verdict = VerifyResult {
        steps: 0,
        comparisons: 0,
        set_aside: 0,
        actions: Vec::new(),
        mismatch: None,
        elapsed: Duration::ZERO,
        details: [reference.details(), dut.details()],
    };
    let mut actions = vec![0; plan.config.num_envs];
    while verdict.steps < plan.steps && verdict.mismatch.is_none() {
        actions_of(verdict.steps, &mut actions);
        verdict.actions.push(actions.clone());
        reference.step(&actions)?;
        dut.step(&actions)?;
        verdict.steps += 1;
        if verdict.steps.is_multiple_of(plan.compare_every) || verdict.steps == plan.steps {
            verdict.comparisons += 1;
            if let Some(mismatch) = compare(plan, verdict.steps, &mut *reference, &mut *dut)? {
                match judge(&mismatch) {
                    Judgement::Stop => verdict.mismatch = Some(mismatch),
                    Judgement::SetAside => verdict.set_aside += 1,
                }
            }
        }
        progress(verdict.steps);
    }
    verdict.elapsed = start.elapsed();
    Ok(verdict)
}

fn compare(
    plan: &VerifyPlan,
    step: u64,
    reference: &mut dyn Backend,
    dut: &mut dyn Backend,
) -> Result<Option<Mismatch>, LabError> {
    let states = reference.states()?.into_iter().zip(dut.states()?);
    let mut first: Option<Mismatch> = None;
    let outputs = [outputs(plan, reference)?, outputs(plan, dut)?];
    for (env, (reference_state, dut_state)) in states.enumerate() {
        let [of_reference, of_dut] = outputs.each_ref().map(|all| all[env].clone());
        let observed = [
            Observed { outputs: of_reference, ..observe(plan, reference, env, reference_state)? },
            Observed { outputs: of_dut, ..observe(plan, dut, env, dut_state)? },
        ];
        let differences = differences(plan, &observed);
        if differences.is_empty() {
            continue;
        }
        match &mut first {
            Some(mismatch) => mismatch.disagreeing_envs += 1,
            None => {
                let [reference, dut] = observed;
                first =
                    Some(Mismatch { step, env, disagreeing_envs: 1, differences, reference, dut });
            }
        }
    }
    Ok(first)
}

fn observe(
    plan: &VerifyPlan,
    backend: &mut dyn Backend,
    env: usize,
    state: EnvState,
) -> Result<Observed, LabError> {
    let regions = plan.regions.iter().map(|region| backend.read_memory(env, region.range()));
    let regions = regions.collect::<Result<_, _>>()?;
    let frame = if plan.config.draw_last { Some(backend.frame(env)?) } else { None };
    Ok(Observed { state, regions, frame, outputs: Vec::new() })
}

/// Returns the stage's outputs of each env, by name.
fn outputs(plan: &VerifyPlan, backend: &dyn Backend) -> Result<Vec<Vec<(String, f32)>>, LabError> {
    let mut outputs = vec![Vec::new(); plan.config.num_envs];
    if plan.config.stage.owns_reward() {
        for (of_env, reward) in outputs.iter_mut().zip(backend.rewards()?) {
            of_env.push(("reward".to_owned(), reward));
        }
    }
    if plan.config.stage.owns_observation() {
        let observations = backend.observations()?;
        for (of_env, numbers) in
            outputs.iter_mut().zip(observations.chunks(plan.config.programs.obs_dim()))
        {
            let named = numbers.iter().enumerate().map(|(at, &it)| (format!("obs[{at}]"), it));
            of_env.extend(named);
        }
    }
    Ok(outputs)
}

fn differences(plan: &VerifyPlan, [reference, dut]: &[Observed; 2]) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut compare = |field: &str, reference: String, dut: String| {
        if reference != dut {
            differences.push(Difference { field: field.to_owned(), reference, dut });
        }
    };
    for ((field, left), (_, right)) in
        registers(&reference.state).into_iter().zip(registers(&dut.state))
    {
        compare(field, left, right);
    }
    if let (true, Some(left), Some(right)) =
        (plan.compare_counters, reference.state.tcycles, dut.state.tcycles)
    {
        compare("tcycles", left.to_string(), right.to_string());
    }
    for (region, (left, right)) in
        plan.regions.iter().zip(reference.regions.iter().zip(&dut.regions))
    {
        compare(&region.to_string(), sha256(left), sha256(right));
    }
    if let (Some(left), Some(right)) = (&reference.frame, &dut.frame) {
        compare("frame", sha256(left), sha256(right));
    }
    // The bits distinguish NaNs.
    let number = |it: f32| format!("{it} ({:08x})", it.to_bits());
    for ((field, left), (_, right)) in reference.outputs.iter().zip(&dut.outputs) {
        compare(field, number(*left), number(*right));
    }
    differences
}

/// Returns the registers by name, in printed form.
pub fn registers(state: &EnvState) -> [(&'static str, String); 10] {
    let cpu = &state.cpu;
    let byte = |value: u8| format!("{value:#04x}");
    let word = |value: u16| format!("{value:#06x}");
    [
        ("a", byte(cpu.a)),
        ("f", format!("{} {}", byte(cpu.f), flags(state))),
        ("b", byte(cpu.b)),
        ("c", byte(cpu.c)),
        ("d", byte(cpu.d)),
        ("e", byte(cpu.e)),
        ("h", byte(cpu.h)),
        ("l", byte(cpu.l)),
        ("sp", word(cpu.sp)),
        ("pc", word(cpu.pc)),
    ]
}

fn flags(state: &EnvState) -> String {
    let names = state.cpu.flags().into_iter().zip("ZNHC".chars());
    names.map(|(set, name)| if set { name } else { '-' }).collect()
}
