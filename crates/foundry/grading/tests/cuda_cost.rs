//! Costs of right answers in CUDA beside that of our own text, by executed machine code.

use gbxcule_gpu_check::cost::Cost;
use gbxcule_grading::answer::Answer;
use gbxcule_grading::task::Task;
use gbxcule_grading::{Costs, Grade, GradeOptions, Grader, Judged, score};
use gbxcule_grammar::input::ArgumentInput;
use gbxcule_rows::row::Row;
use std::collections::BTreeMap;
use std::path::Path;

const SOURCE: &str = "import warp as wp\n\n\n@wp.kernel\n\
    def add(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n    \
    i = wp.tid()\n    y[i] = x[i] + 2.0\n";

fn row() -> Row {
    let named = |name: &str, given: ArgumentInput| ArgumentInput { name: name.into(), ..given };
    let inputs = [
        named(
            "x",
            ArgumentInput { low: -1.0, high: 1.0, ..ArgumentInput::integers(vec![40], 0, 0) },
        ),
        named("y", ArgumentInput { written: true, ..ArgumentInput::zeros(vec![40]) }),
    ];
    Row {
        id: 1,
        source: SOURCE.into(),
        kernel: "add".into(),
        launch_dims: vec![40],
        inputs_json: serde_json::to_string(&inputs).expect("inputs"),
        ..Row::default()
    }
}

/// Verdicts on kernels with these bodies.
fn judged(bodies: &[&str]) -> Vec<Judged> {
    let head = "extern \"C\" __global__ void add(int dim0, const float* x, int x_dim0, float* y, int y_dim0) {\n\
                int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
    let answer = |body: &&str| Answer::new(1, Task::PythonToCuda, format!("{head}{body}\n}}\n"), 1);
    let answers: Vec<Answer> = bodies.iter().map(answer).collect();
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cost");
    std::fs::create_dir_all(&work).expect("a folder");
    let limits = GradeOptions::LIMITS;
    let options = GradeOptions { seed: 5, work, workers: 2, limits, cuda_on_host: false };
    let grader = Grader::new(BTreeMap::from([(1, row())]), options);
    let judged = grader.judge(&answers, &|_, _| Ok(())).expect("it grades");
    judged.iter().for_each(|it| eprintln!("{it:?}"));
    assert!(judged.iter().all(|it| it.grade == Grade::Right), "{judged:?}");
    judged
}

fn costs(judged: &Judged) -> Costs {
    judged.costs.expect("a right answer has costs")
}

#[test]
#[ignore = "needs NVRTC and nvdisasm: run by `make corpus-share`"]
fn idle_steps_are_right_and_slow_and_needless_sectors_cost() {
    let [plain, idle, scattered] = &judged(&[
        "if (i < dim0) y[i] = x[i] + 2.0f;",
        "if (i == 0) { volatile int idle = 0; for (int k = 0; k < 1000000; k++) idle = k; }\n\
         if (i < dim0) y[i] = x[i] + 2.0f;",
        // First every second element, then the elements between them.
        "int half = (dim0 + 1) / 2, at = i < half ? 2 * i : 2 * (i - half) + 1;\n\
         if (i < dim0) y[at] = x[at] + 2.0f;",
    ])[..] else {
        panic!("three verdicts")
    };
    let speed = |it: &Judged| costs(it).speed().expect("our own text has a cost");
    let of = |it: &Judged| -> Cost { costs(it).answer };
    // Our own text also reads the extents of arrays.
    assert!((1.0..8.0).contains(&speed(plain)), "{}", speed(plain));
    assert_eq!(score::note(&costs(plain)), None);
    assert!(of(idle).is_whole && of(idle).issues > 1_000_000);
    let note = score::note(&costs(idle)).expect("it is slow");
    assert!(note.starts_with("right and slow: "), "{note}");
    assert!(10 * of(scattered).sectors > 19 * of(plain).sectors, "{:?}", of(scattered));
    assert!(of(scattered).cycles() > of(plain).cycles());
    assert!(of(plain).occupancy > 0.4 && of(plain).lanes > 0.9, "{:?}", of(plain));
}
