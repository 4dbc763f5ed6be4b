//! Functions that stand out of line: no function is copied without bound, and small ones are
//! inlined as before.

use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Arg, Builder, FunctionKind, Inline, Module};
use gbxcule_passes::pass::{self, out_of_line};

/// Levels of functions, each of which calls the one below twice.
const LEVELS: usize = 30;

/// Returns a module with a kernel that calls the uppermost level once, through `once`.
fn tower() -> Module {
    let mut text = String::from(
        "pub fn f0(s: &mut [u32; 4], at: u32) { s[(at & 3) as usize] += s[0]; s[1] ^= at; }\n",
    );
    for level in 1..LEVELS {
        let below = level - 1;
        text += &format!(
            "pub fn f{level}(s: &mut [u32; 4], at: u32) {{ f{below}(s, at); f{below}(s, !at); }}\n"
        );
    }
    text += "pub fn once(s: &mut [u32; 4]) { f29(s, 1); }";
    let mut sources = SourceMap::new();
    let lowered = gbxcule_front_rust::lower(&[("src/run.rs", &text)], &["once"], &mut sources);
    let mut module = lowered.expect("the subset");
    let once = module.find("once").expect("lowered");
    let state = module.functions[once].params[0].ty;
    let kernel = module.declare_kernel("run", Vec::new());
    let mut b = Builder::new(&mut module, kernel);
    let local = b.local("state", state);
    let place = b.local_place(local);
    b.call(once, &[Arg::Place(place)]);
    b.finish();
    module
}

fn inlines(module: Module, most: usize) -> Vec<Inline> {
    let module = out_of_line::run(pass::rechecked(module), most);
    let of = |level| module.functions[module.find(&format!("f{level}")).expect("lowered")].inline;
    (0..LEVELS).map(of).collect()
}

#[test]
fn copies_do_not_double_with_each_level() {
    let found = inlines(tower(), 100);
    // A few levels may be inlined into each other; the next one stands out of line, and so on.
    assert_eq!(found[0], Inline::Auto);
    assert_eq!(found[LEVELS - 1], Inline::Auto, "it is called once");
    for some in found[..LEVELS - 1].windows(6) {
        assert!(some.contains(&Inline::Never) && some.contains(&Inline::Auto), "{found:?}");
    }
}

#[test]
fn functions_that_may_be_copied_or_are_not_reached_are_left_alone() {
    assert_eq!(inlines(tower(), usize::MAX), [Inline::Auto; LEVELS]);
    let mut module = tower();
    for id in module.functions.handles() {
        if module.functions[id].kind == FunctionKind::Kernel {
            module.functions[id].body = Default::default();
        }
    }
    assert_eq!(inlines(module, 100), [Inline::Auto; LEVELS]);
}

#[test]
fn a_function_that_asks_to_be_put_in_place_is() {
    let mut module = tower();
    for id in module.functions.handles() {
        if module.functions[id].kind == FunctionKind::Callable {
            module.functions[id].inline = Inline::Always;
        }
    }
    assert_eq!(inlines(module, 100), [Inline::Always; LEVELS]);
}
