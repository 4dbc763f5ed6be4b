//! Windows: reads of a program through a window return the bytes that reads of each address return.

use gbxcule_interp as interp;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Arg, Builder, Literal, Param, Scalar, Type};
use gbxcule_passes::pass::{self, lowest_first, promote, widen, window};

/// Interpreter that sees its program through two windows: opcode 1 reads an operand, 2 and 3 jump,
/// 4 to 6 change the upper window, 7 counts down.
const WINDOWED: &str = "
    #[derive(Clone, Copy)]
    pub struct Cpu { sp: u16, pc: u16, now: u32, a: u32 }
    pub struct Box { cpu: Cpu, deadline: u32, base: [u32; 4], slow: u32 }
    impl Box {
        pub fn run(&mut self, from: &[u8], start: u16) -> u32 {
            self.reset();
            let mut cpu = self.cpu;
            cpu.pc = start;
            let mut opcode = self.fetch(&mut cpu, from);
            loop {
                match opcode & 7 {
                    0 => { cpu.sp = cpu.sp.wrapping_sub(1); }
                    1 => { let n = self.fetch(&mut cpu, from); cpu.a = cpu.a * 31 + n as u32; }
                    2 => { let n = self.fetch(&mut cpu, from); cpu.pc = (n as u16) << 8 | cpu.a as u16 & 63; }
                    3 => { cpu.pc = cpu.pc ^ 0x4000; }
                    4 => { self.choose(0x4000); }
                    5 => { self.choose(0x8000); }
                    6 => { self.choose(0xc000); }
                    _ => { cpu.pc = cpu.pc.wrapping_sub(9); cpu.now = cpu.now.wrapping_add(2); }
                }
                cpu.now = cpu.now.wrapping_add(1);
                if cpu.now >= self.deadline { break; }
                opcode = self.fetch(&mut cpu, from);
            }
            self.cpu = cpu;
            cpu.a ^ (cpu.pc as u32) << 12 ^ self.slow << 8 ^ cpu.sp as u32
        }
        #[inline(always)]
        fn fetch(&mut self, cpu: &mut Cpu, from: &[u8]) -> u8 {
            let offset = self.base[(cpu.pc >> 14) as usize].wrapping_add(cpu.pc as u32) as usize;
            let value = if offset < from.len() { from[offset] } else { self.elsewhere(from, cpu.pc) };
            cpu.pc = cpu.pc.wrapping_add(1);
            value
        }
        #[inline(never)]
        fn elsewhere(&mut self, from: &[u8], pc: u16) -> u8 {
            let offset = self.base[(pc >> 14) as usize].wrapping_add(pc as u32) as usize;
            if offset < from.len() {
                from[offset]
            } else {
                self.slow += 1;
                (pc >> 3) as u8 ^ pc as u8
            }
        }
        #[inline(never)]
        fn reset(&mut self) {
            self.base[0] = 0;
            self.base[1] = 0;
            self.base[2] = 0x80000000;
            self.base[3] = 0x80000000;
            self.deadline = 500;
        }
        #[inline(never)]
        fn choose(&mut self, bank: u32) { self.base[1] = bank.wrapping_sub(0x4000); }
    }
";

/// Result of `WINDOWED` over a program, before or after the passes.
fn windowed(program: &[u8], start: u16, has_windows: bool) -> Vec<u8> {
    let mut sources = SourceMap::new();
    let lowered =
        gbxcule_front_rust::lower(&[("src/cpu.rs", WINDOWED)], &["Box::run"], &mut sources);
    let module = pass::simplify(pass::rechecked(lowered.expect("the subset")));
    let mut module = module.into_inner();
    let run = module.find("Box::run").expect("lowered");
    if has_windows {
        let value = Literal::int(Scalar::U32, 0x8000_0000);
        let known = promote::KnownElements { field: 2, from: 2, value };
        promote::run(&mut module, run, 0, promote::FieldSelection::InLoops, &[known]);
        widen::run(&mut module, run);
        assert_eq!(window::run(&mut module, run, "cpu_pc"), 3, "two operands and the opcode");
        let position = lowest_first::Position {
            high: "cpu_sp",
            low: "cpu_pc",
            changing: &["cpu_pc", "cpu_now"],
        };
        assert!(lowest_first::run(&mut module, run, position, &[2, 3]));
    }
    let cell = module.functions[run].params[0].ty;
    let [bytes, words] = [Type::U8, Type::U32].map(|of| module.types.array(of, 1));
    let params = vec![
        Param::value("from", bytes),
        Param::value("start", Type::U16),
        Param::value("out", words),
    ];
    let kernel = module.declare_kernel("run", params);
    let mut b = Builder::new(&mut module, kernel);
    let local = b.local("cell", cell);
    let cell = b.local_place(local);
    let arguments = [Arg::Place(cell), Arg::Value(b.arg(0)), Arg::Value(b.arg(1))];
    let result = b.call(run, &arguments);
    let (out, at) = (b.param_place(2), b.i32(0));
    let out = b.element(out, &[at]);
    b.store(out, result);
    b.finish();
    let module = pass::rechecked(module);
    let mut machine = interp::Interpreter::new(&module);
    let buffers = [program.to_vec(), vec![0; 4]].map(|it| machine.memory.add(it));
    let from = interp::Array::dense(buffers[0], 1, &[program.len() as u32]).into();
    let out = interp::Array::dense(buffers[1], 4, &[1]).into();
    let start = start.into();
    machine.launch(kernel, &[1], &[from, start, out]).expect("no fault");
    machine.memory.bytes(buffers[1]).to_vec()
}

#[test]
fn reads_through_a_window_are_those_of_each_address() {
    let mut state = 7_u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) as u32
    };
    let mut seen = std::collections::BTreeSet::new();
    for length in [0x10000, 0xa123, 0x3ffe] {
        for start in [0x3ffd, 0x7ffe, 0xfffe, 0x5000] {
            // Jumps are few, so that the program also leaves pages at their ends.
            let rare = 6 + random() % 40;
            let program: Vec<u8> = (0..length)
                .map(|_| if random() % rare == 0 { random() as u8 } else { (random() & 1) as u8 })
                .collect();
            let plain = windowed(&program, start, false);
            assert_eq!(windowed(&program, start, true), plain, "{length:x} {start:x}");
            seen.insert(plain);
        }
    }
    assert!(seen.len() > 8, "programs go ways of their own: {}", seen.len());
}
