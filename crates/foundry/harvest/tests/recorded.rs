//! Rows on inputs that programs had.

use gbxcule_front_warp::ImportOptions;
use gbxcule_harvest::{FoundKernels, Harvested, Recordings};
use gbxcule_rows::row::{Mode, Plan, Row, Texts};
use gbxcule_rows::row_array::{ArrayKind, RowArray, arrays};
use gbxcule_rows::validate::{Checks, has_failed, validate};
use serde_json::{Value, json};
use std::path::Path;

const PLAN: Plan =
    Plan { seed: 1, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 100 };

/// No drawn index is above 5000.
const CODE: &str = "import warp as wp

@wp.kernel
def pick(at: wp.array(dtype=int), x: wp.array(dtype=wp.vec2), gain: float, y: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    y[i] = gain * x[at[i] - 5000]

@wp.kernel
def last(at: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[x.shape[0] + 5000 - at[i]]

@wp.kernel
def far(at: wp.array(dtype=int), x: wp.array(dtype=float)):
    i = wp.tid()
    x[at[i] - 5000] = 1.0

@wp.kernel
def double(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = 2.0 * x[i]
";

fn line_of(name: &str) -> usize {
    CODE.lines().position(|line| line.contains(&format!("def {name}("))).expect("a kernel") + 1
}

/// Writes a launch as the package does.
fn record(folder: &Path, code: &Path, kernel: &str, rest: &Value) {
    let mut line = json!({
        "file": code, "line": line_of(kernel), "kernel": kernel,
        "program": code.with_file_name("run.py"), "launch": 2,
    });
    let whole = line.as_object_mut().expect("an object");
    whole.extend(rest.as_object().expect("an object").clone());
    std::fs::write(folder.join(format!("run.{kernel}.jsonl")), format!("{line}\n"))
        .expect("a file");
}

fn harvested(folder: &Path, inputs: &Path, is_first: bool) -> Harvested {
    let options = ImportOptions::default();
    let recordings = Recordings::below(inputs, is_first).expect("recordings");
    let found = FoundKernels::below(folder, "MIT", &options, recordings).expect("kernels");
    let outcomes = found.outcomes(0..found.count(), PLAN, 1, &|| ()).expect("outcomes");
    found.harvested(outcomes).expect("rows")
}

fn floats(array: &RowArray) -> Vec<f32> {
    array.bytes.chunks(4).map(|it| f32::from_le_bytes(it.try_into().expect("four"))).collect()
}

#[test]
fn recorded_launches_give_rows_where_drawn_inputs_fault_and_other_rows_stay() {
    let scratch = tempfile::tempdir().expect("a folder");
    let root = scratch.path().canonicalize().expect("a path");
    let (code, inputs) = (root.join("code"), root.join("inputs"));
    for folder in [&code, &inputs] {
        std::fs::create_dir(folder).expect("a folder");
    }
    let file = code.join("code.py");
    std::fs::write(&file, CODE).expect("a file");
    let at: Vec<usize> = (0..1000).map(|i| 5000 + (i * 7) % 300).collect();
    let x: Vec<f32> = (0..2000).map(|i| i as f32 / 8.0).collect();
    let argument = |name: &str, shape: Value, values: Value| json!({"name": name, "shape": shape, "values": values});
    let zeros = |count: usize| json!(vec![0.0; count]);
    let pick = json!({"dims": [1000], "inputs": [
        argument("at", json!([1000]), json!(at)), argument("x", json!([1000]), json!(x)),
        argument("gain", json!([]), json!([0.1])), argument("y", json!([1000]), zeros(2000)),
    ]});
    record(&inputs, &file, "pick", &pick);
    let last = json!({"dims": [2], "inputs": [
        argument("at", json!([400]), json!(vec![5001; 400])), argument("x", json!([500]), json!(&x[..500])),
        argument("y", json!([400]), zeros(400)),
    ]});
    record(&inputs, &file, "last", &last);
    record(&inputs, &file, "far", &json!({"refused": "argument `x` is an indexed array"}));
    let of_double =
        json!({"dims": [3], "inputs": [argument("x", json!([3]), json!([1.5, 2.5, -4.0]))]});
    record(&inputs, &file, "double", &of_double);

    let Harvested { rows, harvest, refused } = harvested(&code, &inputs, false);
    let names: Vec<&str> = rows.iter().map(|row| &*row.kernel).collect();
    assert_eq!((names, harvest.recorded), (vec!["pick", "last", "double"], 2), "{refused:?}");
    assert_eq!(refused.len(), 1);
    assert!(refused[0].message.as_ref().is_some_and(|it| it.contains("`x`")), "{refused:?}");

    let row = &rows[0];
    assert_eq!((&*row.launch_dims, row.input_seed), (&[250][..], 0));
    let given = arrays(row, ArrayKind::Inputs).expect("inputs");
    assert_eq!(
        given.iter().map(|it| it.shape.clone()).collect::<Vec<_>>(),
        [vec![256], vec![512], vec![], vec![256]]
    );
    assert_eq!(floats(&given[1]), &x[..1024]);
    let outputs = arrays(row, ArrayKind::Outputs).expect("outputs");
    let wanted: Vec<f32> =
        at[..250].iter().flat_map(|at| [0, 1].map(|k| 0.1 * x[2 * (at - 5000) + k])).collect();
    assert_eq!(floats(&outputs[0])[..500], wanted);
    let origin: Value =
        serde_json::from_str(row.origin_json.as_deref().expect("an origin")).expect("JSON");
    assert_eq!(origin["recorded"], json!({"program": "run.py", "launch": 2}));

    // The kernel asks for the extent of `x`, which stays whole.
    let given = arrays(&rows[1], ArrayKind::Inputs).expect("inputs");
    assert_eq!(given.iter().map(|it| it.shape[0]).collect::<Vec<_>>(), [2, 500, 2]);
    let drawn: Value =
        serde_json::from_str(rows[2].origin_json.as_deref().expect("an origin")).expect("JSON");
    assert_eq!(drawn.get("recorded"), None);

    let all = harvested(&code, &inputs, true);
    assert_eq!(all.harvest.recorded, 3);
    let doubled = arrays(&all.rows[2], ArrayKind::Outputs).expect("outputs");
    assert_eq!(floats(&doubled[0]), [3.0, 5.0, -8.0]);
    let of_both: Vec<Row> = rows.into_iter().chain(all.rows).collect();
    for (row, checks) in of_both.iter().zip(validate(&of_both, &Checks::default()).expect("checks"))
    {
        assert!(!has_failed(&checks), "{}\n{checks:?}", row.source);
    }
}

#[test]
fn a_folder_without_recorded_launches_is_refused_with_what_writes_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let message =
        |folder: &Path| Recordings::below(folder, false).err().expect("an error").to_string();
    assert!(message(folder.path()).contains("python -m gbxcule.warp --record"));
    std::fs::write(folder.path().join("a.jsonl"), "{}\n").expect("a file");
    assert!(message(folder.path()).contains("a.jsonl"), "{}", message(folder.path()));
}
