//! `gbxcule build` with NVIDIA's compiler.

use std::process::Command;

#[test]
#[ignore = "needs NVRTC"]
fn a_library_has_ptx_and_machine_code_of_each_kernel_and_reverse() {
    let folder = tempfile::tempdir().expect("a folder");
    let built = Command::new(env!("CARGO_BIN_EXE_gbxcule"))
        .args(["build", "../../../examples/library/heat.py", "--arch", "sm_90", "--arch", "sm_80"])
        .arg("--out")
        .arg(folder.path())
        .output()
        .expect("the command starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("a file");
    let ptx = String::from_utf8(read("heat.ptx")).expect("text");
    assert!(ptx.contains(".target sm_80"), "PTX is for the least architecture");
    let manifest: serde_json::Value =
        serde_json::from_slice(&read("heat.json")).expect("a manifest");
    for kernel in manifest["kernels"].as_array().expect("kernels") {
        let symbol = kernel["cuda_symbol"].as_str().expect("a name");
        for entry in [symbol.to_owned(), format!("adj_{symbol}")] {
            assert!(ptx.contains(&format!(".entry {entry}(")), "{entry}");
        }
    }
    for cubin in ["heat.sm_80.cubin", "heat.sm_90.cubin"] {
        assert!(read(cubin).starts_with(b"\x7fELF"), "{cubin}");
    }
}
