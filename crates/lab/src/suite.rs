//! Every micro-ROM against a reference, with the differences that are explained.
//!
//! A row says what is compared and for how long. Where a reference is the wrong one, its row pins where that shows
//! first and why we know; a run that then agrees, or disagrees in another way, fails like any other mismatch.

use std::fmt::Write;

use crate::LabError;
use crate::artifact::RomImage;
use crate::backend::BackendKind;
use crate::region::Region;
use crate::verify::{Mismatch, Verdict, VerifyPlan, verify};

/// One row.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// The micro-ROM.
    pub rom: &'static str,
    /// Steps of one frame each.
    pub steps: u64,
    /// Memory that is compared.
    pub regions: &'static [Region],
    /// Elapsed T-cycles are compared too.
    pub counters: bool,
    /// The drawn frame is compared too.
    pub frame: bool,
    /// Where references are known to be wrong.
    pub explained: &'static [Explained],
}

/// A difference that is understood.
#[derive(Debug, Clone, Copy)]
pub struct Explained {
    /// Who is wrong.
    pub reference: BackendKind,
    /// After which step it shows first.
    pub step: u64,
    /// In what.
    pub fields: &'static [&'static str],
    /// Why we know.
    pub why: &'static str,
}

/// How a row came out.
#[derive(Debug)]
pub enum Outcome {
    /// Everything is equal.
    Agrees(Box<Verdict>),
    /// The pinned difference shows as pinned.
    AsExplained(&'static Explained),
    /// A pinned difference is gone: the pin must go too.
    Stale(&'static Explained),
    /// A difference that nobody has explained.
    Unexplained {
        /// What ran.
        plan: Box<VerifyPlan>,
        /// How it ended.
        verdict: Box<Verdict>,
        /// Where it disagreed.
        mismatch: Box<Mismatch>,
    },
}

const WRAM_SIGNATURE: Region = Region { low: 0xC000, high: 0xC100 };

const fn plain(rom: &'static str, steps: u64) -> Case {
    Case { rom, steps, regions: &[WRAM_SIGNATURE], counters: true, frame: false, explained: &[] }
}

/// The suite, in the order of the micro-ROMs.
#[must_use]
pub fn cases() -> &'static [Case] {
    const CASES: [Case; 14] = [
        plain("ALU_LOOP", 1024),
        plain("MEM_RWB", 1024),
        plain("JOY_DIVERGE_PERSIST", 1024),
        plain("LOADS_BASIC", 120),
        plain("ALU_FLAGS", 120),
        plain("ALU16_SP", 120),
        plain("FLOW_STACK", 120),
        plain("CB_BITOPS", 120),
        plain("TIMER_DIV_BASIC", 120),
        plain("TIMER_IRQ_HALT", 120),
        plain("EI_DELAY", 120),
        plain("DMA_OAM_COPY", 120),
        plain("SERIAL_HELLO", 120),
        plain("HALT_IDLE", 120),
    ];
    &CASES
}

/// Run one row.
///
/// # Errors
/// There is no such ROM, or a backend failed.
pub fn run(
    case: &'static Case,
    reference: BackendKind,
    dut: BackendKind,
) -> Result<Outcome, LabError> {
    let plan = VerifyPlan {
        steps: case.steps,
        regions: case.regions.to_vec(),
        compare_counters: case.counters,
        compare_frame: case.frame,
        ..VerifyPlan::new(reference, dut, RomImage::find(case.rom)?)
    };
    let mut verdict = verify(&plan, &mut |_| {})?;
    let explained = case.explained.iter().find(|explained| explained.reference == reference);
    Ok(match (verdict.mismatch.take(), explained) {
        (None, None) => Outcome::Agrees(Box::new(verdict)),
        (None, Some(explained)) => Outcome::Stale(explained),
        (Some(mismatch), Some(explained)) if explained.is(&mismatch) => {
            Outcome::AsExplained(explained)
        }
        (Some(mismatch), _) => Outcome::Unexplained {
            plan: Box::new(plan),
            verdict: Box::new(verdict),
            mismatch: Box::new(mismatch),
        },
    })
}

impl Explained {
    fn is(&self, mismatch: &Mismatch) -> bool {
        let fields = mismatch.differences.iter().map(|difference| difference.field.as_str());
        mismatch.step == self.step && fields.eq(self.fields.iter().copied())
    }
}

impl Case {
    /// What is compared, in a few words.
    #[must_use]
    pub fn what(&self) -> String {
        let mut text = format!("{} frames: registers", self.steps);
        for region in self.regions {
            // Writing to a string cannot fail.
            let _ = write!(text, ", {region}");
        }
        text.push_str(if self.counters { ", cycles" } else { "" });
        text.push_str(if self.frame { ", pixels" } else { "" });
        text
    }
}

impl Outcome {
    /// Is this row as it should be?
    #[must_use]
    pub fn is_as_pinned(&self) -> bool {
        matches!(self, Self::Agrees(_) | Self::AsExplained(_))
    }

    /// In one line.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Agrees(verdict) => format!("agrees ({:.1} s)", verdict.elapsed.as_secs_f64()),
            Self::AsExplained(explained) => {
                format!("explained, from step {}: {}", explained.step, explained.why)
            }
            Self::Stale(explained) => {
                format!("STALE: agrees, but a difference is pinned: {}", explained.why)
            }
            Self::Unexplained { mismatch, .. } => {
                let fields: Vec<_> = mismatch
                    .differences
                    .iter()
                    .map(|difference| difference.field.as_str())
                    .collect();
                format!("MISMATCH after step {} in {}", mismatch.step, fields.join(" "))
            }
        }
    }
}
