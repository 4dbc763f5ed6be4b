//! Passes keep what programs mean: the interpreter finds the same memory before and after.

use gbxcule_kernel::arbitrary::{self, Program};
use gbxcule_kernel::check::Valid;
use gbxcule_kernel::ir::{Inline, Module, StmtKind, Type, print, walk};
use gbxcule_kernel::pass::{self, dce, exit, fold, inline};

fn keeps(name: &str, run: impl Fn(Valid<Module>) -> Valid<Module>) {
    for seed in 0..300 {
        let before = arbitrary::program(seed);
        let expected = before.interpret().unwrap_or_else(|failure| panic!("{failure}"));
        let after = Program { module: run(before.module.clone()), ..before.clone() };
        let found =
            after.interpret().unwrap_or_else(|failure| panic!("{name}, seed {seed}: {failure}"));
        if let Some(difference) = before.difference(&expected, &found, 0) {
            panic!("{name}, seed {seed}: {difference}\n{}", print::module(&after.module));
        }
    }
}

#[test]
fn folding_keeps_meaning() {
    keeps("fold", |module| {
        let mut module = module.into_inner();
        fold::run(&mut module);
        pass::rechecked(module)
    });
}

#[test]
fn dropping_dead_code_keeps_meaning() {
    keeps("dce", |module| pass::rechecked(dce::run(module)));
}

#[test]
fn a_single_exit_keeps_meaning() {
    keeps("exit", |module| {
        let mut module = module.into_inner();
        exit::run(&mut module);
        let module = pass::rechecked(module);
        for (_, function) in module.functions.iter() {
            let tuple =
                module.types.layout(function.result).is_none() && function.result != Type::UNIT;
            assert!(
                tuple || exit::is_single(&function.body),
                "{}",
                print::function(&module, function)
            );
        }
        module
    });
}

#[test]
fn inlining_everything_keeps_meaning() {
    keeps("inline", |module| {
        let mut module = module.into_inner();
        exit::run(&mut module);
        for (_, function) in module.functions.iter_mut() {
            function.inline = Inline::Always;
        }
        pass::rechecked(inline::run(pass::rechecked(module)))
    });
}

#[test]
fn all_passes_together_keep_meaning_and_leave_less() {
    let statements = |module: &Module| {
        let mut count = 0;
        for (_, function) in module.functions.iter() {
            walk::walk(&function.body, function.body.root, |step| {
                if let walk::Step::Stmt(stmt) = step {
                    count += usize::from(!matches!(stmt.kind, StmtKind::Break));
                }
            });
        }
        count
    };
    keeps("simplify", |module| {
        let before = statements(&module);
        let after = pass::simplify(module);
        assert!(statements(&after) <= before, "{before} statements became more");
        after
    });
}

#[test]
fn every_row_means_the_same_when_it_is_simplified() {
    for case in arbitrary::cases().into_iter().step_by(7) {
        let before = case.program(3);
        let expected = before.interpret().unwrap_or_else(|failure| panic!("{failure}"));
        let after = Program { module: pass::simplify(before.module.clone()), ..before.clone() };
        let found = after.interpret().unwrap_or_else(|f| panic!("{}: {f}", case.name()));
        assert_eq!(before.difference(&expected, &found, 0), None, "{}", case.name());
    }
}
