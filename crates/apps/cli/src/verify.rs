//! `gbxcule verify`.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Args;
use gbxcule_files::check_writable;
use gbxcule_lab::region::Region;
use gbxcule_lab::suite::{self, Outcome};
use gbxcule_lab::verify::{Difference, Judgement, Mismatch, VerifyPlan, VerifyResult, verify};
use gbxcule_lab::{BackendConfig, BackendKind, bundle};

use crate::device::DeviceOption;
use crate::print::say;
use crate::run_options::{LinkOption, ModelOption, ProgramOptions, RunOptions};
use crate::{progress, rom_image};

/// Step two backends in lockstep and compare them after every step
///
/// Both backends start at PC=0x0100 and take the same actions. They must agree in registers and
/// flags, in the memory that `--mem-region` names, and with `--compare-counters` and
/// `--compare-frame` in elapsed cycles and the drawn frame. At the first mismatch the command
/// writes a bundle: a folder with all data about the mismatch, and a command that repeats it.
#[derive(Args)]
#[command(after_long_help = FOOTER)]
pub(crate) struct Verify {
    /// The trusted backend
    #[arg(long, value_name = "BACKEND", default_value = "pyboy_single")]
    ref_backend: BackendKind,

    /// The backend under test; by default the swarm on `--device`
    #[arg(long, value_name = "BACKEND")]
    dut_backend: Option<BackendKind>,

    #[command(flatten)]
    device: DeviceOption,

    #[command(flatten)]
    model: ModelOption,

    #[command(flatten)]
    link: LinkOption,

    /// A game or micro-ROM by name (see `gbxcule roms`), or a ROM file
    #[arg(long, value_name = "ROM", required_unless_present = "suite")]
    rom: Option<String>,

    /// Run every micro-ROM, or the micro-ROMs of `--model`, and print a table; each explained
    /// difference must appear exactly as its row in the sources says
    #[arg(long, conflicts_with_all = [
        "rom", "dut_backend", "num_envs", "link", "verify_steps", "compare_every", "frames_per_step",
        "release_after_frames", "mem_region", "compare_counters", "compare_frame", "codec", "action_gen",
        "actions_seed", "stage", "no_recompile", "reward", "obs",
    ])]
    suite: bool,

    /// Number of steps
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..))]
    verify_steps: u64,

    /// Compare after every N steps, and after the last
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    compare_every: u64,

    /// Frames of one step
    #[arg(long, value_name = "N", default_value_t = 1)]
    frames_per_step: u32,

    /// Memory to compare, as LOW:HIGH in hexadecimal, HIGH not included; may be given several times
    #[arg(long, value_name = "LOW:HIGH")]
    mem_region: Vec<Region>,

    /// Number of machines; pyboy_single has 1, pyboy_vec_mp up to 4096
    #[arg(long, value_name = "N", default_value_t = 1)]
    num_envs: usize,

    /// Also compare elapsed T-cycles
    #[arg(long)]
    compare_counters: bool,

    /// Also draw the last frame of every step and compare its pixels
    #[arg(long)]
    compare_frame: bool,

    /// Do not stop at the first mismatch: count the steps at which each set of fields disagrees,
    /// and write no bundle
    #[arg(long, conflicts_with = "suite")]
    keep_going: bool,

    /// Folder for bundles
    #[arg(long, value_name = "DIR", default_value = "runs/bundles")]
    bundle_dir: PathBuf,

    #[command(flatten)]
    run: RunOptions,

    #[command(flatten)]
    programs: ProgramOptions,
}

const FOOTER: &str = "\
EXIT STATUS
  0  all compared steps agree (with --suite: all differences are explained)
  1  a mismatch; its bundle's folder is printed
  2  no result: a backend could not be started, or failed

EXAMPLES
  The two gates:
    gbxcule verify --ref-backend pyboy_single --dut-backend warp_vec_cpu --rom ALU_LOOP --verify-steps 1024 \\
        --compare-every 1 --frames-per-step 1
    gbxcule verify --ref-backend pyboy_single --dut-backend warp_vec_cpu --rom MEM_RWB --verify-steps 1024 \\
        --compare-every 1 --frames-per-step 1 --mem-region C000:C100
  All micro-ROMs against PyBoy, with a table:
    gbxcule verify --suite
  The Color's micro-ROMs alone:
    gbxcule verify --suite --model cgb
  Pairs with a cable, beside a swarm that is wrong on purpose:
    gbxcule verify --ref-backend warp_vec_cpu --dut-backend stub_bad --rom LINK_PING_PONG --link pairs --num-envs 2
  A mismatch, and its bundle:
    gbxcule verify --dut-backend stub_bad --rom ALU_LOOP";

/// Steps at which one set of fields disagrees.
struct Disagreement {
    fields: Vec<String>,
    first_step: u64,
    steps: u64,
}

/// Counts of disagreements, for each set of fields.
#[derive(Default)]
struct Tally {
    rows: Vec<Disagreement>,
}

impl Tally {
    fn count(&mut self, mismatch: &Mismatch) {
        let fields: Vec<_> =
            mismatch.differences.iter().map(|difference| difference.field.clone()).collect();
        match self.rows.iter_mut().find(|row| row.fields == fields) {
            Some(row) => row.steps += 1,
            None => {
                let first_step = mismatch.step;
                self.rows.push(Disagreement { fields, first_step, steps: 1 });
            }
        }
    }

    fn print(&self, plan: &VerifyPlan, verdict: &VerifyResult) -> bool {
        say!(
            "MISMATCH  {}: {} against {}, {} of {} comparisons",
            plan.config.rom.name,
            plan.dut,
            plan.reference,
            verdict.set_aside,
            verdict.comparisons
        );
        for Disagreement { fields, first_step, steps } in &self.rows {
            say!("  {steps:6} times, first after step {first_step}: {}", fields.join(" "));
        }
        print_known(plan, &[]);
        false
    }
}

/// Prints both sides of each difference.
pub(crate) fn print_differences(plan: &VerifyPlan, differences: &[Difference]) {
    let VerifyPlan { reference, dut, .. } = plan;
    for Difference { field, reference: wanted, dut: found } in differences {
        say!("  {field:10} {reference} {wanted}, {dut} {found}");
    }
}

/// Prints the known reason of the differences, or the page that explains a reference's faults.
fn print_known(plan: &VerifyPlan, differences: &[Difference]) {
    if !plan.reference.is_emulator_of_others() {
        return;
    }
    let reason = suite::known_difference(plan, differences).filter(|_| !differences.is_empty());
    if let Some(why) = reason {
        say!("explained for this ROM: {why}");
        say!(
            "  evidence: docs/references.md; `gbxcule verify --suite` tells whether there are other differences"
        );
    } else {
        let reference = plan.reference;
        say!("docs/references.md lists the known errors of {reference}");
    }
}

impl Verify {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        self.run.steps(self.frames_per_step)?;
        if self.suite {
            ensure!(
                !self.link.is_paired(),
                "--suite compares machines one by one; leave out --link pairs"
            );
            return self.run_suite();
        }
        let plan = self.plan()?;
        self.device.check_for(&[plan.reference, plan.dut])?;
        let bundles = &self.bundle_dir;
        check_writable(&bundles.join("bundle"))
            .with_context(|| format!("--bundle-dir {}", bundles.display()))?;
        let bar = progress::bar(plan.steps, "steps");
        bar.set_message(format!("{} vs {}", plan.reference, plan.dut));
        let mut tally = Tally::default();
        let mut judge = |mismatch: &Mismatch| {
            if self.keep_going {
                tally.count(mismatch);
                Judgement::SetAside
            } else {
                Judgement::Stop
            }
        };
        let verdict = verify(&plan, &mut judge, &mut |step| bar.set_position(step))?;
        bar.finish_and_clear();
        if verdict.set_aside > 0 {
            return Ok(tally.print(&plan, &verdict));
        }
        self.print(&plan, &verdict)
    }

    fn plan(&self) -> anyhow::Result<VerifyPlan> {
        let rom = rom_image::find(self.rom.as_deref().unwrap_or_default())?;
        let dut = self.dut_backend.unwrap_or_else(|| self.device.backend());
        let (codec, schedule) = self.run.steps(self.frames_per_step)?;
        let config = BackendConfig {
            cuda: self.device.cuda(),
            num_envs: self.num_envs,
            draw_last: self.compare_frame,
            codec,
            schedule,
            stage: self.run.stage,
            programs: self.programs.of_stage(self.run.stage)?,
            recompile: self.run.recompile(),
            model: self.model.model_of(self.rom.as_deref().unwrap_or_default())?,
            link: self.link.link,
            ..BackendConfig::new(rom)
        };
        Ok(VerifyPlan {
            steps: self.verify_steps,
            compare_every: self.compare_every,
            regions: self.mem_region.clone(),
            compare_counters: self.compare_counters,
            action_gen: self.run.action_gen.clone(),
            actions_seed: self.run.actions_seed,
            ..VerifyPlan::new(self.ref_backend, dut, config)
        })
    }

    fn print(&self, plan: &VerifyPlan, verdict: &VerifyResult) -> anyhow::Result<bool> {
        let gpu = verdict.details[1]["gpu"].as_str();
        let on = gpu.map_or_else(String::new, |gpu| format!(" ({gpu})"));
        let what = format!("{}: {}{on} against {}", plan.config.rom.name, plan.dut, plan.reference);
        let Some(mismatch) = &verdict.mismatch else {
            say!(
                "agree  {what}, {} steps of {} frames, {} machines, {} comparisons, {:.1} s",
                verdict.steps,
                plan.config.schedule.frames_per_step(),
                plan.config.num_envs,
                verdict.comparisons,
                verdict.elapsed.as_secs_f64(),
            );
            return Ok(true);
        };
        say!("MISMATCH  {what}, after step {}, env {}", mismatch.step, mismatch.env);
        if mismatch.disagreeing_envs > 1 {
            say!("  {} of {} machines disagree", mismatch.disagreeing_envs, plan.config.num_envs);
        }
        print_differences(plan, &mismatch.differences);
        print_known(plan, &mismatch.differences);
        let folder = bundle::write(&self.bundle_dir, plan, verdict, mismatch)?;
        say!("bundle: {}", folder.display());
        say!("repeat: gbxcule replay {}", gbxcule_files::shell_word(&folder));
        Ok(false)
    }

    fn run_suite(&self) -> anyhow::Result<bool> {
        let dut = self.device.backend();
        self.device.check_for(&[self.ref_backend, dut])?;
        say!("{dut} against {}\n", self.ref_backend);
        let mut reasons: Vec<&str> = Vec::new();
        let mut wrong = 0;
        let model = self.model.model_of("")?;
        let cases: Vec<_> =
            suite::cases().filter(|case| model.is_none_or(|model| model == case.model)).collect();
        for &case in &cases {
            let outcome = suite::run(case, self.ref_backend, dut, self.device.cuda())?;
            let mut result = outcome.describe();
            if let Outcome::AsExplained(explained) = &outcome {
                let listed = reasons.iter().position(|reason| *reason == explained.why);
                let number = listed.unwrap_or_else(|| {
                    reasons.push(explained.why);
                    reasons.len() - 1
                });
                result = format!("{result} [{}]", number + 1);
            }
            let folder = match &outcome {
                Outcome::Unexplained { plan, verdict, mismatch } => {
                    Some(bundle::write(&self.bundle_dir, plan, verdict, mismatch)?)
                }
                _ => None,
            };
            say!("{:20} {:62} {result}", case.rom, case.what());
            if let Some(folder) = folder {
                say!("  bundle: {}", folder.display());
            }
            wrong += usize::from(!outcome.is_as_pinned());
        }
        say!();
        for (number, reason) in reasons.iter().enumerate() {
            say!("[{}] {reason}", number + 1);
        }
        say!("{} rows, {wrong} not as they should be", cases.len());
        Ok(wrong == 0)
    }
}
