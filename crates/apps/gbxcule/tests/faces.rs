//! The library as a program in Rust uses it: messages, shapes, reverses, refused launches.

use gbxcule::{Device, Error, Program};

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
