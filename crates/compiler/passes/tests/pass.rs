//! Passes keep the meaning of programs: the interpreter leaves the same memory before and after.

use gbxcule_interp as interp;
use gbxcule_ir::check::Valid;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{
    Arg, Builder, FunctionId, Inline, Literal, Module, Param, PassMode, Scalar, Shape, StmtKind,
    Type, print, walk,
};
use gbxcule_passes::pass::{
    self, carry, dce, detach, exit, fold, inline, lowest_first, promote, widen,
};
use gbxcule_testkit::arbitrary::{self, RandomProgram};

fn keeps(name: &str, run: impl Fn(Valid<Module>) -> Valid<Module>) {
    for seed in 0..300 {
        let before = arbitrary::program(seed);
        let expected = before.interpret().unwrap_or_else(|failure| panic!("{failure}"));
        let after = RandomProgram { module: run(before.module.clone()), ..before.clone() };
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

/// Returns true if the pass gives a function a single exit, which it doesn't if the function nests
/// too deeply.
fn has_single_exit(body: &str) -> bool {
    let text = format!("pub fn run(from: u32) -> u32 {{ let mut n = from; {body} n }}");
    let mut sources = SourceMap::new();
    let lowered = gbxcule_front_rust::lower(&[("src/run.rs", &text)], &["run"], &mut sources);
    let mut module = lowered.expect("the subset");
    let run = module.find("run").expect("lowered");
    assert!(!exit::is_single(&module.functions[run].body));
    exit::run(&mut module);
    exit::is_single(&pass::rechecked(module).functions[run].body)
}

#[test]
fn many_branches_in_a_row_are_no_depth_but_many_returns_are() {
    let branches = "if n > 3 { n -= 2; }".repeat(150);
    assert!(has_single_exit(&format!("{branches} if n > 9 {{ return 1; }}")));
    let returns = |count: usize| "if n > 3 { return n; } n += 1;".repeat(count);
    assert!(has_single_exit(&returns(90)));
    assert!(!has_single_exit(&returns(250)));
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
            walk::walk_stmts(&function.body, function.body.root, |stmt| {
                count += usize::from(!matches!(stmt.kind, StmtKind::Break));
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
        let after =
            RandomProgram { module: pass::simplify(before.module.clone()), ..before.clone() };
        let found = after.interpret().unwrap_or_else(|f| panic!("{}: {f}", case.name()));
        assert_eq!(before.difference(&expected, &found, 0), None, "{}", case.name());
    }
}

#[test]
fn promoting_fields_keeps_meaning() {
    let promoted = std::cell::Cell::new(0);
    keeps("promote", |module| {
        let mut module = module.into_inner();
        for id in module.functions.handles() {
            for param in 0..module.functions[id].params.len() {
                let data = &module.functions[id].params[param];
                if data.mode == PassMode::Value
                    || !matches!(module.types[data.ty], Shape::Struct(_))
                {
                    continue;
                }
                let before = module.functions[id].body.locals.len();
                promote::run(&mut module, id, param, promote::FieldSelection::All, &[]);
                let after = module.functions[id].body.locals.len();
                promoted.set(promoted.get() + after - before);
            }
        }
        pass::rechecked(module)
    });
    assert!(promoted.get() > 10, "only {} fields were promoted", promoted.get());
}

/// Counts the variables that promotion makes for the fields of a struct `S` that a function `run`
/// works on.
fn kept(text: &str, which: promote::FieldSelection) -> usize {
    let mut sources = SourceMap::new();
    let lowered = gbxcule_front_rust::lower(&[("src/s.rs", text)], &["run"], &mut sources);
    let mut module = lowered.expect("the subset");
    let run = module.find("run").expect("lowered");
    promote::run(&mut module, run, 0, which, &[]);
    let module = pass::rechecked(module);
    module.functions[run].body.locals.iter().filter(|(_, local)| local.name == "kept").count()
}

#[test]
fn a_small_array_is_promoted_where_every_index_is_surely_inside() {
    for (index, is_inside) in [
        ("(word & 3) as usize", true),
        ("(3 & word) as usize", true),
        ("(word & 4) as usize", false),
        ("(word & 7 & 3) as usize", true),
        ("(word >> 30) as usize", true),
        ("(word >> 29) as usize", false),
        ("(word % 4) as usize", true),
        ("(word % 5) as usize", false),
        ("(word % word) as usize", false),
        ("(word >> word) as usize", false),
        ("word as usize", false),
        ("(byte >> 6) as usize", true),
        ("(byte >> 5) as usize", false),
        ("(byte as u32 >> 6) as usize", true),
        ("((word & 0x103) as u8 >> 6) as usize", true),
        ("((word & 3) as u8) as usize", true),
        ("bit as usize", true),
        ("(signed & 3) as usize", true),
        ("(signed & -4) as usize", false),
        ("(signed % 4) as usize", false),
        ("(signed >> 30) as usize", false),
        ("(word | 3) as usize", false),
        ("3", true),
    ] {
        let text = format!(
            "pub struct S {{ sum: u32, four: [u32; 4] }}
            pub fn run(s: &mut S, word: u32, byte: u8, bit: bool, signed: i32) {{
                s.sum = word ^ byte as u32 ^ bit as u32 ^ signed as u32;
                s.sum ^= s.four[{index}];
            }}"
        );
        let expected = if is_inside { 1 + 4 } else { 1 };
        assert_eq!(kept(&text, promote::FieldSelection::All), expected, "{index}");
    }
}

#[test]
fn fields_that_gain_nothing_or_are_referred_to_stay_in_the_struct() {
    for (body, all, in_loops) in [
        ("s.sum += 1;", 1, 0),
        ("for _ in 0..3 { s.sum += 1; }", 1, 1),
        ("let mut n = 0; while n < s.sum { n += 1; } s.other = n;", 2, 1),
        ("for _ in 0..3 { s.sum += 1; } s.other = 2;", 2, 1),
        // Elements are written, or the array has more than four.
        ("for _ in 0..3 { s.sum += s.four[1]; s.four[2] = 1; }", 1, 1),
        ("for _ in 0..3 { s.sum += s.five[1]; }", 1, 1),
        ("for _ in 0..3 { s.sum += s.four[1]; }", 5, 5),
        ("for _ in 0..3 { s.sum += s.four[1] + s.four[s.other as usize]; }", 2, 2),
        ("for _ in 0..3 { s.sum += 1; bump(&mut s.sum); }", 1, 1),
        ("for _ in 0..3 { s.inner.deep += 1; s.sum = s.inner.deep; }", 2, 2),
    ] {
        let text = format!(
            "pub struct Inner {{ deep: u32 }}
            pub struct S {{ sum: u32, other: u32, four: [u32; 4], five: [u32; 5], inner: Inner }}
            pub fn run(s: &mut S) {{ {body} }}
            fn bump(it: &mut u32) {{ *it += 1; }}"
        );
        let seen = [promote::FieldSelection::All, promote::FieldSelection::InLoops]
            .map(|which| kept(&text, which));
        assert_eq!(seen, [all, in_loops], "{body}");
    }
}

#[test]
fn widening_variables_keeps_meaning() {
    let split = std::cell::Cell::new(0);
    keeps("widen", |module| {
        let mut module = module.into_inner();
        for id in module.functions.handles() {
            let before = module.functions[id].body.locals.len();
            widen::run(&mut module, id);
            split.set(split.get() + module.functions[id].body.locals.len() - before);
        }
        pass::rechecked(module)
    });
    assert!(split.get() > 10, "only {} fields became variables", split.get());
}

/// A struct of bytes and halves in a loop, by value and by call.
const CPU: &str = "
        #[derive(Clone, Copy)]
        pub struct Cpu { a: u8, pc: u16, now: u32, on: bool, signed: i8 }
        pub struct Box { cpu: Cpu, sum: u32 }
        impl Box {
            pub fn run(&mut self, from: &[u8], rounds: u32) -> u32 {
                let mut cpu = self.cpu;
                for round in 0..rounds {
                    cpu.a = cpu.a.wrapping_add(from[(round & 3) as usize]).rotate_left(3);
                    cpu.pc = cpu.pc.wrapping_sub(1).wrapping_mul(257);
                    cpu.signed = cpu.a as i8 >> 1;
                    cpu.on = !cpu.on;
                    cpu.now = cpu.now.wrapping_add(cpu.pc as u32);
                    if cpu.on { cpu = twist(cpu); }
                    self.sum = self.sum.rotate_left(5) ^ cpu.now ^ cpu.signed as u32;
                }
                self.cpu = cpu;
                self.sum.wrapping_add(cpu.pc as u32) ^ (self.cpu.a as u32) << 24
            }
        }
        fn twist(mut cpu: Cpu) -> Cpu { cpu.a = !cpu.a; cpu.pc = cpu.pc << 3 | cpu.a as u16; cpu }
    ";

#[test]
fn a_struct_of_bytes_and_halves_is_kept_in_words_and_wraps_as_before() {
    let run = |wide: bool| {
        let mut sources = SourceMap::new();
        let module = gbxcule_front_rust::lower(&[("src/cpu.rs", CPU)], &["Box::run"], &mut sources);
        let mut module = module.expect("the subset");
        let run = module.find("Box::run").expect("lowered");
        if wide {
            widen::run(&mut module, run);
            let locals = module.functions[run].body.locals.iter();
            let fields = locals.filter(|(_, local)| ["cpu_a", "cpu_pc"].contains(&&*local.name));
            let types: Vec<Type> = fields.map(|(_, local)| local.ty).collect();
            assert_eq!(types, [Type::U32; 2]);
        }
        let cell = module.functions[run].params[0].ty;
        let [bytes, words] = [Type::U8, Type::U32].map(|of| module.types.array(of, 1));
        let params = vec![Param::value("from", bytes), Param::value("out", words)];
        let kernel = module.declare_kernel("run", params);
        let mut b = Builder::new(&mut module, kernel);
        let local = b.local("cell", cell);
        let cell = b.local_place(local);
        let (from, rounds) = (b.arg(0), b.literal(Literal::int(Scalar::U32, 40)));
        for at in 0..3 {
            let args = [Arg::Place(cell), Arg::Value(from), Arg::Value(rounds)];
            let (result, at) = (b.call(run, &args), b.i32(at));
            let out = b.param_place(1);
            let out = b.element(out, &[at]);
            b.store(out, result);
        }
        b.finish();
        let module = pass::rechecked(module);
        let mut machine = interp::Interpreter::new(&module);
        let buffers = [vec![11, 22, 33, 244], vec![0; 12]].map(|it| machine.memory.add(it));
        let args = [(buffers[0], 1, 4), (buffers[1], 4, 3)];
        let args = args.map(|(it, size, len)| interp::Array::dense(it, size, &[len]).into());
        machine.launch(kernel, &[1], &args).expect("no fault");
        machine.memory.bytes(buffers[1]).to_vec()
    };
    assert_eq!(run(true), run(false));
}

/// Struct with arrays, and functions that use the arrays in every way that can be detached.
const CELL: &str = "
    pub struct Cell { sum: u32, data: [u8; 8], small: [u32; 2] }
    impl Cell {
        pub fn run(&mut self, from: &[u8], rounds: u32) -> u32 {
            for round in 0..rounds {
                let mut index = 0;
                while index < 8 {
                    self.data[index] = self.data[index].wrapping_add(from[index & 3]);
                    self.note(from, index);
                    if self.small[index & 1] & 0x10 != 0 { self.sum ^= round; }
                    index += 1;
                }
            }
            mix(&mut self.data, &self.small);
            self.sum.wrapping_add(last(&self.data))
        }
        fn note(&mut self, from: &[u8], index: usize) {
            self.sum = self.sum.wrapping_add(total(&self.data)).rotate_left(from[0] as u32 & 7);
            self.small[index & 1] ^= self.sum;
        }
    }
    fn total(data: &[u8; 8]) -> u32 {
        let mut sum = 0;
        for index in 0..8 { sum = sum * 3 + data[index] as u32 & 0xffff; }
        sum
    }
    fn mix(data: &mut [u8; 8], small: &[u32; 2]) {
        for index in 0..8 { data[index] ^= small[index & 1] as u8; }
    }
    fn last(data: &[u8]) -> u32 { data[data.len() - 1] as u32 }
";

/// Runs a kernel over a cell whose data comes from an array and goes back to it, after `arrange`.
fn cell(arrange: impl Fn(&mut Module, Type, FunctionId) -> Type, detached: bool) -> Vec<u8> {
    let mut sources = SourceMap::new();
    let module = gbxcule_front_rust::lower(&[("src/cell.rs", CELL)], &["Cell::run"], &mut sources);
    let mut module = module.expect("the subset");
    let run = module.find("Cell::run").expect("lowered");
    let ty = module.functions[run].params[0].ty;
    let ty = arrange(&mut module, ty, run);
    let (bytes, words) = (module.types.array(Type::U8, 1), module.types.array(Type::U32, 1));
    let params =
        vec![Param::value("data", bytes), Param::value("from", bytes), Param::value("out", words)];
    let kernel = module.declare_kernel("run", params);
    let mut b = Builder::new(&mut module, kernel);
    let local = b.local("cell", ty);
    let cell = b.local_place(local);
    let data = b.field(cell, 1);
    let all = |b: &mut Builder<'_>, inwards: bool| {
        for index in 0..8 {
            let index = b.i32(index);
            let outer = b.param_place(0);
            let (own, outer) = (b.at(data, index), b.element(outer, &[index]));
            let (from, to) = if inwards { (outer, own) } else { (own, outer) };
            let value = b.load(from);
            b.store(to, value);
        }
    };
    let (from, rounds) = (b.arg(1), b.literal(Literal::int(Scalar::U32, 5)));
    let args = if detached {
        let handle = b.arg(0);
        b.store(data, handle);
        let carried = b.field(cell, 3);
        b.store(carried, from);
        vec![Arg::Place(cell), Arg::Value(rounds)]
    } else {
        all(&mut b, true);
        vec![Arg::Place(cell), Arg::Value(from), Arg::Value(rounds)]
    };
    let result = b.call(run, &args);
    if !detached {
        all(&mut b, false);
    }
    let zero = b.i32(0);
    let out = b.param_place(2);
    let out = b.element(out, &[zero]);
    b.store(out, result);
    b.finish();
    let module = pass::rechecked(module);
    let mut machine = interp::Interpreter::new(&module);
    let memory = &mut machine.memory;
    let buffers = [vec![9, 8, 7, 6, 5, 4, 3, 2], vec![11, 22, 33, 44], vec![0; 4]]
        .map(|content: Vec<u8>| memory.add(content));
    let args = buffers.iter().zip([8, 4, 1]).zip([1, 1, 4]);
    let args: Vec<interp::Argument> =
        args.map(|((&it, len), size)| interp::Array::dense(it, size, &[len]).into()).collect();
    machine.launch(kernel, &[1], &args).expect("no fault");
    buffers.iter().flat_map(|&it| machine.memory.bytes(it).to_vec()).collect()
}

#[test]
fn detached_arrays_and_carried_handles_mean_the_same() {
    let expected = cell(|_, ty, _| ty, false);
    let detach_and_carry = |module: &mut Module, ty: Type, run: FunctionId| {
        let ty = detach::fields(module, ty, &[1]).expect("an array that can be detached");
        let ty = carry::handles(module, ty, &["from"], &[(run, vec![1])]);
        let note = &module.functions[module.find("Cell::note").expect("called")];
        assert_eq!(note.params.len(), 2, "what the cell holds is passed no more");
        ty
    };
    assert_eq!(cell(detach_and_carry, true), expected);
    let all = |module: &mut Module, ty: Type, run: FunctionId| {
        let ty = detach_and_carry(module, ty, run);
        promote::run(module, run, 0, promote::FieldSelection::InLoops, &[]);
        ty
    };
    assert_eq!(cell(all, true), expected);
}

#[test]
fn fields_that_cannot_be_detached_are_refused() {
    for (body, why) in [
        ("s.data = [0; 4];", "assigned as a whole"),
        ("let copy = s.data; s.sum = copy[0] as u32;", "copied as a whole"),
    ] {
        let text = format!(
            "pub struct S {{ sum: u32, data: [u8; 4] }} pub fn run(s: &mut S) {{ {body} }}"
        );
        let mut sources = SourceMap::new();
        let lowered = gbxcule_front_rust::lower(&[("src/s.rs", &text)], &["run"], &mut sources);
        let mut module = lowered.expect("the subset");
        let ty = module.functions[module.find("run").expect("lowered")].params[0].ty;
        let refusal = detach::fields(&mut module, ty, &[1]).expect_err("a refusal");
        assert!(refusal.message.contains(why), "{}", refusal.message);
        let refusal = detach::fields(&mut module, ty, &[0]).expect_err("a refusal");
        assert!(refusal.message.contains("`sum` is not an array in place"), "{}", refusal.message);
    }
}

#[test]
fn a_detached_array_is_reached_through_whatever_holds_its_struct() {
    let text = "
        pub struct S { sum: u32, data: [u8; 4] }
        pub struct Pair { cells: [S; 2], one: S }
        pub fn run(pair: &mut Pair, n: usize) -> u32 {
            pair.cells[n & 1].data[n & 3] = 7;
            pair.one.data[2] = pair.cells[0].data[1];
            pair.one.sum + pair.one.data[n & 3] as u32
        }";
    let mut sources = SourceMap::new();
    let lowered = gbxcule_front_rust::lower(&[("src/s.rs", text)], &["run"], &mut sources);
    let mut module = lowered.expect("the subset");
    let pair = module.functions[module.find("run").expect("lowered")].params[0].ty;
    let Shape::Struct(pair) = module.types[pair] else { panic!("a struct") };
    let ty = module.types.structure(pair).fields[1].ty;
    detach::fields(&mut module, ty, &[1]).expect("an array that can be detached");
    // `check` refuses the module unless the array's elements are those of a handle.
    pass::rechecked(module);
}

/// Interpreter of a program of bytes: opcode 1 adds, 2 jumps back while it counts, 3 waits.
const INTERPRETER: &str = "
    #[derive(Clone, Copy)]
    pub struct Cpu { sp: u16, pc: u16, now: u32, a: u8 }
    pub struct Box { cpu: Cpu, deadline: u32, slow: u32 }
    impl Box {
        pub fn run(&mut self, from: &[u8]) -> u32 {
            let mut cpu = self.cpu;
            let mut opcode = self.fetch(&mut cpu, from);
            loop {
                match opcode {
                    0 => { cpu.sp = cpu.sp.wrapping_sub(1); }
                    1 => { cpu.a = cpu.a.wrapping_add(3); }
                    2 => { if cpu.a < 200 { cpu.pc = 0; } }
                    3 => { self.deadline = cpu.now; }
                    _ => { cpu.now = cpu.now.wrapping_add(9); }
                }
                cpu.now = cpu.now.wrapping_add(1);
                if cpu.now >= self.deadline { break; }
                opcode = self.fetch(&mut cpu, from);
            }
            self.cpu = cpu;
            self.deadline += 50;
            cpu.now ^ (cpu.a as u32) << 24 ^ (cpu.pc as u32) << 12 ^ self.slow << 8 ^ cpu.sp as u32
        }
        #[inline(always)]
        fn fetch(&mut self, cpu: &mut Cpu, from: &[u8]) -> u8 {
            let value = if (cpu.pc as usize) < from.len() { from[cpu.pc as usize] }
                else { self.elsewhere(cpu.pc) };
            cpu.pc = cpu.pc.wrapping_add(1);
            value
        }
        #[inline(never)]
        fn elsewhere(&mut self, pc: u16) -> u8 { self.slow += 1; if pc > 9 { 3 } else { 4 } }
    }
";

/// Results of three calls of `INTERPRETER` over one program, before or after the pass.
fn interpreted(program: &[u8], is_scheduled: bool) -> Vec<u8> {
    let mut sources = SourceMap::new();
    let lowered =
        gbxcule_front_rust::lower(&[("src/cpu.rs", INTERPRETER)], &["Box::run"], &mut sources);
    let module = pass::simplify(pass::rechecked(lowered.expect("the subset")));
    let mut module = module.into_inner();
    let run = module.find("Box::run").expect("lowered");
    promote::run(&mut module, run, 0, promote::FieldSelection::InLoops, &[]);
    widen::run(&mut module, run);
    if is_scheduled {
        let position = lowest_first::Position {
            high: "cpu_sp",
            low: "cpu_pc",
            changing: &["cpu_pc", "cpu_a"],
        };
        assert!(lowest_first::run(&mut module, run, position, &[2]));
        let text = print::function(&module, &module.functions[run]);
        // A choice takes two minima; the call stands at the beginning, and after the burst.
        assert_eq!(text.matches("lowest %").count(), 2, "{text}");
        assert_eq!(text.matches("Box::elsewhere(").count(), 2, "{text}");
    }
    let cell = module.functions[run].params[0].ty;
    let [bytes, words] = [Type::U8, Type::U32].map(|of| module.types.array(of, 1));
    let params = vec![Param::value("from", bytes), Param::value("out", words)];
    let kernel = module.declare_kernel("run", params);
    let mut b = Builder::new(&mut module, kernel);
    let local = b.local("cell", cell);
    let cell = b.local_place(local);
    let from = b.arg(0);
    for at in 0..3 {
        let (result, at) = (b.call(run, &[Arg::Place(cell), Arg::Value(from)]), b.i32(at));
        let out = b.param_place(1);
        let out = b.element(out, &[at]);
        b.store(out, result);
    }
    b.finish();
    let module = pass::rechecked(module);
    let mut machine = interp::Interpreter::new(&module);
    let buffers = [program.to_vec(), vec![0; 12]].map(|it| machine.memory.add(it));
    let args = [(buffers[0], 1, program.len() as u32), (buffers[1], 4, 3)];
    let args = args.map(|(it, size, len)| interp::Array::dense(it, size, &[len]).into());
    machine.launch(kernel, &[1], &args).expect("no fault");
    machine.memory.bytes(buffers[1]).to_vec()
}

#[test]
fn a_thread_alone_does_not_notice_that_the_lowest_goes_first() {
    let programs: [&[u8]; 5] =
        [&[1, 2], &[1, 0, 1, 2, 1, 2, 3, 1], &[3, 3, 3], &[7, 0, 0, 2, 9, 1], &[0]];
    let mut seen = std::collections::BTreeSet::new();
    for program in programs {
        let plain = interpreted(program, false);
        assert_eq!(interpreted(program, true), plain, "{program:?}");
        seen.insert(plain);
    }
    assert_eq!(seen.len(), programs.len());
}

#[test]
fn loops_of_another_shape_are_left_alone() {
    for body in [
        "while pc < 9 { match pc { 1 => { pc += 2; } _ => { pc += 1; } } }",
        "loop { pc += sp; if pc > 90 { break; } }",
        "loop { match pc { 1 => { pc += 2; continue; } _ => { pc += 1; } } if pc > 90 { break; } }",
    ] {
        let text = format!("pub fn run(sp: u32) -> u32 {{ let mut pc = sp; {body} pc }}");
        let mut sources = SourceMap::new();
        let lowered = gbxcule_front_rust::lower(&[("src/run.rs", &text)], &["run"], &mut sources);
        let mut module = lowered.expect("the subset");
        let run = module.find("run").expect("lowered");
        let before = print::module(&module);
        let position = lowest_first::Position { high: "pc", low: "pc", changing: &["pc"] };
        assert!(!lowest_first::run(&mut module, run, position, &[1]), "{body}");
        assert_eq!(print::module(&module), before);
    }
}

#[test]
fn known_elements_are_not_kept_in_variables() {
    let text = "pub struct S { sum: u32, four: [u32; 4] }
        pub fn run(s: &mut S) { for at in 0..9u32 { s.sum += s.four[(at & 3) as usize]; } }";
    let mut sources = SourceMap::new();
    let lowered = gbxcule_front_rust::lower(&[("src/run.rs", text)], &["run"], &mut sources);
    let mut module = lowered.expect("the subset");
    let run = module.find("run").expect("lowered");
    let value = Literal::int(Scalar::U32, 77);
    let known = promote::KnownElements { field: 1, from: 2, value };
    promote::run(&mut module, run, 0, promote::FieldSelection::InLoops, &[known]);
    let module = pass::rechecked(module);
    let function = &module.functions[run];
    let kept = function.body.locals.iter().filter(|(_, local)| local.name == "kept").count();
    let text = print::function(&module, function);
    assert_eq!(kept, 3, "sum, and two elements\n{text}");
    assert!(text.contains("77u32"), "{text}");
}
