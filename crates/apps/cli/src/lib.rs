//! The command `gbxcule`: one file per verb. The program of that name and the Python package's
//! command call `run`.
//!
//! Exit status: 0 if the claim holds, 1 if it does not (a mismatch, a failed check), 2 if it could
//! not be examined (a wrong command line, a missing file, a dead child process).

mod assemble;
mod bench;
mod build;
mod check;
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
mod judge;
mod kernel_file;
pub mod live_view;
mod mp4;
mod pad;
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
use std::io;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};

pub use exit_code::ExitCode;

/// A kernel compiler, and two tools built on it: a swarm of Game Boys for reinforcement learning,
/// and a foundry of kernel datasets
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
  warp_vec_interpreted  the swarm on all CPU threads, without code made for the ROM
  warp_vec_cuda  the swarm in one CUDA kernel (`--device cuda`, or `cuda:N`); fails without a GPU
  libmgba        the second reference, if built with `--features mgba`
  stub_bad       a swarm with an error on purpose, to test that a mismatch is found, reported and replayed

EXIT STATUS
  0  success
  1  a failed check: a mismatch, a refused kernel, a wrong row, a replay without its mismatch
  2  no result: a wrong command line, a missing file, a child process that died

ENVIRONMENT
  GBXCULE_PYTHON  the Python for PyBoy and NVIDIA Warp; by default the active environment's (VIRTUAL_ENV,
                  CONDA_PREFIX), else .venv/bin/python of the project, if you own both, else python3
  GBXCULE_NVRTC   libnvrtc.so or a folder above it; by default that Python's wheel `nvidia-cuda-nvrtc`, else the system's
  GBXCULE_THREADS threads for kernels on the CPU; by default one for each core (`--workers` sets a swarm's)
  GBXCULE_CACHE   folder for compiled machine code, or `off`; by default `gbxcule` in the user's cache

EXAMPLES
  gbxcule demo
  gbxcule watch --num-envs 256
  gbxcule doctor
  gbxcule verify --ref-backend pyboy_single --dut-backend warp_vec_cpu --rom MEM_RWB --mem-region C000:C100
  gbxcule bench --backend pyboy_vec_mp --backend warp_vec_cpu --rom ALU_LOOP --env-counts 1,8,64,512
  gbxcule compile saxpy.py --emit cuda
  gbxcule build saxpy.py --out saxpy
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
    Check(check::Check),
    Build(build::Build),
    Roms(roms::Roms),
    Assemble(assemble::Assemble),
    Watch(Box<watch::Watch>),
    Play(play::Play),
    Record(Box<record::Record>),
    Judge(judge::Judge),
    Synth(synth::Synth),
}

/// Runs a command line, whose first word is the command's own name.
pub fn run(command_line: impl IntoIterator<Item = OsString>) -> ExitCode {
    interrupt::install();
    let words: Vec<OsString> = command_line.into_iter().collect();
    let command = with_local_paths(with_negative_numbers(Cli::command()));
    let matches = command.try_get_matches_from(&words);
    let command = match matches.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
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
        Verb::Check(verb) => verb.run(),
        Verb::Build(verb) => verb.run(),
        Verb::Roms(verb) => verb.run(),
        Verb::Assemble(verb) => verb.run(),
        Verb::Watch(verb) => verb.run(),
        Verb::Play(verb) => verb.run(),
        Verb::Record(verb) => verb.run(),
        Verb::Judge(verb) => verb.run(),
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
    ExitCode::UNKNOWN
}

/// Reports that standard output could not be written and a part of the text is lost.
fn output_lost(error: &io::Error) -> ExitCode {
    failed(&format!("writing to standard output: {error}"))
}

/// Makes `-1` after an option its value, so that the error names the option's values instead of an
/// unknown option `-1`.
fn with_negative_numbers(command: Command) -> Command {
    command
        .mut_args(|arg| {
            let takes_value = arg.get_action().takes_values() && !arg.is_positional();
            arg.allow_negative_numbers(takes_value)
        })
        .mut_subcommands(with_negative_numbers)
}

/// Makes options and arguments for paths refuse URLs.
fn with_local_paths(command: Command) -> Command {
    let path = clap::value_parser!(PathBuf).type_id();
    let local = |path: PathBuf| gbxcule_files::check_local(&path).map(|()| path);
    command
        .mut_args(|arg| match arg.get_value_parser().type_id() == path {
            true => arg.value_parser(PathBufValueParser::new().try_map(local)),
            false => arg,
        })
        .mut_subcommands(with_local_paths)
}

/// The standard library's messages about numbers, each with a clearer one.
const NUMBER_ERRORS: [(&str, &str); 7] = [
    ("invalid digit found in string", "this is not a whole number from 0 on"),
    ("cannot parse integer from empty string", "it is empty; give a whole number"),
    ("number too large to fit in target type", "it is too large"),
    ("number too small to fit in target type", "it is too small"),
    ("number would be zero for non-zero type", "it is not 1 or more"),
    ("invalid float literal", "this is not a number"),
    ("cannot parse float from empty string", "it is empty; give a number"),
];

/// Prints help, or the error of the command line.
fn explain(error: &clap::Error, words: &[OsString]) -> ExitCode {
    if error.kind() == ErrorKind::ValueValidation {
        let text = error.render().to_string();
        let translation = NUMBER_ERRORS.iter().find(|(theirs, _)| text.contains(theirs));
        if let Some((theirs, ours)) = translation {
            print::error(&text.replace(theirs, ours));
            return ExitCode::UNKNOWN;
        }
    }
    // An argument may be the name of another user's file, and in coloured output its control
    // characters would reach the terminal.
    if error.use_stderr()
        && words.iter().any(|word| gbxcule_files::has_control_characters(&word.to_string_lossy()))
    {
        print::error(&error.render().to_string());
        return ExitCode::UNKNOWN;
    }
    match error.print() {
        Err(lost) if lost.kind() != io::ErrorKind::BrokenPipe && !error.use_stderr() => {
            output_lost(&lost)
        }
        _ if error.use_stderr() => ExitCode::UNKNOWN,
        _ => ExitCode::HOLDS,
    }
}

/// Writes a failure and its causes in one line, without causes that the text already contains.
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
        each_verb(&Cli::command(), &[], &mut |verb, _| {
            for argument in verb.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {}", verb.get_name(), argument.get_id());
            }
        });
    }

    #[test]
    fn a_negative_number_is_the_value_of_its_option() {
        let mut tried = 0;
        each_verb(&with_negative_numbers(Cli::command()), &[], &mut |verb, words| {
            for option in verb.get_arguments().filter(|it| it.get_action().takes_values()) {
                let Some(name) = option.get_long() else { continue };
                let message = refusal(with_negative_numbers, words, &[&format!("--{name}"), "-1"]);
                assert!(!message.contains("unexpected argument"), "{words:?} {name}: {message}");
                tried += 1;
            }
        });
        assert!(tried > 100, "{tried} options");
    }

    #[test]
    fn no_option_of_any_verb_takes_a_url_for_a_path() {
        let is_path = |it: &&clap::Arg| {
            it.get_value_names().is_some_and(|names| {
                names.iter().any(|it| ["DIR", "FILE", "FOLDER"].contains(&it.as_str()))
            })
        };
        let mut tried = 0;
        each_verb(&with_local_paths(Cli::command()), &[], &mut |verb, words| {
            for option in verb.get_arguments().filter(is_path) {
                let name = option.get_long().map(|name| format!("--{name}"));
                let last: Vec<&str> =
                    name.as_deref().into_iter().chain(["s3://bucket/a"]).collect();
                let message = refusal(with_local_paths, words, &last);
                assert!(
                    message.contains("`s3://bucket/a` is a URL"),
                    "{words:?} {last:?}: {message}"
                );
                tried += 1;
            }
        });
        assert!(tried >= 30, "{tried} options");
    }

    /// Visits a verb and all verbs below it, each with the words that name it.
    fn each_verb(verb: &Command, words: &[&str], visit: &mut dyn FnMut(&Command, &[&str])) {
        visit(verb, words);
        for inner in verb.get_subcommands() {
            each_verb(inner, &[words, &[inner.get_name()]].concat(), visit);
        }
    }

    /// Returns the message about a command line, which is empty for a right one.
    fn refusal(mended: fn(Command) -> Command, verb: &[&str], last: &[&str]) -> String {
        let line = [&["gbxcule"], verb, last].concat();
        let outcome = mended(Cli::command()).try_get_matches_from(line);
        outcome.err().map_or(String::new(), |error| error.render().to_string())
    }
}
