//! Rows launched on a GPU compute their stored results. The test `own_cuda` of `grading` runs the
//! CUDA texts of rows on the simulator.

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
