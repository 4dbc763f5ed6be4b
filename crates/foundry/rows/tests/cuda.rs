//! Rows launched on a CUDA device compute their stored results: without a GPU on the stand-in for
//! the driver, with the machine code of NVIDIA's own NVRTC (`make gpu-sim`), and on a GPU.

use gbxcule_runtime::nvrtc::Nvrtc;
use gbxcule_testkit::stand_in;

#[test]
#[ignore = "needs NVRTC and gpu-sim: run by `make gpu-sim`"]
fn rows_compute_what_they_hold_on_sass() {
    let nvrtc = Nvrtc::find().unwrap_or_else(|error| panic!("{error}"));
    let program = std::env::current_exe().expect("this program");
    let mut command = stand_in::sass_command(&program, nvrtc.path(), 90);
    command.args([
        "needs_cuda::rows_compute_what_they_hold",
        "--exact",
        "--ignored",
        "--nocapture",
    ]);
    let run = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}\n{}", String::from_utf8_lossy(&run.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

mod needs_cuda {
    use gbxcule_rows::batch::read;
    use gbxcule_rows::validate::{Checks, validate};
    use gbxcule_rows::verdict::Verdict;
    use gbxcule_runtime::Device;
    use std::path::Path;

    /// Number of rows, spread over the whole sample.
    const ROWS: usize = 12;

    #[test]
    #[ignore = "needs CUDA"]
    fn rows_compute_what_they_hold() {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/dataset");
        let rows = read(&sample).expect("rows");
        let rows: Vec<_> = rows.iter().step_by(rows.len() / ROWS).take(ROWS).cloned().collect();
        assert_eq!(rows.len(), ROWS);
        let wanted = Checks { gpu: Some(Device::Cuda(0)), ..Checks::default() };
        let verdicts = validate(&rows, &wanted).expect("a device");
        let mut backward = 0;
        for (row, checks) in rows.iter().zip(&verdicts) {
            let mut ran = checks.iter().filter_map(|check| check.as_ref().ok());
            let gpu = ran.find(|check| check.check == "gpu").expect("a check");
            assert_eq!(gpu.verdict, Verdict::Pass, "row {}: {gpu:?}\n{}", row.id, row.source);
            backward += usize::from(row.gradients_json.is_some());
        }
        assert!(backward > 0, "gradients are launched too");
    }
}
