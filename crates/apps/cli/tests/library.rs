//! `gbxcule build`: programs in C, C++ and Rust that link what it makes.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Output of the example's programs, computed by hand: of five cells one is 10 and gives a quarter
/// to each side; the loss is the sum of squares of the distances from 1.
const HEAT: &str = "loss 22.5, gradient -0.75 3 5.5 3 -0.75\n";

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let says = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{says}");
    output
}

fn build(file: &Path, out: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gbxcule"))
        .arg("build")
        .arg(file)
        .arg("--out")
        .arg(out)
        .args(options)
        // This test makes no machine code for GPUs.
        .env("GBXCULE_NVRTC", "/nowhere")
        .output()
        .expect("the command starts")
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/library")
}

/// Compiles a program in C or C++ beside a library and returns what it prints.
fn linked(folder: &Path, source: &Path, libraries: &[&str]) -> String {
    let is_c = source.extension().is_some_and(|extension| extension == "c");
    let (compiler, standard) = if is_c { ("cc", "-std=c99") } else { ("c++", "-std=c++17") };
    let program = folder.join(format!("{compiler}-program"));
    run(Command::new(compiler)
        .args([standard, "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(folder)
        .arg(source)
        .args(libraries.iter().map(|library| folder.join(library)))
        .args(["-lstdc++", "-lm", "-o"])
        .arg(&program));
    let output = run(Command::new(&program).env("LD_LIBRARY_PATH", folder));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_examples_in_c_and_cxx_print_the_loss_and_its_gradient() {
    let folder = tempfile::tempdir().expect("a folder");
    let built = build(&examples().join("heat.py"), folder.path(), &[]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let path = folder.path();
    assert_eq!(linked(path, &examples().join("main.c"), &["libheat.a"]), HEAT);
    assert_eq!(linked(path, &examples().join("main.cpp"), &["libheat.so"]), HEAT);
    let manifest = std::fs::read(path.join("heat.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(manifest["kernels"][0]["reverse"], "heat_adj_diffuse");
    assert_eq!(manifest["kernels"][1]["parameters"][2]["written"], true);
}

#[test]
fn the_page_shows_lines_of_the_example_in_c() {
    let page = include_str!("../../../../docs/library.md");
    let lines = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let shown = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next());
    let shown = lines(shown.expect("a block in C").trim_end());
    assert!(shown.lines().count() >= 10, "{shown}");
    let program = std::fs::read_to_string(examples().join("main.c")).expect("the example");
    assert!(lines(&program).contains(&shown), "docs/library.md differs from main.c:\n{shown}");
}

#[test]
fn the_example_in_rust_prints_the_loss_and_its_gradient() {
    let folder = tempfile::tempdir().expect("a folder");
    let command = Path::new(env!("CARGO_BIN_EXE_gbxcule")).parent().expect("a folder").to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(std::iter::once(command).chain(env::split_paths(&path)));
    let output = run(Command::new(env!("CARGO"))
        .args(["run", "--offline", "--quiet"])
        .current_dir(examples().join("rust"))
        .env("PATH", path.expect("folders"))
        .env("CARGO_TARGET_DIR", folder.path())
        .env("GBXCULE_NVRTC", "/nowhere"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), HEAT);
}

/// Kernels with parameters of all types, in two files that define different structs under one name.
const SORTS: [&str; 2] = [
    "import warp as wp

@wp.struct
class Part:
    m: wp.float64
    v: wp.vec3
    tag: wp.int8

@wp.kernel
def gather(b: bool, i: wp.int8, w: wp.uint64, h: wp.float16, v: wp.vec3, m: wp.mat22, q: wp.quat, t: wp.transform,
           p: Part, of: wp.array(dtype=Part), out: wp.array(dtype=wp.float64)):
    at = wp.tid()
    total = wp.float64(i) + wp.float64(w) + wp.float64(wp.float32(h)) + wp.float64(v[2] + m[1, 0] + q[3])
    total += wp.float64(wp.transform_get_translation(t)[1]) + p.m + wp.float64(p.tag) + of[at].m
    if b:
        total += wp.float64(of[at].v[1])
    out[at] = total
",
    "import warp as wp

@wp.struct
class Part:
    tag: wp.int8

@wp.kernel
def tags(of: wp.array(dtype=Part), out: wp.array(dtype=int)):
    i = wp.tid()
    assert of[i].tag > wp.int8(0), \"a tag\"
    out[i] = int(of[i].tag)
",
];

const CALLS: &str = r#"#include "one.h"
#include "two.h"
#include <stdio.h>

int main(void)
{
    one_Part part = {100, {{0, 0, 0}}, 7}, parts[2] = {{1000, {{0, 0.25f, 0}}, 0}, {2000, {{0, 0.5f, 0}}, 0}};
    gbx_half half = {0x3800}; // 0.5
    gbx_vec3_f32 v = {{0, 0, 1}};
    gbx_mat2x2_f32 m = {{{0, 0}, {2, 0}}};
    gbx_quat_f32 q = {{0, 0, 0, 3}};
    gbx_transform_f32 t = {{0, 4, 0, 0, 0, 0, 1}};
    double out[2];
    gbx_fault fault = {0};
    gbx_grid grid = gbx_grid_of(1, 2, 1, 1, 1);
    gbx_array of = gbx_array_of(parts, NULL, sizeof *parts, 1, 2, 1, 1, 1);
    gbx_array sums = gbx_array_of(out, NULL, sizeof *out, 1, 2, 1, 1, 1);
    int kind = one_gather(&grid, true, -1, 50, half, v, m, q, t, part, of, sums, &fault);
    printf("%d %g %g\n", kind, out[0], out[1]);

    two_Part tags[2] = {{5}, {0}};
    int numbers[2];
    gbx_array tag = gbx_array_of(tags, NULL, sizeof *tags, 1, 2, 1, 1, 1);
    gbx_array to = gbx_array_of(numbers, NULL, sizeof *numbers, 1, 1, 1, 1, 1);
    char text[200];
    const gbx_array matrix = gbx_array_of(numbers, NULL, sizeof *numbers, 2, 1, 1, 1, 1);
    const gbx_grid half_grid = {0, 1, {2, 1, 1, 1}, 1, 0}, beyond = {0, 3, {2, 1, 1, 1}, 1, 0};
    two_tags(&half_grid, tag, to, &fault);
    printf("%d\n", numbers[0]);
    tags[1].tag = 6;
    two_tags(&grid, tag, to, &fault), two_describe(&fault, text, sizeof text), puts(text);
    tags[1].tag = 0;
    two_tags(&grid, tag, to, &fault), two_describe(&fault, text, sizeof text), puts(text);
    two_tags(&grid, tag, matrix, &fault), two_describe(&fault, text, sizeof text), puts(text);
    two_tags(&beyond, tag, to, &fault), two_describe(&fault, text, sizeof text), puts(text);
}
"#;

#[test]
fn arguments_of_all_sorts_arrive_and_faults_say_what_was_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    for (text, name) in SORTS.into_iter().zip(["one", "two"]) {
        let file = path.join(format!("{name}.py"));
        std::fs::write(&file, text).expect("a file");
        let built = build(&file, path, &["--no-grad"]);
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }
    let source = path.join("main.c");
    std::fs::write(&source, CALLS).expect("a file");
    let printed = linked(path, &source, &["libone.a", "libtwo.a"]);
    let two = path.join("two.py");
    let lines: Vec<&str> = printed.lines().collect();
    // -1 + 50 + 0.5 + (1 + 2 + 3) + 4 + 100 + 7, and a part's mass and speed.
    assert_eq!(lines[..2], ["0 1166.75 2167", "5"]);
    assert_eq!(lines[2], format!("{}:11: index 1 where there are 1 elements", two.display()));
    assert_eq!(lines[3], format!("{}:10: assertion failed: a tag", two.display()));
    assert!(lines[4].starts_with("argument 2 does not fit"), "{}", lines[4]);
    assert!(lines[5].starts_with("the grid does not fit"), "{}", lines[5]);
}

#[test]
fn structs_of_one_name_have_names_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let part =
        |field: &str| format!("import warp as wp\n\n@wp.struct\nclass Part:\n    {field}: int\n");
    std::fs::write(path.join("other.py"), part("far")).expect("a file");
    let text = part("near")
        + "\nimport other\n\n@wp.kernel\ndef both(one: Part, two: other.Part, out: wp.array(dtype=int)):\n    \
           out[0] = one.near - two.far\n";
    std::fs::write(path.join("pair.py"), text).expect("a file");
    let built = build(&path.join("pair.py"), path, &["--no-grad"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let source = path.join("main.c");
    let text = "#include \"pair.h\"\n#include <stdio.h>\nint main(void)\n{\n    int out;\n    gbx_fault fault;\n    \
        gbx_array to = gbx_array_of(&out, NULL, 4, 1, 1, 1, 1, 1);\n    gbx_grid grid = gbx_grid_of(1, 1, 1, 1, 1);\n    \
        pair_both(&grid, (pair_Part){.near = 7}, (pair_Part_1){.far = 4}, to, &fault);\n    printf(\"%d\\n\", out);\n}\n";
    std::fs::write(&source, text).expect("a file");
    assert_eq!(linked(path, &source, &["libpair.a"]), "3\n");
}

#[test]
fn a_kernel_that_is_called_describe_leaves_the_library_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let text = "import warp as wp\n\n@wp.kernel\ndef describe(out: wp.array(dtype=int)):\n    \
        out[wp.tid()] = 1\n";
    std::fs::write(path.join("k.py"), text).expect("a file");
    let out = path.join("made");
    let built = build(&path.join("k.py"), &out, &["--no-grad"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let says = String::from_utf8_lossy(&built.stdout);
    for file in std::fs::read_dir(&out).expect("a folder").map(|file| file.expect("a file")) {
        let name = file.file_name().into_string().expect("text");
        assert!(says.contains(&name), "{name}: {says}");
        std::fs::rename(file.path(), path.join(name)).expect("a move");
    }
    let source = path.join("main.c");
    let text = "#include \"k.h\"\n#include <stdio.h>\nint main(void)\n{\n    int out = 0;\n    char text[99];\n    \
        gbx_array to = gbx_array_of(&out, NULL, 4, 1, 1, 1, 1, 1), huge = gbx_array_of(&out, NULL, 4, 2, 1, 1 << 30, 1, 1);\n    \
        gbx_grid grid = gbx_grid_of(1, 1, 1, 1, 1);\n    gbx_fault fault = {0};\n    \
        int kind = k_describe_1(&grid, to, &fault);\n    k_describe(&fault, text, sizeof text);\n    \
        printf(\"%d %d %s %d\\n\", kind, out, text, huge.ndim);\n}\n";
    std::fs::write(&source, text).expect("a file");
    assert_eq!(linked(path, &source, &["libk.a"]), "0 1 no fault 0\n");
}

#[test]
fn a_reverse_refuses_arrays_that_share_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let built = build(&examples().join("heat.py"), path, &[]);
    assert!(built.status.success());
    let source = path.join("main.c");
    let text = "#include \"heat.h\"\n#include <stdio.h>\nint main(void)\n{\n    float x[4] = {0};\n    \
        gbx_array one = gbx_array_of(x, NULL, 4, 1, 3, 1, 1, 1), other = gbx_array_of(x + 2, NULL, 4, 1, 2, 1, 1, 1);\n    \
        gbx_array apart = gbx_array_of(x + 3, NULL, 4, 1, 1, 1, 1, 1);\n    \
        gbx_grid grid = gbx_grid_of(1, 3, 1, 1, 1);\n    gbx_fault fault;\n    \
        printf(\"%d %d\\n\", heat_adj_distance(&grid, one, 1, other, &fault), heat_adj_distance(&grid, one, 1, apart, &fault));\n}\n";
    std::fs::write(&source, text).expect("a file");
    assert_eq!(linked(path, &source, &["libheat.a"]), "65 0\n");
}

#[test]
fn kernels_that_cannot_be_built_are_named_and_leave_no_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let heat = examples().join("heat.py");
    let refusals: [(&[&str], &str); 3] = [
        (&["--arch", "sm_90"], "/nowhere"),
        (&["--name", "3d"], "a library's name is one that C has for functions"),
        (&["--cpu", "z80"], "z80"),
    ];
    for (options, says) in refusals {
        let output = build(&heat, &out, options);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(says), "{text}");
        let files = std::fs::read_dir(&out).map_or(0, Iterator::count);
        assert_eq!(files, 0, "{options:?}");
    }
}
