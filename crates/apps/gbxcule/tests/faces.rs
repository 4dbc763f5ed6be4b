//! The library as a program in Rust uses it: messages, shapes, reverses, refused launches.

use gbxcule::{Arch, Device, Error, HEADER, HEADER_NAME, Program, ProgramOptions, RunError};

const TEXT: &str = "
import warp as wp

@wp.kernel
def transpose(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    y[j, i] = x[i, j]

@wp.kernel
def overwritten(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] * x[i]
";

fn program() -> Program {
    Program::from_text("text.py", TEXT).expect("a right text")
}

#[test]
fn slices_have_the_shape_that_the_launch_gives_them() {
    let kernel = program().kernel("transpose", Device::Cpu).expect("a kernel");
    let (x, mut y) = ([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0f32; 6]);
    let launch = kernel.launch(&[2, 3]).read(&x).shape(&[2, 3]).write(&mut y).shape(&[3, 2]);
    launch.run().expect("a launch");
    assert_eq!(y, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
}

#[test]
fn a_refused_launch_changes_nothing() {
    let kernel = program().kernel("transpose", Device::Cpu).expect("a kernel");
    let (x, mut y) = ([1.0f32; 6], [7.0f32; 6]);
    let beyond = kernel.launch(&[3, 3]).read(&x).shape(&[2, 3]).write(&mut y).shape(&[3, 2]);
    assert!(matches!(beyond.run(), Err(Error::Run(_))));
    let flat = kernel.launch(&[2, 3]).read(&x).write(&mut y);
    let message = flat.run().expect_err("two dimensions are needed").to_string();
    assert!(message.contains("`x`"), "{message}");
    let short = kernel.launch(&[2, 3]).read(&x).shape(&[20, 3]).write(&mut y);
    assert!(short.run().is_err());
    assert_eq!(y, [7.0; 6]);
}

#[test]
fn messages_name_the_line_and_the_kernels() {
    let wrong = TEXT.replace("x[i, j]", "x[i, k]");
    let message = Program::from_text("text.py", &wrong).err().expect("a fault").to_string();
    assert!(message.contains("text.py:7") && message.contains('k'), "{message}");
    let message = program().kernel("transposed", Device::Cpu).err().expect("a fault").to_string();
    let names = "the program has no kernel `transposed`; its kernels: transpose, overwritten";
    assert_eq!(message, names);
    let message = program().reverse("overwritten", Device::Cpu).err().expect("a fault").to_string();
    assert!(message.contains("text.py:12"), "{message}");
}

#[test]
fn a_file_reads_what_it_imports_beside_it() {
    let folder = std::env::temp_dir().join(format!("gbxcule-faces-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (file, beside) = (folder.join("main.py"), folder.join("unit.py"));
    std::fs::write(&beside, "SCALE = 3.0\n").expect("a file");
    let text = "import warp as wp\nfrom unit import SCALE\n\n@wp.kernel\n\
                def scale(x: wp.array(dtype=float)):\n    x[wp.tid()] *= SCALE\n";
    std::fs::write(&file, text).expect("a file");
    let program = Program::from_file(&file);
    std::fs::remove_dir_all(&folder).expect("a folder");
    let program = program.expect("a right program");
    let mut x = [1.0f32, 2.0];
    let kernel = program.kernel("scale", Device::Cpu).expect("a kernel");
    kernel.launch(&[2]).write(&mut x).run().expect("a launch");
    assert_eq!(x, [3.0, 6.0]);
    assert!(program.cuda().contains("__global__"));
}

#[test]
fn a_shape_without_its_array_is_an_error_of_run() {
    let kernel = program().kernel("transpose", Device::Cpu).expect("a kernel");
    let (x, mut y) = ([1.0f32; 6], [7.0f32; 6]);
    let message = |launch: gbxcule::Launch| launch.run().expect_err("no array").to_string();
    let first = message(kernel.launch(&[2, 3]).shape(&[2, 3]).read(&x).write(&mut y));
    assert!(first.contains("`shape([2, 3])` follows no argument"), "{first}");
    let value = kernel.launch(&[2, 3]).read(&x).shape(&[2, 3]).write(&mut y).shape(&[3, 2]);
    let value = message(value.value(5).shape(&[1]));
    assert!(value.contains("follows the value") && value.contains("right after"), "{value}");
    assert_eq!(y, [7.0; 6]);
}

#[test]
fn an_array_that_is_written_is_not_lent_for_reading() {
    let kernel = program().kernel("transpose", Device::Cpu).expect("a kernel");
    let (x, y) = ([1.0f32; 6], [7.0f32; 6]);
    let lost = kernel.launch(&[2, 3]).read(&x).shape(&[2, 3]).read(&y).shape(&[3, 2]).run();
    let Err(Error::Run(RunError::Argument { argument, reason, .. })) = lost else {
        panic!("the result would be lost")
    };
    assert!(argument == "y" && reason.contains("`write(&mut ..)`"), "{argument}: {reason}");
    // The array that is only read passes, as the launches above show.
}

const GENERIC: &str = "
import warp as wp
from typing import Any
from shared import SCALE

@wp.kernel
def fill(x: wp.array(dtype=Any), value: Any):
    x[wp.tid()] = value * type(value)(SCALE)
";

#[test]
fn options_state_types_values_and_folders() {
    let folder = std::env::temp_dir().join(format!("gbxcule-options-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("shared.py"), "SCALE = 3\n").expect("a file");
    let types = "[wp.array(dtype=wp.float64), wp.float64]";
    let typed = ProgramOptions::new().types("fill", types);
    let program = typed.clone().path(&folder).text("fill.py", GENERIC);
    std::fs::remove_dir_all(&folder).expect("a folder");
    let program = program.expect("a right program");
    let name = program.kernels()[0].to_owned();
    let mut x = [0.0f64; 3];
    let kernel = program.kernel(&name, Device::Cpu).expect("a kernel");
    kernel.launch(&[3]).write(&mut x).value(2.0f64).run().expect("a launch");
    assert_eq!(x, [6.0; 3]);
    let text = GENERIC
        .replace("from shared import SCALE", "import shared")
        .replace("(SCALE)", "(shared.SCALE)");
    assert!(typed.clone().text("fill.py", &text).is_err(), "nothing says what SCALE is");
    let defined = typed.define("shared.SCALE", "4").text("fill.py", &text);
    assert!(defined.expect("a right program").ir().contains('4'));
    let unknown = ProgramOptions::new().types("fall", types).text("text.py", TEXT).err();
    let unknown = unknown.expect("no such kernel").to_string();
    assert!(unknown.contains("`fall`") && unknown.contains("transpose"), "{unknown}");
}

#[test]
fn a_program_is_written_as_each_text() {
    let (program, include) = (program(), format!("#include \"{HEADER_NAME}\""));
    for text in [program.cuda(), program.cpp()] {
        assert!(text.contains(&include) && !text.contains("adj_"), "{text}");
    }
    assert!(HEADER.contains("namespace gbx") && program.ir().contains("transpose"));
    let both = program.with_reverse("transpose").expect("a reverse");
    assert_eq!(both.kernels(), ["transpose", "overwritten", "adj_transpose"]);
    for text in [both.cuda(), both.cpp(), both.ir()] {
        assert!(text.contains("adj_transpose"), "{text}");
    }
    match both.ptx(Arch::new(90)) {
        Ok(ptx) => assert!(String::from_utf8_lossy(&ptx).contains("sm_90")),
        Err(error) => assert!(matches!(error, Error::Run(RunError::NoNvrtc)), "{error}"),
    }
}

#[test]
#[cfg(feature = "swarm")]
fn a_game_brings_its_row() {
    use gbxcule::swarm::{built_in_rom, game};

    assert!(built_in_rom("ALU_LOOP").is_ok() && built_in_rom("AMBER_ROAD").is_ok());
    let message = game("ALU_LOOP").err().expect("no game").to_string();
    assert!(message.contains("PEARL_DRIFT") && message.contains("AMBER_ROAD"), "{message}");
    let played = game("KEEP_OF_KEYS").expect("a game");
    let config = played.config(4).expect("a configuration");
    assert_eq!(config.programs.reward_text().name(), "KEEP_OF_KEYS");
    let mut swarm = played.swarm(4, Device::Cpu).expect("a swarm");
    swarm.reset(3).expect("a reset");
    swarm.step(&[0; 4]).expect("a step");
    // The number at C005 is 1 while a game is played, and 0 on its title.
    for env in 0..4 {
        assert_eq!(swarm.read_memory(env, 0xC005..0xC006).expect("memory"), [1]);
    }
}
