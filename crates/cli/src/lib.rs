//! The command `gbxcule`: one file per verb. The program of that name and the Python package's
//! command call `run`.
//!
//! Exit status: 0 when the claim holds, 1 when it does not (a mismatch, a gate that fails), 2 when
//! it could not be found out (a wrong command line, a missing file, a dead child process).

mod assemble;
mod bench;
mod compile;
mod demo;
mod device;
mod doctor;
mod driver;
mod env_details;
pub mod episode_film;
mod exit_code;
mod film;
mod gif;
mod interrupt;
pub mod live_view;
mod mp4;
mod picture;
mod play;
mod print;
mod progress;
mod record;
mod replay;
mod report;
mod rom_image;
mod roms;
mod run_options;
mod synth;
mod verify;
mod watch;

use std::ffi::OsString;
use std::io::ErrorKind;

use clap::{Parser, Subcommand};

pub use exit_code::ExitCode;

/// A swarm of Game Boys for reinforcement learning, and the lab that proves and measures it
#[derive(Parser)]
#[command(name = "gbxcule", version, propagate_version = true, arg_required_else_help = true, after_long_help = FOOTER)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

const FOOTER: &str = "\
BACKENDS
  pyboy_single   PyBoy in a child process, one machine: the trusted reference
  pyboy_vec_mp   PyBoy in as many child processes as there are cores: the CPU baseline
  warp_vec_cpu   the swarm on all CPU threads (`--device cpu`, also called warp_vec)
  warp_vec_interpreted  the same without code made for the ROM
  warp_vec_cuda  the swarm in one CUDA kernel (`--device cuda`, or `cuda:N`); never a silent fallback to the CPU
  libmgba        the second reference, if built with `--features mgba`
  stub_bad       wrong on purpose: proves that a mismatch is found, written down and replayed

EXIT STATUS
  0  what was asked for holds
  1  it does not: a mismatch, a check that failed, a replay that shows nothing
  2  it could not be found out: wrong command line, missing file, a child process that died

ENVIRONMENT
  GBXCULE_PYTHON  the interpreter that serves PyBoy; else that of the active environment (VIRTUAL_ENV, CONDA_PREFIX), else
                  .venv/bin/python of the project, if project and interpreter are yours; else python3
  GBXCULE_NVRTC   libnvrtc.so or a folder above it; else that interpreter's wheel `nvidia-cuda-nvrtc`, else the system's
  GBXCULE_THREADS threads for kernels on the CPU; else one for each core. Swarms: `--workers`
  GBXCULE_CACHE   where machine code for GPUs is kept; else `gbxcule` in the user's cache

EXAMPLES
  gbxcule demo
  gbxcule watch --num-envs 256
  gbxcule doctor
  gbxcule verify --ref-backend pyboy_single --dut-backend warp_vec_cpu --rom MEM_RWB --mem-region C000:C100
  gbxcule bench --backend pyboy_vec_mp --backend warp_vec_cpu --rom ALU_LOOP --env-counts 1,8,64,512
  gbxcule compile saxpy.py --device cuda
  gbxcule synth generate --count 1000 --out runs/kernels";

#[derive(Subcommand)]
enum Verb {
    Demo(demo::Demo),
    Verify(Box<verify::Verify>),
    Replay(replay::Replay),
    Bench(Box<bench::Bench>),
    Report(report::Report),
    Doctor(doctor::Doctor),
    Compile(compile::Compile),
    Roms(roms::Roms),
    Assemble(assemble::Assemble),
    Watch(Box<watch::Watch>),
    Play(play::Play),
    Record(Box<record::Record>),
    Synth(synth::Synth),
}

/// Runs a command line, whose first word is the command's own name.
pub fn run(command_line: impl IntoIterator<Item = OsString>) -> ExitCode {
    interrupt::install();
    let words: Vec<OsString> = command_line.into_iter().collect();
    let command = match Cli::try_parse_from(&words) {
        Ok(command) => command,
        Err(error) => return explain(&error, &words),
    };
    if let Err(error) = gbxcule_runtime::check_threads() {
        return failed(&error.to_string());
    }
    let outcome = match command.verb {
        Verb::Demo(verb) => verb.run(),
        Verb::Verify(verb) => verb.run(),
        Verb::Replay(verb) => verb.run(),
        Verb::Bench(verb) => verb.run(),
        Verb::Report(verb) => verb.run(),
        Verb::Doctor(verb) => verb.run(),
        Verb::Compile(verb) => verb.run(),
        Verb::Roms(verb) => verb.run(),
        Verb::Assemble(verb) => verb.run(),
        Verb::Watch(verb) => verb.run(),
        Verb::Play(verb) => verb.run(),
        Verb::Record(verb) => verb.run(),
        Verb::Synth(verb) => verb.run(),
    };
    interrupt::wait_for_the_end();
    // Artifacts were written before their summary was printed.
    match (outcome, print::output_failure()) {
        (Err(error), _) => failed(&one_line(&error)),
        (Ok(_), Err(error)) => output_lost(&error),
        (Ok(true), Ok(())) => ExitCode::HOLDS,
        (Ok(false), Ok(())) => ExitCode::FAILS,
    }
}

fn failed(text: &str) -> ExitCode {
    print::error(&format!("error: {text}\n"));
    ExitCode::NOT_FOUND_OUT
}

/// Reports that standard output could not be written, and so a part of the text is lost.
fn output_lost(error: &std::io::Error) -> ExitCode {
    failed(&format!("writing to standard output: {error}"))
}

/// Help that was asked for, or what is wrong with the command line.
fn explain(error: &clap::Error, words: &[OsString]) -> ExitCode {
    // A word may be the name of somebody's file. In colours it would reach the terminal as it is.
    if error.use_stderr()
        && words.iter().any(|word| print::has_control_characters(&word.to_string_lossy()))
    {
        print::error(&error.render().to_string());
        return ExitCode::NOT_FOUND_OUT;
    }
    match error.print() {
        Err(lost) if lost.kind() != ErrorKind::BrokenPipe && !error.use_stderr() => {
            output_lost(&lost)
        }
        _ if error.use_stderr() => ExitCode::NOT_FOUND_OUT,
        _ => ExitCode::HOLDS,
    }
}

/// A failure and its causes in one line; a cause that the text says already is not said again.
fn one_line(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn each_cause_is_told_once() {
        let error = anyhow::anyhow!("not there").context("a.gb: not there").context("--rom");
        assert_eq!(one_line(&error), "--rom: a.gb: not there");
        let error = anyhow::anyhow!("no driver").context("warp_vec_cuda cannot start");
        assert_eq!(one_line(&error), "warp_vec_cuda cannot start: no driver");
    }

    #[test]
    fn every_option_of_every_verb_says_what_it_does() {
        helps(&Cli::command());
    }

    fn helps(verb: &clap::Command) {
        for argument in verb.get_arguments() {
            assert!(argument.get_help().is_some(), "{} {}", verb.get_name(), argument.get_id());
        }
        verb.get_subcommands().for_each(helps);
    }
}
