//! Checks which files hold unsafe code. The workspace denies it (`Cargo.toml`), so a file that
//! holds some says why in its attribute, and stands in this list.

use super::files::{files_below, lines_of, root};

const FILES: [&str; 29] = [
    // Objects of Python lend memory and streams.
    "crates/apps/python/src/dlpack.rs",
    "crates/apps/python/src/kernel/argument.rs",
    "crates/apps/python/src/rollout.rs",
    // Code that was just made is called, and calls back.
    "crates/compiler/runtime/src/code.rs",
    "crates/compiler/runtime/src/compile_cache.rs",
    "crates/compiler/runtime/src/host_function.rs",
    "crates/compiler/runtime/src/kernel/direct.rs",
    "crates/compiler/runtime/src/kernel/host.rs",
    "crates/swarm/recompiler/src/code.rs",
    "crates/swarm/recompiler/src/host_call.rs",
    // NVIDIA's driver and NVRTC, and memory that they and others share.
    "crates/compiler/runtime/src/cuda/context.rs",
    "crates/compiler/runtime/src/cuda/driver.rs",
    "crates/compiler/runtime/src/cuda/launch.rs",
    "crates/compiler/runtime/src/cuda/memory.rs",
    "crates/compiler/runtime/src/cuda/module.rs",
    "crates/compiler/runtime/src/cuda/pinned.rs",
    "crates/compiler/runtime/src/cuda/queue.rs",
    "crates/compiler/runtime/src/external_memory.rs",
    "crates/compiler/runtime/src/nvrtc/library.rs",
    // Headers of the files that this process has loaded.
    "crates/compiler/runtime/src/build_id.rs",
    // Tests of calls without checks, and of another library's memory.
    "crates/compiler/runtime/tests/cuda/body.rs",
    "crates/compiler/runtime/tests/cuda/failure.rs",
    "crates/compiler/runtime/tests/warp/native.rs",
    // The C library libmgba.
    "crates/lab/lab/src/backend/mgba.rs",
    // A child confines itself between fork and exec.
    "crates/support/sandbox/src/confine.rs",
    "crates/support/sandbox/src/privilege.rs",
    // The step kernel leaves out checks of indices.
    "crates/swarm/swarm/src/device/swarm.rs",
    // C calls the simulator, whose kernels use the host's addresses.
    "crates/testing/gpu-sim/src/sass/entry.rs",
    "crates/testing/gpu-sim/src/sass/op/memory.rs",
];

#[test]
fn unsafe_code_is_in_the_listed_files_alone_and_each_says_why() {
    let allows = |line: &str| line.contains("allow(unsafe_code") && line.trim().starts_with('#');
    let mut holds = Vec::new();
    for path in ["crates", "games"].iter().flat_map(|part| files_below(&root().join(part), &["rs"]))
    {
        let lines = lines_of(&path);
        let attributes: Vec<_> = lines.iter().filter(|(_, line)| allows(line)).collect();
        for (number, line) in &attributes {
            assert!(line.contains("reason = "), "{}:{number} has no reason", path.display());
        }
        if !attributes.is_empty() {
            holds.push(path.strip_prefix(root()).expect("below the root").display().to_string());
        }
    }
    let mut listed = FILES.to_vec();
    listed.sort_unstable();
    holds.sort();
    assert_eq!(holds, listed);
}
