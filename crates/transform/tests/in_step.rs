//! Threads of a block that wait for each other in a loop: a thread alone does what it did before.

use gbxcule_interp as interp;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Arg, Builder, FunctionId, Module, Param, Scalar, Type, print};
use gbxcule_transform::pass::{self, in_step};

/// A machine whose frame is a loop of work and services.
const FRAME: &str = "pub struct S { left: u32, sum: u32 }
    impl S {
        #[inline(never)] pub fn work(&mut self) { self.sum = self.sum * 3 + self.left; }
        #[inline(never)] pub fn serve(&mut self) { self.left -= 1; self.sum ^= 5; }
    }
    pub fn run(s: &mut S, from: u32) -> u32 {
        s.left = from;
        while s.left != 0 { if s.left & 1 == 1 { s.work(); } s.serve(); }
        s.sum
    }";

fn lowered(text: &str) -> (Module, FunctionId) {
    let mut sources = SourceMap::new();
    let lowered = gbxcule_subset::lower(&[("src/run.rs", text)], &["run"], &mut sources);
    let module = lowered.expect("the subset");
    let run = module.find("run").expect("lowered");
    (module, run)
}

/// Results of frames of several lengths.
fn results(mut module: Module, run: FunctionId) -> Vec<u8> {
    let machine = module.functions[run].params[0].ty;
    let words = module.types.array(Type::U32, 1);
    let kernel = module.declare_kernel("kernel", vec![Param::value("out", words)]);
    let mut b = Builder::new(&mut module, kernel);
    let local = b.local("machine", machine);
    let machine = b.local_place(local);
    for at in 0..9 {
        let at = b.i32(at);
        let length = b.convert(at, Scalar::U32);
        let result = b.call(run, &[Arg::Place(machine), Arg::Value(length)]);
        let out = b.param_place(0);
        let out = b.element(out, &[at]);
        b.store(out, result);
    }
    b.finish();
    let module = pass::rechecked(module);
    let mut interpreter = interp::Interpreter::new(&module);
    let out = interpreter.memory.add(vec![0; 36]);
    let args = [interp::Array::dense(out, 4, &[9]).into()];
    interpreter.launch(kernel, &[1], &args).expect("no fault");
    interpreter.memory.bytes(out).to_vec()
}

#[test]
fn a_thread_alone_does_not_notice_that_it_waits() {
    let (module, run) = lowered(FRAME);
    let plain = results(module.clone(), run);
    let mut module = module;
    assert!(in_step::run(&mut module, run));
    let text = print::function(&module, &module.functions[run]);
    assert_eq!(
        text.matches("any_in_block").count(),
        2,
        "at the head and before the call\n{text}"
    );
    assert_eq!(results(module, run), plain);
    assert!(plain.chunks(4).any(|word| word != [0; 4]));
}

#[test]
fn loops_that_leave_or_end_otherwise_stay_as_they_are() {
    for body in [
        "while s.left != 0 { s.serve(); s.sum += 1; }",
        "while s.left != 0 { if s.sum == 3 { break; } s.serve(); }",
        "while s.left != 0 { if s.sum == 3 { return 1; } s.serve(); }",
        "while s.left != 0 { s.serve(); } while s.sum > 9 { s.sum -= 9; s.work(); }",
        "s.serve();",
    ] {
        let text = FRAME
            .replace("while s.left != 0 { if s.left & 1 == 1 { s.work(); } s.serve(); }", body);
        let (mut module, run) = lowered(&text);
        let before = print::module(&module);
        assert!(!in_step::run(&mut module, run), "{body}");
        assert_eq!(print::module(&module), before, "{body}");
    }
}
