//! The interrupt of the next line's HBlank, taken in one step by frames, beside the services that
//! take it one after the other. Random programs set up what may be due at the same time.

use gbxcule_gameboy_color::{Cartridge, Machine};
use proptest::prelude::*;

/// Tops of the stack: most programs have it in work RAM, some at an edge.
const STACKS: [u16; 8] = [0xdff0, 0xdff0, 0xcffe, 0xc003, 0xc001, 0xfe00, 0xfffe, 0xff46];

/// `LD A,value; LDH (low),A`
fn store(low: u8, value: u8) -> Vec<u8> {
    vec![0x3e, value, 0xe0, low]
}

/// Instructions of the handler or of the main program.
fn act() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => Just(vec![0x76]),
        4 => any::<u8>().prop_map(|value| store(0x69, value)),
        3 => any::<u8>().prop_map(|value| store(0x43, value)),
        2 => any::<u8>().prop_map(|value| store(0x42, value)),
        1 => any::<u8>().prop_map(|value| store(0x40, value | 0x80)),
        1 => prop::sample::select(vec![0x08, 0x48, 0x28, 0x00]).prop_map(|value| store(0x41, value)),
        1 => (0u8..154).prop_map(|line| store(0x45, line)),
        1 => (4u8..8).prop_map(|value| store(0x07, value)),
        1 => any::<u8>().prop_map(|value| store(0x05, value)),
        1 => Just(store(0x02, 0x81)),
        1 => Just(store(0x46, 0xc1)),
        1 => prop::sample::select(vec![0x80, 0x83, 0x02]).prop_map(|value| store(0x55, value)),
        1 => any::<u8>().prop_map(|value| store(0x0f, value & 0x1f)),
        2 => Just(vec![0xfb]),
        1 => Just(vec![0xf3]),
        2 => Just(vec![0xf0, 0x44]),
        2 => (1u8..40).prop_map(|count| vec![0x06, count, 0x05, 0x20, 0xfd]),
    ]
}

#[derive(Clone, Debug)]
struct Scene {
    handler: Vec<Vec<u8>>,
    main: Vec<Vec<u8>>,
    is_double: bool,
    stack: usize,
    enabled: u8,
    objects: Vec<[u8; 4]>,
}

fn scenes() -> impl Strategy<Value = Scene> {
    let handler = prop::collection::vec(act().prop_filter("no HALT", |act| act[0] != 0x76), 0..3);
    let objects = prop::collection::vec(any::<[u8; 4]>(), 0..40);
    let main = prop::collection::vec(act(), 1..5);
    (
        handler,
        main,
        any::<bool>(),
        0..STACKS.len(),
        prop_oneof![4 => Just(2u8), 1 => any::<u8>()],
        objects,
    )
        .prop_map(|(handler, main, is_double, stack, enabled, objects)| Scene {
            handler,
            main,
            is_double,
            stack,
            enabled,
            objects,
        })
}

impl Scene {
    fn rom(&self) -> Vec<u8> {
        let mut rom = vec![0; 0x8000];
        rom[0x100..0x103].copy_from_slice(&[0xc3, 0x50, 0x01]);
        rom[0x143] = 0x80;
        for handler in (0x40..0x68).step_by(8) {
            rom[handler] = 0xd9;
        }
        rom[0x48..0x4b].copy_from_slice(&[0xc3, 0x00, 0x10]);
        let mut handler = self.handler.concat();
        handler.push(0xd9);
        rom[0x1000..][..handler.len()].copy_from_slice(&handler);
        let stack = STACKS[self.stack].to_le_bytes();
        let mut program = vec![0x31, stack[0], stack[1]];
        if self.is_double {
            program.extend([store(0x4d, 1), vec![0x10, 0x00]].concat());
        }
        program.extend([store(0x68, 0x80), store(0x41, 0x08), store(0xff, self.enabled)].concat());
        program.push(0xfb);
        let begin = program.len();
        program.extend(self.main.concat());
        let back = begin as i32 - program.len() as i32 - 2;
        program.extend([0x18, back as u8]);
        rom[0x150..][..program.len()].copy_from_slice(&program);
        rom
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn an_interrupt_taken_in_one_step_leaves_what_services_leave(scene in scenes()) {
        let rom = scene.rom();
        let mut whole = Machine::power_on(&Cartridge::from_rom(&rom).expect("a good header"));
        for (place, byte) in whole.oam.iter_mut().zip(scene.objects.concat()) {
            *place = byte;
        }
        let mut steps = whole;
        for frame in 0..5 {
            whole.run_frame(&rom, &mut [], frame % 2 == 0);
            steps.begin_frame(frame % 2 == 0);
            while !steps.run_instruction(&rom, &mut []) {}
            let difference = whole.first_difference(&steps).map(|it| it.to_string());
            prop_assert_eq!(difference, None, "frame {}", frame);
            prop_assert!(whole.frame == steps.frame, "the picture of frame {}", frame);
        }
    }
}
