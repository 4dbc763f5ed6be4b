//! The patterns of `examples/conformance/gradients/first.py`, read by the front end.

use crate::arbitrary::Differentiable;
use gbxcule_front_warp::Program;
use gbxcule_ir::source::SourceMap;

/// Text of the file with the patterns.
pub const TEXT: &str = include_str!("../../../../examples/conformance/gradients/first.py");

/// A kernel of the patterns, with the inputs on which it is tested.
pub struct Pattern {
    /// Title in the document.
    pub title: String,
    /// Name of the kernel.
    pub name: String,
    /// The kernel with its launch.
    pub case: Differentiable,
}

/// Values of `x` and `o` before the launch.
const ARRAYS: [&[f64]; 2] = [&[0.7, -1.3, 1.9, 0.4, -0.6, 1.1], &[0.3, -0.2, 0.9, 0.5]];

/// Returns all patterns, in the order of the text.
pub fn patterns() -> Vec<Pattern> {
    let mut sources = SourceMap::new();
    let id = sources.add("patterns.py", TEXT);
    let program = Program::parse(&sources, id).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let reader = program.reader();
    let titles = TEXT.split("@wp.kernel").skip(1).map(|kernel| {
        let title = kernel.split("\"\"\"").nth(1);
        title.expect("a kernel opens with its title").to_owned()
    });
    let kernels = reader.kernels().into_iter().zip(titles);
    let patterns = kernels.map(|(kernel, title)| {
        let lowered = reader.lower(kernel.position, "patterns");
        let module = lowered.unwrap_or_else(|faults| panic!("{}: {faults:#?}", kernel.name));
        let id = module.find(&kernel.name).expect("it was lowered");
        let arrays = ARRAYS.map(<[f64]>::to_vec).into();
        let case = Differentiable { module, kernel: id, threads: 2, arrays, numbers: vec![5, 3] };
        Pattern { title, name: kernel.name, case }
    });
    patterns.collect()
}
