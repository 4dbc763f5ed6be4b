//! Stand-ins for NVIDIA's driver and NVRTC: libraries with the same names and functions that run
//! CUDA text on the host, built from the sources beside this file. Tests run child processes with
//! them, so that all code of the runtime except the machine code runs without a GPU.
//! `docs/testing.md` says what the stand-ins do and what they leave out.

use gbxcule_back_cxx::{HOST_CUDA, HOST_CUDA_NAME};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const SOURCES: [(&str, &str); 6] = [
    ("device.h", include_str!("stand_in/device.h")),
    ("device.cpp", include_str!("stand_in/device.cpp")),
    ("driver.cpp", include_str!("stand_in/driver.cpp")),
    ("module.cpp", include_str!("stand_in/module.cpp")),
    ("image.h", include_str!("stand_in/image.h")),
    ("compiler.cpp", include_str!("stand_in/compiler.cpp")),
];

/// Returns a command that finds the stand-ins in place of the driver and NVRTC, and that uses the
/// cache folder `cache`.
pub fn command(program: &Path, cache: &Path) -> Command {
    let folder = folder();
    let mut search: OsString = folder.into();
    if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
        search.push(":");
        search.push(path);
    }
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", search).env("GBXCULE_NVRTC", folder.join("libnvrtc.so.13"));
    command.env("GBXCULE_CACHE", cache);
    command
}

/// Returns a command that finds the stand-in for the driver and NVIDIA's own NVRTC at a path, and
/// runs the machine code that NVRTC makes for an architecture such as 90.
pub fn sass_command(program: &Path, nvrtc: &Path, arch: u32) -> Command {
    let mut command = command(program, &folder().join("sass_cache"));
    command.env("GBXCULE_NVRTC", nvrtc).env("HOST_GPU_SASS", gpu_sim());
    command.env("HOST_NVDISASM", nvdisasm(nvrtc)).env("HOST_GPU_ARCH", arch.to_string());
    command
}

/// Checks that a child process ran `count` tests, which passed.
pub fn assert_passed(run: &Output, count: usize) {
    let (printed, errors) =
        (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{:?}\n{printed}\n{errors}", run.status);
    assert!(printed.contains(&format!("{count} passed")), "{count} tests must pass:\n{printed}");
}

/// Returns the architectures whose machine code tests run: the architectures in
/// `GBXCULE_ARCHS=sm_90,sm_100`, or all three.
pub fn archs() -> Vec<u32> {
    let named = std::env::var("GBXCULE_ARCHS").unwrap_or_else(|_| "sm_80,sm_90,sm_100".into());
    let arch = |name: &str| name.trim().strip_prefix("sm_").and_then(|it| it.parse().ok());
    let archs = named.split(',').map(|name| arch(name).ok_or(name));
    archs.collect::<Result<_, _>>().unwrap_or_else(|name| panic!("`{name}` is not an architecture"))
}

/// Returns the path of the disassembler, which lies in a wheel beside NVRTC's wheel.
pub fn nvdisasm(nvrtc: &Path) -> PathBuf {
    let mut folders = nvrtc.ancestors().map(|folder| folder.join("bin").join("nvdisasm"));
    let found = folders.find(|path| path.exists());
    found.unwrap_or_else(|| panic!("no nvdisasm beside {}: make nvrtc", nvrtc.display()))
}

/// Returns the path of the simulator's library, which Cargo puts into the folder above the test
/// program's.
fn gpu_sim() -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let folder = test.ancestors().nth(2).expect("a folder of Cargo's");
    let library = folder.join("libgbxcule_gpu_sim.so");
    assert!(library.exists(), "no {}: cargo build -p gbxcule-gpu-sim", library.display());
    library
}

/// Returns the folder with the libraries, which is built once for each content.
pub fn folder() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let texts = SOURCES.iter().map(|(_, text)| *text).chain([HOST_CUDA]);
        // The folder's name is the content's hash by FNV-1a.
        let hash = texts.flat_map(str::bytes).fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        let user = std::env::var_os("USER").unwrap_or_default();
        let name = format!("gbxcule-host-gpu-{}-{hash:016x}", user.to_string_lossy());
        let built = std::env::temp_dir().join(name);
        if !built.join("libcuda.so").exists() {
            build(&built);
        }
        built
    })
}

/// Builds the libraries in another folder and renames it, as other tests may build them at this
/// moment.
fn build(place: &Path) {
    let beside = place.with_extension(std::process::id().to_string());
    std::fs::create_dir_all(&beside).expect("a folder");
    for (name, text) in SOURCES.into_iter().chain([(HOST_CUDA_NAME, HOST_CUDA)]) {
        std::fs::write(beside.join(name), text).expect("a file");
    }
    compile(&beside, &["device.cpp", "driver.cpp", "module.cpp"], "libcuda.so.1");
    compile(&beside, &["compiler.cpp"], "libnvrtc.so.13");
    std::fs::copy(beside.join("libcuda.so.1"), beside.join("libcuda.so")).expect("a file");
    if std::fs::rename(&beside, place).is_err() {
        // Another test was faster.
        _ = std::fs::remove_dir_all(&beside);
    }
    assert!(place.join("libcuda.so").exists(), "{} was not built", place.display());
}

fn compile(folder: &Path, sources: &[&str], library: &str) {
    let compiler = std::env::var_os("CXX").unwrap_or("c++".into());
    let run = Command::new(&compiler)
        .args(["-std=c++17", "-O1", "-shared", "-fPIC", "-pthread", "-o", library])
        .args(sources)
        .arg("-ldl")
        .current_dir(folder)
        .output();
    let run =
        run.unwrap_or_else(|error| panic!("this needs a C++ compiler ({compiler:?}): {error}"));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
