//! Refusals of constructs outside the subset. Each text is refused once, with these words, at the
//! place between « and ».

use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::SourceMap;

/// Items that all texts may use. `f` is the entry point.
const AROUND: &str = "
    const LIMIT: u8 = 5;
    const TABLE: [u8; 4] = [1, 2, 3, 4];
    struct P { x: i16, y: i32 }
    impl P {
        fn sum(&self) -> i32 { self.y }
        fn set(&mut self) {}
    }
    enum Mode { Run, Halt = 4 }
    mod inner { pub const DEEP: u8 = 1; }
    fn g(x: u8) -> u8 { x }
    fn add(to: &mut u8, by: &u8) {}
    fn fill(cells: &mut [u8]) {}
";

fn faults(text: &str) -> Vec<Diagnostic> {
    let mut sources = SourceMap::new();
    gbxcule_front_rust::lower(&[("src/lib.rs", text)], &["f"], &mut sources)
        .err()
        .unwrap_or_default()
}

/// Checks that each text is refused for one reason: a code, a message, and the marked place.
fn assert_each_refused<'t>(
    sentences: impl IntoIterator<Item = (&'t str, &'static str, String)>,
    whole: impl Fn(&str) -> String,
) {
    let mut surprises = String::new();
    for (sentence, code, message) in sentences {
        let marked = whole(sentence);
        let (start, end) = (marked.find('«').expect("«"), marked.find('»').expect("»"));
        let text = marked.replace(['«', '»'], "");
        let place = start..end - '«'.len_utf8();
        let found: Vec<_> = faults(&text).iter().map(|it| described(it, &text)).collect();
        let expected = format!("{code} at {place:?} `{}`: {message}", &text[place.clone()]);
        if found != [expected] {
            surprises += &format!("{sentence}\n    gives {found:#?}\n");
        }
    }
    assert!(surprises.is_empty(), "{surprises}");
}

fn described(fault: &Diagnostic, text: &str) -> String {
    let place = fault.span().start as usize..fault.span().end as usize;
    format!("{} at {place:?} `{}`: {}", fault.code, &text[place.clone()], fault.message)
}

fn in_a_body(statements: &str) -> String {
    format!("{AROUND} fn f(a: u8, b: bool, p: &mut P, cells: &mut [u8; 4]) {{ {statements} }}")
}

fn beside(items: &str) -> String {
    format!("{items} {AROUND} fn f() {{}}")
}

/// Items, and the name of the construct in each.
const ITEMS: &[(&str, &str)] = &[
    ("«struct Q(u8);»", "a struct without named fields"),
    ("«struct Q;»", "a struct without named fields"),
    ("struct Q«<T>» { x: u8 }", "a generic item"),
    ("struct Q { «x: &u8» }", "a reference in a struct"),
    ("struct Q { x: «*const u8» }", "this type"),
    ("struct Q { «#[serde]» x: u8 }", "this attribute"),
    ("enum E { «A(u8)» }", "a variant with payload"),
    ("enum E { A, B = «1 + 1» }", "a discriminant that isn't a literal"),
    ("enum E«<T>» { A }", "a generic item"),
    ("«#[test]» fn h() {}", "this attribute"),
    ("«#[serde]» struct Q { x: u8 }", "this attribute"),
    ("«#[serde]» enum E { A }", "this attribute"),
    ("«#[serde]» const C: u8 = 1;", "this attribute"),
    ("«#[deprecated]» mod tests {}", "this attribute"),
    ("«#[deprecated]» use inner::DEEP;", "this attribute"),
    ("«#[serde]» impl P {}", "this attribute"),
    ("impl P { «#[serde]» fn h() {} }", "this attribute"),
    ("fn h«<T>»() {}", "a generic item"),
    ("fn h() «where u8: Copy» {}", "a `where`"),
    ("«unsafe fn h()» {}", "a function that is `unsafe`, `async` or `extern`"),
    ("«async fn h()» {}", "a function that is `unsafe`, `async` or `extern`"),
    ("«extern \"C\" fn h()» {}", "a function that is `unsafe`, `async` or `extern`"),
    ("«impl Default for P {}»", "an `impl` of a trait"),
    ("impl«<T>» P {}", "a generic item"),
    ("impl «[u8]» {}", "an `impl` for this type"),
    ("impl P { «const A: u8 = 1;» }", "an item of this kind in an `impl` block"),
    ("«trait T {}»", "a trait"),
    ("«static S: u8 = 1;»", "a `static`"),
    ("«thread_local! {}»", "a macro"),
    ("«type T = u8;»", "an item of this kind"),
    ("use inner::«*»;", "`use` of everything"),
    ("fn h(x: «f32») {}", "type `f32`"),
    ("fn h(x: «u128») {}", "type `u128`"),
    ("fn h(x: «&'static u8») {}", "this type"),
    ("fn h(x: «<P as T>::X») {}", "this type"),
    ("fn h(x: «fn(u8)») {}", "this type"),
    ("fn h(x: «Vec<u8>») {}", "a path with arguments"),
    ("fn h(x: «::core::X») {}", "a path with arguments"),
    ("fn h(«(a, b)»: (u8, u8)) {}", "a pattern as parameter"),
    ("fn h(«ref a»: u8) {}", "a pattern as parameter"),
    ("fn h(«a @ _»: u8) {}", "a pattern as parameter"),
    ("fn h() -> «&u8» {}", "a reference as result"),
    ("impl P { fn h(«self: Box<Self>») {} }", "a `self` of this kind"),
    ("impl P { fn h(«&'static self») {} }", "a `self` of this kind"),
    ("struct Q { x: [u8; «0x1_0000_0000»] }", "an array of this length"),
];

/// Statements, and the construct in each that is outside the subset.
const STATEMENTS: &[(&str, &str)] = &[
    ("«fn h() {}»", "an item in a function"),
    ("«assert!(b);»", "a macro"),
    ("let x = «vec![1]»;", "a macro"),
    ("let x = «|y: u8| y»;", "a closure"),
    ("let x = «unsafe { 1 }»;", "`unsafe`"),
    ("if «let 1 = a» {}", "`let` in a condition"),
    ("«a?»;", "the `?` operator"),
    ("«async {}»;", "`async`"),
    ("«a.await»;", "`async`"),
    ("let x = «&raw const a»;", "a raw pointer"),
    ("let x = «0..a»;", "a range outside `for` and `match`"),
    ("let x = «'out: { 1 }»;", "a label"),
    ("let x = «const { 1 }»;", "this expression"),
    ("let x = «<P>::sum»;", "this expression"),
    ("let x = «g»;", "a function as a value"),
    ("let x = «g::<u8>»(1);", "a path with arguments"),
    ("let x = «::core::g»(1);", "a path with arguments"),
    ("let x = «(g)(1)»;", "a call of this"),
    ("let x = «LIMIT(1)»;", "a call of this"),
    ("let x = «Mode::Run(1)»;", "a call of this"),
    ("let x = «a.min::<u8>(1)»;", "a method with arguments for generics"),
    ("let x = «P { x: 1, ..*p }»;", "a struct made from another one"),
    ("let x = «Mode { x: 1 }»;", "a struct expression for this"),
    ("let x = «1.5»;", "a literal that is neither integer nor `bool`"),
    ("let x = «'c'»;", "a literal that is neither integer nor `bool`"),
    ("let x = «1f32»;", "a literal of this type"),
    ("let x = «1u128»;", "a literal of this type"),
    ("let x = «0x1_0000_0000_0000_0000»;", "a literal of more than 64 bits"),
    ("«let x = a else { return };»", "`let` with `else`"),
    ("«#[serde]» let x = 1;", "this attribute"),
    ("let «ref x» = a;", "this pattern"),
    ("let «x @ _» = a;", "this pattern"),
    ("let «P { .. }» = *p;", "this pattern"),
    ("match a { «#[deprecated]» 1 => {} _ => {} }", "this attribute"),
    ("match a { «n» => {} }", "a pattern that binds a name"),
    ("match a { «n if b» => {} _ => {} }", "a guard of a `match` arm"),
    ("match a { «n @ 1..=3» => {} _ => {} }", "this pattern"),
    ("match a { «LIMIT @ 5» => {} _ => {} }", "this pattern"),
    ("match a { «ref LIMIT» => {} _ => {} }", "this pattern"),
    ("match a { «mut LIMIT» => {} _ => {} }", "this pattern"),
    ("match a { «g» => {} _ => {} }", "a function as pattern"),
    ("match a { «TABLE» => {} _ => {} }", "a composite as pattern"),
    ("match b { «false..=true» => {} _ => {} }", "a range of this type"),
    ("match a { «(1, 2)» => {} _ => {} }", "this pattern"),
    ("«'out:» while b {}", "a label"),
    ("«'out:» loop {}", "a label"),
    ("«'out:» for x in 0..a {}", "a label"),
    ("loop { «break 'out» }", "a label"),
    ("loop { «continue 'out» }", "`continue` with a label or outside a loop"),
    ("«continue»;", "`continue` with a label or outside a loop"),
    ("«break»;", "`break` outside a loop"),
    ("while b { «break 1» }", "`break` with a value in this loop"),
    ("for x in 0..a { «break 1» }", "`break` with a value in this loop"),
    ("for x in «cells» {}", "a loop over anything but a range"),
    ("for x in («cells») {}", "a loop over anything but a range"),
    ("for x in «1..» {}", "a loop over a range without ends"),
    ("for x in «..a» {}", "a loop over a range without ends"),
    ("for «mut x» in 0..a {}", "this pattern of a loop"),
    ("for «(x, y)» in 0..a {}", "this pattern of a loop"),
    ("let mut r = &a; «r = &a»;", "a reference that changes"),
    (
        "add(«if b { &mut cells[0] } else { &mut cells[1] }», &1);",
        "a reference that is chosen at run time",
    ),
    ("«[(); 3][a as usize]»;", "a `()` in an array"),
    ("let s: &[u8] = «cells»;", "a slice of an array in a variable"),
    ("let pair = («&a», 1);", "a reference in this place"),
];

/// Statements, and the message about types that don't fit.
const MISFITS: &[(&str, &str)] = &[
    ("if «a» {}", "a `bool` is needed here, found a `u8`"),
    ("while «1» {}", "a `bool` is needed here, found a `integer`"),
    ("let x = b && «a»;", "a `bool` is needed here, found a `u8`"),
    ("let x = «a» || b;", "a `bool` is needed here, found a `u8`"),
    ("if b «{ 1 }»", "a `()` is needed here, found a `integer`"),
    ("let x = if b { a } else «{ true }»;", "a `u8` is needed here, found a `bool`"),
    ("let x = match a { 1 => a, _ => «b» };", "a `u8` is needed here, found a `bool`"),
    ("let x: u8 = «b»;", "a `u8` is needed here, found a `bool`"),
    ("let x: (u8, bool) = «(a, a)»;", "a `(u8, bool)` is needed here, found a `(u8, u8)`"),
    ("let x: (u8, u8) = «(a, a, a)»;", "a `(u8, u8)` is needed here, found a `(u8, u8, u8)`"),
    ("let x: [u8; 3] = «[a, a]»;", "a `[u8; 3]` is needed here, found a `[u8; 2]`"),
    ("let x: [u8; 2] = [a, «b»];", "a `u8` is needed here, found a `bool`"),
    ("let x: [u8; 2] = «[b; 2]»;", "a `[u8; 2]` is needed here, found a `[bool; 2]`"),
    ("let x: Mode = «a»;", "a `Mode` is needed here, found a `u8`"),
    ("let x: P = «Mode::Run»;", "a `P` is needed here, found a `Mode`"),
    ("let x: () = «a»;", "a `()` is needed here, found a `u8`"),
    ("let x: &mut u8 = «&a»;", "a `&mut u8` is needed here, found a `&u8`"),
    ("let x: &u16 = «&a»;", "a `&u16` is needed here, found a `&u8`"),
    ("fill(«&TABLE»);", "a `&mut [u8]` is needed here, found a `&[u8; 4]`"),
    ("fill(«&mut [b; 2]»);", "a `&mut [u8]` is needed here, found a `&mut [bool; 2]`"),
    ("add(«&a», &a);", "a `&mut u8` is needed here, found a `&u8`"),
    ("add(«a», &a);", "a `&mut u8` is needed here, found a `u8`"),
    ("«g()»;", "`g` takes 1 arguments, found 0"),
    ("«g(1, 2)»;", "`g` takes 1 arguments, found 2"),
    ("«p.sum(1)»;", "`P::sum` takes 1 arguments, found 2"),
    ("«P::sum()»;", "`P::sum` takes 1 arguments, found 0"),
    ("«a.min()»;", "`min` takes 1 arguments, found 0"),
    ("«a.count_ones(1)»;", "`count_ones` takes 0 arguments, found 1"),
    ("a.rotate_left(«b»);", "a `u32` is needed here, found a `bool`"),
    ("a.min(«b»);", "a `u8` is needed here, found a `bool`"),
    ("let x = «a + b»;", "both operands must have one type, found `u8` and `bool`"),
    ("let x = «b & a»;", "both operands must have one type, found `bool` and `u8`"),
    ("let x = «a == b»;", "both operands must have one type, found `u8` and `bool`"),
    ("let x = «b» + b;", "this operator takes integers, found a `bool`"),
    ("let x = «b» << 1;", "this operator takes integers, found a `bool`"),
    ("let x = a << «b»;", "an amount to shift by is an integer"),
    ("let x = «*p» | *p;", "this operator takes integers, found a `P`"),
    ("let x = -«b»;", "this operator takes integers, found a `bool`"),
    ("let x = !«*p»;", "this operator takes integers, found a `P`"),
    ("let x = *«a»;", "only a reference can be followed"),
    ("let x = «b» < b;", "a `bool` can't be compared so"),
    ("let x = «Mode::Run» >= Mode::Halt;", "a `Mode` can't be compared so"),
    ("let x = «*p» == *p;", "a `P` can't be compared so"),
    ("let x = «*p» as u8;", "`as` takes integers, enums and `bool` to integers, found `P` to `u8`"),
    (
        "let x = «a» as bool;",
        "`as` takes integers, enums and `bool` to integers, found `u8` to `bool`",
    ),
    (
        "let x = «b» as Mode;",
        "`as` takes integers, enums and `bool` to integers, found `bool` to `Mode`",
    ),
    ("cells[«a»];", "a `usize` is needed here, found a `u8`"),
    ("let x = «a»[0];", "a `u8` has no elements"),
    ("a = «b»;", "a `u8` is needed here, found a `bool`"),
    ("let «(x, y)» = (1, 2, 3);", "this takes a tuple apart, found a `(i32, i32, i32)`"),
    ("let «(x, y)» = a;", "this takes a tuple apart, found a `u8`"),
    ("match «*p» { _ => {} }", "`match` takes integers, enums and `bool`, found a `P`"),
    (
        "match a { «Mode::Run» => {} _ => {} }",
        "a pattern of `u8` is needed here, found one of `Mode`",
    ),
    (
        "match a as u16 { «LIMIT» => {} _ => {} }",
        "a pattern of `u16` is needed here, found one of `u8`",
    ),
    ("for x in «b»..true {}", "the ends of a range are integers"),
    ("for x in a..«300u16» {}", "a `u8` is needed here, found a `u16`"),
    ("«while b { 1 }»", "the body of a loop has no value"),
    ("«loop { 1 }»", "the body of a loop has no value"),
    ("«for x in 0..a { x }»", "the body of a loop has no value"),
    ("let x = loop { if b { break 1; } «break» };", "this loop has a value"),
    ("let x = loop { if b { break; } break «1» };", "a `()` is needed here, found a `integer`"),
    ("return «a»;", "a `()` is needed here, found a `u8`"),
    ("let «x»;", "nothing says of which type `x` is"),
    ("let «x» = [];", "nothing says of which type `x` is"),
    ("«P { x: 1 }»;", "`P` needs all its fields"),
    ("P { x: «b», y: 1 };", "a `i16` is needed here, found a `bool`"),
    ("«match a { 0..=98 => {} 100.. => {} }»", "this `match` leaves values out"),
    ("«match a as i8 { -128..=126 => {} }»", "this `match` leaves values out"),
    ("«match a as i8 { -127..=127 => {} }»", "this `match` leaves values out"),
    ("«match a as u64 { 0..=0xffff_ffff_ffff_fffe => {} }»", "this `match` leaves values out"),
    ("«match b { true => {} }»", "this `match` leaves values out"),
    ("«match Mode::Run { Mode::Run => {} }»", "this `match` leaves values out"),
];

/// Statements, and the message about a name.
const NAMES: &[(&str, &str)] = &[
    ("match a { 0..=«b» => {} _ => {} }", "this name is defined in none of the texts"),
    ("let x = «missing»;", "this name is defined in none of the texts"),
    ("«missing».len();", "this name is defined in none of the texts"),
    ("let x = «missing».x;", "this name is defined in none of the texts"),
    ("let x = «missing»[0];", "this name is defined in none of the texts"),
    ("let x = cells[«missing»];", "this name is defined in none of the texts"),
    ("let x = a + «missing»;", "this name is defined in none of the texts"),
    ("let x = 1 << «missing»;", "this name is defined in none of the texts"),
    ("let x = !«missing» as u8;", "this name is defined in none of the texts"),
    ("let x = 1 < «missing»;", "this name is defined in none of the texts"),
    ("let x = (g(«missing»), [1, 2]);", "this name is defined in none of the texts"),
    ("match «missing» { 1..=3 => {} _ => {} }", "this name is defined in none of the texts"),
    ("if «missing» {}", "this name is defined in none of the texts"),
    ("for x in 0..«missing» {}", "this name is defined in none of the texts"),
    ("for x in «missing»..9 { cells[x] = 1; }", "this name is defined in none of the texts"),
    ("while b { «missing» }", "this name is defined in none of the texts"),
    ("let (x, y) = «missing»;", "this name is defined in none of the texts"),
    ("let x = if b { «missing» } else { 1 };", "this name is defined in none of the texts"),
    ("return «missing»;", "this name is defined in none of the texts"),
    ("let x = «inner»;", "this name is defined in none of the texts"),
    ("let x = «inner::missing»;", "this name is defined in none of the texts"),
    ("let x = «LIMIT::missing»;", "this name is defined in none of the texts"),
    ("let x = «Mode::Sleep»;", "this name is defined in none of the texts"),
    ("let x = «P::missing»();", "this name is defined in none of the texts"),
    ("let x = «super::g»(1);", "this name is defined in none of the texts"),
    ("let x: «missing» = 1;", "this type is defined in none of the texts"),
    ("let x: «inner» = 1;", "this type is defined in none of the texts"),
    ("p.«z» = 1;", "a `P` has no such field"),
    ("p.«0» = 1;", "a `P` has no such field"),
    ("let x = (1, b).«2»;", "a `(i32, bool)` has no such field"),
    ("let x = a.«0»;", "a `u8` has no such field"),
    ("P { x: 1, «z»: 1 };", "`P` has no such field"),
    ("p.«len»();", "`P` has no such method"),
    ("Mode::Run.«sum»();", "`Mode` has no such method"),
    ("cells.«len»(1);", "there is no method `len` of `[u8; 4]`"),
    ("cells.«first»();", "there is no method `first` of `[u8; 4]`"),
    ("a.«len»();", "there is no method `len` of `u8`"),
    ("b.«min»(b);", "there is no method `min` of `bool`"),
    ("a.«checked_add»(1);", "there is no method `checked_add` of `u8`"),
    ("1.«rotate_left»(2);", "the integer that `rotate_left` is called on has no type yet"),
];

/// Constants that can't be evaluated, and the message.
const CONSTANTS: &[(&str, &str)] = &[
    ("const C: u8 = «LIMIT + 251»;", "this overflows"),
    ("const C: u8 = «LIMIT - 6»;", "this overflows"),
    ("const C: u8 = «LIMIT * 52»;", "this overflows"),
    ("const C: u64 = «0xffff_ffff_ffff_ffff * 0xffff_ffff_ffff_ffff»;", "this overflows"),
    ("const C: u8 = «LIMIT << 8»;", "this overflows"),
    ("const C: u8 = «LIMIT >> 8»;", "this overflows"),
    ("const C: i8 = «LIMIT as i8 - 127 - 7»;", "this overflows"),
    ("const C: u8 = «LIMIT / (LIMIT - 5)»;", "this divides by zero"),
    ("const C: u8 = «LIMIT % (LIMIT - 5)»;", "this divides by zero"),
    ("const C: u8 = «256»;", "256 doesn't fit into `u8`"),
    ("const C: i8 = «-129»;", "-129 doesn't fit into `i8`"),
    ("const C: u8 = «-1»;", "-1 doesn't fit into `u8`"),
    ("const D: i8 = -128; const C: i8 = «-D»;", "128 doesn't fit into `i8`"),
    ("const C: u8 = «TABLE[4]»;", "this index lies outside"),
    ("const fn t() -> [u8; 2] { [1, 2] } const C: u8 = «t()[2]»;", "this index lies outside"),
    (
        "const C: u8 = n(); const fn n() -> u8 { let mut t = [1]; «t[1]» = 2; t[0] }",
        "this index lies outside",
    ),
    ("const C: u8 = n(); const fn n() -> u8 { let t = [1]; «t[1]» }", "this index lies outside"),
    ("const C: u8 = «LIMIT.wrapping_add(1)»;", "this can't be worked out in a constant"),
    (
        "const C: u8 = { let mut x = 1; «add(&mut x, &1)»; x };",
        "this can't be worked out in a constant",
    ),
    (
        "const C: usize = n(&TABLE); const fn n(t: &[u8]) -> usize { «t.len()» }",
        "this can't be worked out in a constant",
    ),
    (
        "const C: u8 = { let mut x = 1; «for y in 0..3 { x += y; }» x };",
        "this can't be worked out in a constant",
    ),
    (
        "const C: u8 = n(0); const fn n(x: u8) -> u8 { if x > 70 { x } else { «n(x + 1)» } }",
        "calls nest too deep in this constant",
    ),
    (
        "const C: u8 = n(); const fn n() -> u8 { «loop {}» }",
        "this constant takes too long to work out",
    ),
    (
        "const C: u8 = n(); const fn n() -> u8 { loop { «{}» } }",
        "this constant takes too long to work out",
    ),
    ("const C: u8 = «C»;", "`C` is defined by itself"),
];

#[test]
fn items_outside_the_subset_are_named_at_their_place() {
    let sentences = ITEMS.iter().map(|(item, what)| (*item, "rust-subset", outside(what)));
    assert_each_refused(sentences, beside);
}

#[test]
fn statements_outside_the_subset_are_named_at_their_place() {
    let sentences = STATEMENTS.iter().map(|(text, what)| (*text, "rust-subset", outside(what)));
    assert_each_refused(sentences, in_a_body);
}

fn outside(what: &str) -> String {
    format!("{what} is outside the subset of Rust that is translated")
}

/// Constants with faults that are reported once, even if another item needs the refused one.
const FAULTS_IN_CONSTANTS: &[(&str, &str)] = &[
    ("const C: u8 = «missing»;", "this name is defined in none of the texts"),
    (
        "const C: u8 = n(); const fn n() -> u8 { «missing» }",
        "this name is defined in none of the texts",
    ),
    ("const C: u8 = D + D; const D: u8 = «missing»;", "this name is defined in none of the texts"),
    (
        "const C: [u8; D] = [0; D]; const D: usize = «missing»;",
        "this name is defined in none of the texts",
    ),
];

/// Whole programs in which names form circles.
const CIRCLES: &[(&str, &str)] = &[
    ("fn f() { «f()»; }", "`f` comes to call itself here; recursion is not translated"),
    (
        "fn f() { g(); g(); } fn g() { h(); } fn h() { «g()»; }",
        "`g` comes to call itself here; recursion is not translated",
    ),
    (
        "fn f() { P { x: 1 }.go(); } struct P { x: u8 } impl P { fn go(self) { «self.go()»; } }",
        "`P::go` comes to call itself here; recursion is not translated",
    ),
];

#[test]
fn types_and_names_that_do_not_fit_are_refused_at_their_places() {
    let with =
        |code| move |&(text, message): &(&'static str, &str)| (text, code, message.to_string());
    assert_each_refused(MISFITS.iter().map(with("rust-type")), in_a_body);
    assert_each_refused(NAMES.iter().map(with("rust-name")), in_a_body);
    let whole = |items: &str| format!("{items} {AROUND} fn f() {{ let c = C; }}");
    assert_each_refused(CONSTANTS.iter().map(with("rust-const")), whole);
    assert_each_refused(FAULTS_IN_CONSTANTS.iter().map(with("rust-name")), whole);
    assert_each_refused(CIRCLES.iter().map(with("rust-recursion")), str::to_string);
}

#[test]
fn a_function_with_a_result_returns_one() {
    let sentences = [
        ("fn f() -> u8 { «return»; }", "this function has a result"),
        ("fn f() -> u8 { return «()»; }", "a `u8` is needed here, found a `()`"),
        ("fn f() -> u8 «{ g(); }» fn g() {}", "a `u8` is needed here, found a `()`"),
    ];
    let sentences = sentences.map(|(text, message)| (text, "rust-type", message.to_string()));
    assert_each_refused(sentences, str::to_string);
}

#[test]
fn literals_are_taken_if_and_only_if_their_type_holds_them() {
    let types = [8, 16, 32, 64].map(|bits| (bits, 1i128 << bits));
    for (bits, all) in types {
        let ends = [("u", 0, all - 1), ("i", -(all / 2), all / 2 - 1)];
        for (sign, least, greatest) in ends {
            for number in [least - 1, least, greatest, greatest + 1] {
                let ty = format!("{sign}{bits}");
                let inside = (least..=greatest).contains(&number);
                let fits = |text: &str| assert_eq!(faults(text).is_empty(), inside, "{text}");
                fits(&format!("fn f() -> {ty} {{ {number} }}"));
                fits(&format!("fn f() -> {ty} {{ let x = {number}; x }}"));
                fits(&format!("const C: {ty} = {number}; fn f() -> {ty} {{ C }}"));
                fits(&format!(
                    "fn f(a: {ty}) -> bool {{ match a {{ {number} => true, _ => false }} }}"
                ));
            }
            let whole =
                format!("fn f(a: {sign}{bits}) {{ match a {{ {least}..={greatest} => {{}} }} }}");
            assert!(faults(&whole).is_empty(), "{whole}");
        }
    }
}

#[test]
fn an_entry_point_is_the_one_function_whose_path_ends_so() {
    let texts = [
        ("crates/machine/src/lib.rs", "pub mod chip; fn go() {} mod a { pub fn twice() {} }"),
        ("crates/machine/src/chip/mod.rs", "pub mod line; fn twice() { self::line::go_on(); }"),
        ("crates/machine/src/chip/line.rs", "pub fn go_on() { super::super::a::twice(); }"),
    ];
    let lowered = |entry| {
        let mut sources = SourceMap::new();
        let module = gbxcule_front_rust::lower(&texts, &[entry], &mut sources);
        let message = |faults: Vec<Diagnostic>| faults[0].message.clone();
        module.map(|it| it.functions.len()).map_err(message)
    };
    let none = |name| Err(format!("no function, or more than one, is called `{name}`"));
    assert_eq!(lowered("go"), Ok(1));
    assert_eq!(lowered("chip::twice"), Ok(3));
    assert_eq!(lowered("chip::line::go_on"), Ok(2));
    assert_eq!(lowered("line::go_on"), Ok(2));
    for name in ["twice", "o", "ine::go_on", "missing", "chip"] {
        assert_eq!(lowered(name), none(name));
    }
    let all = ["go", "a::twice", "chip::twice", "chip::line::go_on"];
    assert_eq!(gbxcule_front_rust::functions(&texts, &[]), all);
}

#[test]
fn code_that_a_condition_excludes_is_not_read() {
    let text = "#[cfg(small)] fn f() {}\n#[cfg(not(small))] fn g() {}\n\
                fn h() -> u8 { #[cfg(all(small, not(big)))] return 1; if cfg!(small) { 2 } else { 3 } }";
    let texts = [("src/a.rs", text)];
    assert_eq!(gbxcule_front_rust::functions(&texts, &[]), ["a::g", "a::h"]);
    assert_eq!(gbxcule_front_rust::functions(&texts, &["small"]), ["a::f", "a::h"]);
}
