//! The PPU's shortcuts against the dot-by-dot pipeline: the picture and the length of mode 3 of a
//! whole line, and that timing does not depend on whether the PPU is read.

// The Color runs these, too.
#[cfg(color)]
extern crate gbxcule_gameboy_color as gbxcule_gameboy;

#[cfg(color)]
use gbxcule_gameboy::machine::is_before;
use gbxcule_gameboy::ppu::{
    LCDC_ON, LineProgress, draw_line, mode3_end, read_ppu, read_vram, run_pipeline, schedule_ppu,
    start_pipeline, sync_ppu_now,
};
use gbxcule_gameboy::{Cartridge, Machine};
use proptest::prelude::*;

#[path = "hardware/noise.rs"]
mod noise;

/// A machine that stands right before the end of mode 2 on some line, with everything random that
/// the line depends on.
#[derive(Clone, Debug)]
struct Scene {
    seed: u64,
    registers: [u8; 9],
    line: u8,
    wy_met: bool,
    objects: u8,
}

fn scenes() -> impl Strategy<Value = Scene> {
    let window_x = prop_oneof![3 => 7u8..168, 1 => any::<u8>()];
    (any::<u64>(), any::<[u8; 9]>(), window_x, 0u8..144, any::<bool>(), 0u8..14).prop_map(
        |(seed, mut registers, wx, line, wy_met, objects)| {
            registers[8] = wx;
            Scene { seed, registers, line, wy_met, objects }
        },
    )
}

fn machine() -> (Machine, Vec<u8>) {
    let rom = gbxcule_assembler::by_name("HALT_IDLE").expect("a ROM of the suite").bytes().to_vec();
    let cartridge = Cartridge::from_rom(&rom).expect("a valid header");
    (Machine::power_on(&cartridge), rom)
}

fn stage_scene(scene: &Scene) -> Machine {
    let (mut machine, _) = machine();
    let mut random = noise::bytes(scene.seed);
    machine.vram.fill_with(&mut random);
    machine.oam.fill(0);
    for object in 0..scene.objects as usize {
        machine.oam[object * 4] = scene.line.wrapping_add(16).wrapping_sub(random() % 10);
        machine.oam[object * 4 + 1] = random() % 180;
        machine.oam[object * 4 + 2] = random();
        machine.oam[object * 4 + 3] = random();
    }
    let ppu = &mut machine.ppu;
    let [lcdc, scy, scx, bgp, obp0, obp1, window_line, wy, wx] = scene.registers;
    ppu.lcdc = lcdc | LCDC_ON;
    (ppu.scy, ppu.scx, ppu.bgp, ppu.obp0, ppu.obp1) = (scy, scx, bgp, obp0, obp1);
    (ppu.wy, ppu.wx, ppu.wy_met) = (wy, wx, scene.wy_met);
    ppu.window_line = window_line % (scene.line + 1);
    (ppu.beam.line, ppu.beam.dot, ppu.draw) = (scene.line, 85, true);
    #[cfg(color)]
    {
        ppu.palettes.background.fill_with(&mut random);
        ppu.palettes.object.fill_with(&mut random);
        (ppu.compatible, ppu.sorts_by_x) = (random() & 3 == 0, random() & 1 == 0);
        ppu.drawn_wy = wy;
        ppu.pipeline.last_high = random();
    }
    machine
}

/// Bytes that the fetcher has read when a line is over: a later line may show them.
#[cfg(color)]
fn last_fetch(machine: &Machine) -> [u8; 5] {
    let last = &machine.ppu.pipeline;
    [last.tile, last.tile_attributes, last.data_low, last.data_high, last.last_high]
}

/// The original's fetcher always reads a tile before it shows one.
#[cfg(not(color))]
fn last_fetch(_machine: &Machine) -> [u8; 0] {
    []
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_whole_line_has_the_pixels_and_the_length_of_the_pipeline(scene in scenes()) {
        assert_whole_line_is_the_pipelines(&scene);
    }
}

fn assert_whole_line_is_the_pipelines(scene: &Scene) {
    let mut whole = stage_scene(scene);
    let mut dots = stage_scene(scene);
    let predicted_end = mode3_end(&mut whole);
    draw_line(&mut whole);
    if whole.ppu.stage == LineProgress::Rendering {
        run_pipeline(&mut whole, 456);
    }
    start_pipeline(&mut dots);
    run_pipeline(&mut dots, 456);
    assert_eq!(predicted_end, dots.ppu.mode3_end);
    assert_eq!(&whole.frame[..], &dots.frame[..]);
    assert_eq!(whole.ppu.window_line, dots.ppu.window_line);
    assert_eq!(last_fetch(&whole), last_fetch(&dots));
}

/// A window that covers the whole line leaves no column of the background.
#[test]
fn a_window_from_the_left_edge_on_hides_objects_behind_it() {
    for (seed, wx) in (0..32).flat_map(|seed| (0..8).map(move |wx| (seed, wx))) {
        let registers = [0xf3, 0, 0, 0xe4, 0xe4, 0x1b, 0, 0, wx];
        let scene = Scene { seed, registers, line: 9, wy_met: true, objects: 10 };
        assert_whole_line_is_the_pipelines(&scene);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn eight_dots_at_once_leave_what_eight_single_dots_leave(
        scene in scenes(),
        changes in prop::collection::vec((90u16..400, 0usize..9, any::<u8>()), 0..6),
    ) {
        let mut octets = stage_scene(&scene);
        let mut singles = octets;
        start_pipeline(&mut octets);
        start_pipeline(&mut singles);
        let mut changes = changes;
        changes.sort_by_key(|change| change.0);
        for (dot, register, value) in changes.into_iter().chain([(456, 0, 0x91)]) {
            run_pipeline(&mut octets, dot);
            for until in 90..=dot {
                run_pipeline(&mut singles, until);
            }
            for machine in [&mut octets, &mut singles] {
                let ppu = &mut machine.ppu;
                match register {
                    0 => ppu.lcdc = value | LCDC_ON,
                    1 => ppu.scy = value,
                    2 => ppu.scx = value,
                    3 => ppu.bgp = value,
                    4 => ppu.obp0 = value,
                    5 => ppu.obp1 = value,
                    6 => ppu.wx = value % 168,
                    7 => ppu.wy_met = value & 1 != 0,
                    _ => machine.vram[usize::from(value) * 32] ^= value,
                }
            }
        }
        prop_assert_eq!(&octets.frame[..], &singles.frame[..]);
        prop_assert_eq!(octets.ppu, singles.ppu);
    }
}

/// One of so many writes goes to a register that only the Color has.
const COLOR_WRITES: u32 = if cfg!(color) { 4 } else { 1 };

/// Random writes to the PPU's registers, VRAM and OAM at random moments of a frame.
fn disturbances() -> impl Strategy<Value = Vec<(u32, u16, u8)>> {
    let address = prop_oneof![
        6 => prop::sample::select(vec![0xff41u16, 0xff42, 0xff43, 0xff45, 0xff47, 0xff48, 0xff4a, 0xff4b]),
        3 => Just(0xff40u16),
        1 => 0x8000u16..0xa000,
        1 => 0xfe00u16..0xfea0,
        1 => Just(0xff46u16),
        COLOR_WRITES => prop::sample::select(vec![0xff4fu16, 0xff68, 0xff69, 0xff6a, 0xff6b, 0xff6c]),
    ];
    prop::collection::vec((0u32..17_556, address, any::<u8>()), 0..120)
}

/// Runs one frame from LY 144 on with the writes made, and gives what the CPU could see of the PPU.
fn observe(draw: bool, scene: &Scene, writes: &[(u32, u16, u8)]) -> (Vec<u8>, Machine) {
    let (_, rom) = machine();
    let mut machine = stage_scene(scene);
    machine.ppu.draw = draw;
    machine.ppu.beam.line_start = machine.tcycles().wrapping_sub(85);
    let begin = machine.now;
    let mut seen = Vec::new();
    for &(at, address, value) in writes {
        machine.now = begin + at;
        let value = if address == 0xff40 { value | LCDC_ON } else { value };
        machine.poke(&rom, &mut [], address, value);
        seen.push(read_ppu(&mut machine, 0x41));
        seen.push(read_ppu(&mut machine, 0x44));
        seen.push(read_vram(&mut machine, 0x8000 | u16::from(value)));
        seen.push(machine.interrupts.requested);
    }
    machine.now = begin + 40_000;
    sync_ppu_now(&mut machine);
    // As the service does that is due at each deadline.
    schedule_ppu(&mut machine);
    seen.push(machine.interrupts.requested);
    (seen, machine)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn what_the_cpu_sees_does_not_depend_on_drawing(
        scene in scenes(),
        mut writes in disturbances(),
    ) {
        writes.sort_by_key(|write| write.0);
        let (drawn, mut drawn_machine) = observe(true, &scene, &writes);
        let (skipped, skipped_machine) = observe(false, &scene, &writes);
        prop_assert_eq!(drawn, skipped);
        // Fields that only the picture needs may differ.
        drawn_machine.frame = skipped_machine.frame;
        drawn_machine.ppu.draw = false;
        // The next service computes the deadline anew.
        drawn_machine.deadline = skipped_machine.deadline;
        drawn_machine.ppu.pipeline = skipped_machine.ppu.pipeline;
        drawn_machine.ppu.scan = skipped_machine.ppu.scan;
        drawn_machine.ppu.window_line = skipped_machine.ppu.window_line;
        (drawn_machine.ppu.stage, drawn_machine.ppu.mode3_end) =
            (skipped_machine.ppu.stage, skipped_machine.ppu.mode3_end);
        #[cfg(color)]
        {
            drawn_machine.ppu.hblank_until = skipped_machine.ppu.hblank_until;
        }
        let difference = drawn_machine.first_difference(&skipped_machine).map(|it| it.to_string());
        prop_assert_eq!(difference, None);
        prop_assert!(drawn_machine == skipped_machine);
    }
}

/// On the Color the next line notices it.
#[test]
fn a_window_that_is_enabled_within_its_line_is_met_whether_or_not_lines_are_drawn() {
    let registers = [0, 0, 0, 0, 0, 0, 0, 33, 7];
    let scene = Scene { seed: 0, registers, line: 141, wy_met: false, objects: 0 };
    // In mode 3 of line 33; thirty lines later the window still makes mode 3 longer.
    let writes = [(5_225, 0xff40, 0x60), (8_707, 0xff41, 0)];
    let (drawn, _) = observe(true, &scene, &writes);
    let (skipped, _) = observe(false, &scene, &writes);
    assert_eq!(drawn, skipped);
}

/// The line before is scanned as it ends, between two steps of the write.
#[test]
fn objects_that_shrink_as_a_line_begins_are_scanned_anew_whether_or_not_lines_are_drawn() {
    let registers = [52, 0, 6, 0, 0, 0, 0, 0, 7];
    let seed = 6_243_794_811_776_578_562;
    let scene = Scene { seed, registers, line: 0, wy_met: false, objects: 8 };
    let writes = [(93, 0xff40, 0x58), (278, 0xff41, 0)];
    let (drawn, _) = observe(true, &scene, &writes);
    let (skipped, _) = observe(false, &scene, &writes);
    assert_eq!(drawn, skipped);
}

/// Draws some frames with the writes made, up to a moment; the PPU is brought up to date every so
/// many M-cycles.
fn draw(scene: &Scene, writes: &[(u32, u16, u8)], end: u32, step: u32) -> Machine {
    let (_, rom) = machine();
    let mut machine = stage_scene(scene);
    machine.ppu.beam.line_start = machine.tcycles().wrapping_sub(85);
    let begin = machine.now;
    let mut at = 0;
    for &(moment, address, value) in writes.iter().chain([&(end, 0xff42, 0)]) {
        while moment - at > step {
            at += step;
            machine.now = begin + at;
            sync_ppu_now(&mut machine);
        }
        at = moment;
        machine.now = begin + at;
        let value = if address == 0xff40 { value | LCDC_ON } else { value };
        machine.write_slow(&rom, &mut [], begin + at, address, value);
    }
    // As the service does that is due at each deadline.
    schedule_ppu(&mut machine);
    machine.deadline = machine.ppu.deadline;
    #[cfg(color)]
    {
        // An HBlank is found at a write, if the PPU has come to it.
        machine.ppu.hblank_until = machine.now;
    }
    // Places of the scan that no object has.
    let scan = &mut machine.ppu.scan;
    let count = usize::from(scan.count);
    for places in [&mut scan.x, &mut scan.y, &mut scan.entry] {
        places[count..].fill(0);
    }
    machine
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn lines_drawn_together_are_those_drawn_one_by_one(
        scene in scenes(),
        mut writes in disturbances(),
        some in 0usize..8,
    ) {
        // Few of them, so that whole lines lie between; nothing ends OAM DMA in time here.
        writes.retain(|write| write.1 != 0xff46);
        writes.truncate(some);
        writes.sort_by_key(|write| write.0);
        let together = draw(&scene, &writes, 40_000, 50_000);
        let one_by_one = draw(&scene, &writes, 40_000, 90);
        prop_assert_eq!(&together.frame[..], &one_by_one.frame[..]);
        let difference = together.first_difference(&one_by_one).map(|it| it.to_string());
        prop_assert_eq!(difference, None);
        prop_assert!(together == one_by_one);
    }
}

/// Rare writes of many frames, most of them to memory.
fn rare_writes() -> impl Strategy<Value = Vec<(u32, u16, u8)>> {
    let registers = [0xff40u16, 0xff42, 0xff43, 0xff45, 0xff47, 0xff48, 0xff49, 0xff4a, 0xff4b];
    let address = prop_oneof![
        2 => prop::sample::select(registers.to_vec()),
        3 => 0x8000u16..0x9800,
        3 => 0x9800u16..0xa000,
        3 => 0xfe00u16..0xfea0,
        COLOR_WRITES - 1 => prop::sample::select(vec![0xff4fu16, 0xff68, 0xff69, 0xff6a, 0xff6b]),
    ];
    prop::collection::vec((0u32..150_000, address, any::<u8>()), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(color) { 100 } else { 300 }))]

    #[test]
    fn lines_that_are_kept_are_those_drawn_anew(scene in scenes(), mut writes in rare_writes()) {
        writes.sort_by_key(|write| write.0);
        for end in [160_030, 80_000, 40_000] {
            writes.retain(|write| write.0 < end);
            // The Color also keeps a line that is drawn alone. Mode 3 does not go on at an end.
            let by_dots = cfg!(color);
            let kept = draw(&scene, &writes, end, 200_000);
            let anew = if by_dots {
                draw_frames(&scene, &writes, end, true)
            } else {
                draw(&scene, &writes, end, 90)
            };
            prop_assert_eq!(&kept.frame[..], &anew.frame[..]);
        }
    }
}

/// Draws some frames with the writes made, either all lines dot by dot or only those that are
/// disturbed.
fn draw_frames(scene: &Scene, writes: &[(u32, u16, u8)], end: u32, all_by_dots: bool) -> Machine {
    let (_, rom) = machine();
    let mut machine = stage_scene(scene);
    machine.ppu.beam.line_start = machine.tcycles().wrapping_sub(85);
    let begin = machine.now;
    let mut writes = writes.iter().peekable();
    for at in 0..end {
        machine.now = begin + at;
        // A write may take effect a dot before its moment, so the PPU must not be there yet.
        if all_by_dots && writes.peek().is_none_or(|write| write.0 != at) {
            sync_ppu_now(&mut machine);
            let ppu = &machine.ppu;
            if ppu.stage == LineProgress::Untouched && ppu.beam.line < 144 && ppu.beam.dot > 88 {
                start_pipeline(&mut machine);
            }
        }
        while let Some((_, address, value)) = writes.next_if(|write| write.0 == at) {
            let value = if *address == 0xff40 { value | LCDC_ON } else { *value };
            machine.write_slow(&rom, &mut [], begin + at, *address, value);
        }
    }
    sync_ppu_now(&mut machine);
    machine
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn pictures_do_not_show_which_lines_were_drawn_dot_by_dot(
        scene in scenes(),
        mut writes in disturbances(),
        some in 0usize..40,
    ) {
        writes.retain(|write| write.1 != 0xff46);
        writes.truncate(some);
        writes.sort_by_key(|write| write.0);
        let all = draw_frames(&scene, &writes, 40_000, true);
        let disturbed = draw_frames(&scene, &writes, 40_000, false);
        prop_assert_eq!(&all.frame[..], &disturbed.frame[..]);
        prop_assert_eq!(all.interrupts, disturbed.interrupts);
    }
}

#[test]
fn after_a_frame_the_state_does_not_show_whether_it_was_drawn() {
    for entry in gbxcule_assembler::all() {
        let mut rom = entry.bytes().to_vec();
        let cartridge = Cartridge::from_rom(&rom).expect("a valid header");
        rom.resize(cartridge.padded_len(), 0xff);
        let mut drawn = Machine::power_on(&cartridge);
        let mut skipped = drawn;
        let mut drawn_ram = vec![0; cartridge.ram_bytes as usize];
        let mut skipped_ram = drawn_ram.clone();
        for frame in 0..200u32 {
            let pressed = (frame.wrapping_mul(2_654_435_761) >> 24) as u8;
            drawn.set_buttons(pressed);
            skipped.set_buttons(pressed);
            drawn.run_frame(&rom, &mut drawn_ram, true);
            skipped.run_frame(&rom, &mut skipped_ram, frame % 7 == 0);
            skipped.frame = drawn.frame;
            let difference = drawn.first_difference(&skipped).map(|it| it.to_string());
            assert_eq!(difference, None, "{}, frame {frame}", entry.name);
            assert!(drawn == skipped, "{}, frame {frame}", entry.name);
        }
        assert_eq!(drawn_ram, skipped_ram);
    }
}

/// Makes the PPU scan the present line and the next one anew.
#[cfg(color)]
fn scan_anew(machine: &mut Machine) {
    let ppu = &mut machine.ppu;
    if ppu.scan.entries > 40 {
        if ppu.beam.line < 144 && ppu.beam.dot < 84 {
            ppu.scan.restart();
        } else {
            ppu.scan.entries = 40;
        }
        schedule_ppu(machine);
        if is_before(machine.ppu.deadline, machine.deadline) {
            machine.deadline = machine.ppu.deadline;
        }
    }
}

#[cfg(color)]
proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn objects_kept_from_the_line_before_are_those_of_a_new_scan(
        scene in scenes(),
        mut writes in disturbances(),
    ) {
        writes.sort_by_key(|write| write.0);
        let seen = [false, true].map(|anew| {
            let (_, rom) = machine();
            let mut machine = stage_scene(&scene);
            machine.ppu.beam.line_start = machine.tcycles().wrapping_sub(85);
            let begin = machine.now;
            let mut seen = Vec::new();
            for &(at, address, value) in &writes {
                machine.now = begin + at;
                sync_ppu_now(&mut machine);
                if anew {
                    scan_anew(&mut machine);
                }
                let value = if address == 0xff40 { value | LCDC_ON } else { value };
                machine.poke(&rom, &mut [], address, value);
                seen.push(read_ppu(&mut machine, 0x41));
                seen.push(machine.interrupts.requested);
            }
            seen
        });
        prop_assert_eq!(&seen[0], &seen[1]);
    }
}

/// The game's interrupts in HBlank come on the dot, though their time is known a line before.
#[cfg(color)]
#[test]
fn hblank_comes_as_after_a_new_scan() {
    let rom = gbxcule_assembler::by_name("AMBER_ROAD").expect("a built-in game").bytes();
    let cartridge = Cartridge::from_rom(rom).expect("a valid header");
    let mut rom = rom.to_vec();
    rom.resize(cartridge.padded_len(), 0xff);
    let mut kept = Machine::power_on(&cartridge);
    let mut anew = kept;
    for frame in 0..90u32 {
        // START, then the buttons one after the other.
        let buttons = if frame % 8 < 4 { 0x80u8.rotate_left(frame / 8) } else { 0 };
        kept.set_buttons(buttons);
        anew.set_buttons(buttons);
        kept.run_frame(&rom, &mut [], frame % 16 == 0);
        anew.begin_frame(frame % 16 == 0);
        while !anew.frame_done {
            sync_ppu_now(&mut anew);
            scan_anew(&mut anew);
            anew.run_instruction(&rom, &mut []);
        }
        let difference = kept.first_difference(&anew).map(|it| it.to_string());
        assert_eq!(difference, None, "frame {frame}");
    }
}
