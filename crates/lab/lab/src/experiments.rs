//! Experiments of `gbxcule bench`: one name for each question that a sweep can answer.

use gbxcule_swarm::Stage;

/// One experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experiment {
    /// The name on the command line.
    pub name: &'static str,
    /// Question that the experiment answers.
    pub question: &'static str,
    /// ROM of the experiment.
    pub rom: &'static str,
    /// Stage of the experiment.
    pub stage: Stage,
    /// Frames of a step; `None` stands for the sweep's own number.
    pub frames_per_step: Option<u32>,
}

/// All experiments; each adds one part to the experiment before it.
pub const EXPERIMENTS: [Experiment; 5] = [
    Experiment {
        name: "E0",
        question: "how fast are launch and plumbing when the machines have nothing to do",
        rom: "HALT_IDLE",
        stage: Stage::EmulateOnly,
        frames_per_step: Some(1),
    },
    Experiment {
        name: "E1",
        question: "how fast are machines that all do the same arithmetic",
        rom: "ALU_LOOP",
        stage: Stage::EmulateOnly,
        frames_per_step: None,
    },
    Experiment {
        name: "E2",
        question: "what does divergence cost, when every machine goes its own way",
        rom: "JOY_DIVERGE_PERSIST",
        stage: Stage::EmulateOnly,
        frames_per_step: None,
    },
    Experiment {
        name: "E3",
        question: "what does memory cost",
        rom: "MEM_RWB",
        stage: Stage::EmulateOnly,
        frames_per_step: None,
    },
    Experiment {
        name: "E4",
        question: "what do reward and observation cost where the machine lives",
        rom: "MEM_RWB",
        stage: Stage::FullStep,
        frames_per_step: None,
    },
];

/// Returns the experiment with a name.
pub fn by_name(name: &str) -> Option<Experiment> {
    EXPERIMENTS.into_iter().find(|experiment| experiment.name.eq_ignore_ascii_case(name))
}
