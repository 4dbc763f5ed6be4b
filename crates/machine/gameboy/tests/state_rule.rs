//! Values that a state may hold: for each rule a machine that only just satisfies it and one that
//! only just violates it.

use gbxcule_gameboy::ppu::LineProgress;
use gbxcule_gameboy::timer::FAR_MCYCLES;
use gbxcule_gameboy::{Cartridge, Machine};

/// Frames that chips may be behind, in M-cycles.
const LAG: u32 = 1 << 17;

type Change = fn(&mut Machine);

/// A change that is allowed, some that are not, and how a state with one of these is refused.
type Row = (&'static str, &'static [Change], &'static [Change]);

fn row(rule: &'static str, kept: &'static [Change], broken: &'static [Change]) -> Row {
    (rule, kept, broken)
}

/// An MBC3 with clock and RAM after a few frames.
fn console() -> (Cartridge, Machine, Vec<u8>) {
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x102].copy_from_slice(&[0x18, 0xfe]);
    rom[0x147..0x14a].copy_from_slice(&[0x10, 0x00, 0x03]);
    let cartridge = Cartridge::from_rom(&rom).unwrap();
    let mut ram = vec![0; cartridge.ram_bytes as usize];
    let mut machine = Machine::power_on(&cartridge);
    for _ in 0..40 {
        machine.run_frame(&rom, &mut ram, false);
    }
    (cartridge, machine, ram)
}

fn refusal(change: Change) -> Option<String> {
    let (cartridge, mut machine, mut ram) = console();
    change(&mut machine);
    let mut state = vec![0; machine.state_len(&cartridge)];
    machine.save_state(&cartridge, &ram, &mut state).unwrap();
    Machine::load_state(&cartridge, &state, &mut ram).err().map(|error| error.to_string())
}

fn hold(rows: &[Row]) {
    for (rule, kept, broken) in rows {
        for (index, change) in kept.iter().enumerate() {
            assert_eq!(refusal(*change), None, "{rule}, change {index}");
        }
        for (index, change) in broken.iter().enumerate() {
            let expected = format!("the state is damaged: {rule}");
            assert_eq!(refusal(*change), Some(expected), "change {index}");
        }
    }
}

#[test]
fn times_are_near() {
    hold(&[
        row(
            "frame_start must lie in the last frames",
            &[|m| m.frame_start = m.now - LAG],
            &[|m| m.frame_start = m.now - LAG - 1, |m| m.frame_start = m.now + 1],
        ),
        row(
            "lcd_off_since must lie in the last frames",
            &[|m| m.lcd_off_since = m.now - LAG],
            &[|m| m.lcd_off_since = m.now - LAG - 1, |m| m.lcd_off_since = m.now + 1],
        ),
        row(
            "timer.synced_at must lie in the last frames",
            &[|m| (m.timer.div_base, m.timer.synced_at) = (m.now - 2 * LAG, m.now - LAG)],
            &[|m| (m.timer.div_base, m.timer.synced_at) = (m.now - 2 * LAG, m.now - LAG - 1)],
        ),
        row(
            "serial.synced_at must lie in the last frames",
            &[|m| (m.timer.div_base, m.serial.synced_at) = (m.now - 2 * LAG, m.now - LAG)],
            &[|m| (m.timer.div_base, m.serial.synced_at) = (m.now - 2 * LAG, m.now - LAG - 1)],
        ),
        row(
            "apu.synced_at must lie in the last frames",
            &[|m| (m.timer.div_base, m.apu.synced_at) = (m.now - 2 * LAG, m.now - LAG)],
            &[|m| (m.timer.div_base, m.apu.synced_at) = (m.now - 2 * LAG, m.now - LAG - 1)],
        ),
        row(
            "cart.rtc.synced_at must lie in the last frames",
            &[|m| m.cart.rtc.synced_at = m.now - LAG],
            &[|m| m.cart.rtc.synced_at = m.now - LAG - 1],
        ),
        row(
            "timer.div_base must lie in the last frames",
            &[|m| m.timer.div_base = m.now - 2 * LAG],
            &[|m| m.timer.div_base = m.now - 2 * LAG - 1, |m| m.timer.div_base = m.now + 1],
        ),
        row(
            "timer.div_base must not be later than what is counted from it",
            &[|m| (m.timer.div_base, m.apu.synced_at) = (m.now - 5, m.now - 5)],
            &[
                |m| (m.timer.div_base, m.timer.synced_at) = (m.now - 5, m.now - 6),
                |m| (m.timer.div_base, m.serial.synced_at) = (m.now - 5, m.now - 6),
                |m| (m.timer.div_base, m.apu.synced_at) = (m.now - 5, m.now - 6),
            ],
        ),
        row(
            "timer.overflow_at must lie in the last frames",
            &[
                |m| (m.timer.overflowed, m.timer.overflow_at) = (true, m.now - LAG),
                |m| (m.timer.overflowed, m.timer.overflow_at) = (false, m.now + 1),
            ],
            &[|m| (m.timer.overflowed, m.timer.overflow_at) = (true, m.now + 1)],
        ),
    ]);
}

#[test]
fn deadlines_are_near() {
    hold(&[
        row(
            "deadline must be near",
            &[|m| m.deadline = m.now + FAR_MCYCLES, |m| m.deadline = m.now - LAG],
            &[|m| m.deadline = m.now + FAR_MCYCLES + 1, |m| m.deadline = m.now - LAG - 1],
        ),
        row(
            "timer.deadline must be near",
            &[|m| m.timer.deadline = m.now + 2 * FAR_MCYCLES, |m| m.timer.deadline = m.now - LAG],
            &[
                |m| m.timer.deadline = m.now + 2 * FAR_MCYCLES + 1,
                |m| m.timer.deadline = m.now - LAG - 1,
            ],
        ),
        row(
            "serial.deadline must be near",
            &[|m| m.serial.deadline = m.now + 2 * FAR_MCYCLES, |m| m.serial.deadline = m.now - LAG],
            &[
                |m| m.serial.deadline = m.now + 2 * FAR_MCYCLES + 1,
                |m| m.serial.deadline = m.now - LAG - 1,
            ],
        ),
        row(
            "dma.deadline must be near",
            &[
                |m| m.dma.deadline = m.now + 0x201,
                |m| transfer(m, m.now + 0x200),
                |m| transfer(m, m.now - LAG),
            ],
            &[|m| transfer(m, m.now + 0x201), |m| transfer(m, m.now - LAG - 1)],
        ),
        row(
            "dma.copied must be at most 160",
            &[|m| m.dma.copied = 160],
            &[|m| m.dma.copied = 161, |m| m.dma.copied = 255],
        ),
        row(
            "ppu.deadline must be near",
            &[
                |m| m.ppu.deadline = m.now + LAG,
                |m| m.ppu.deadline = m.now - LAG,
                |m| (m.ppu.lcdc, m.ppu.deadline) = (0, m.now + LAG + 1),
            ],
            &[|m| m.ppu.deadline = m.now + LAG + 1, |m| m.ppu.deadline = m.now - LAG - 1],
        ),
    ]);
}

fn transfer(machine: &mut Machine, deadline: u32) {
    machine.dma.active = true;
    machine.dma.deadline = deadline;
    machine.set_fast_path(false);
}

#[test]
fn the_cpu_and_the_small_chips_have_only_the_bits_that_exist() {
    hold(&[
        row("cpu.now must equal now", &[], &[|m| m.cpu.now += 1]),
        row(
            "rom_base and fast_wram_bytes must be as cart and dma have them",
            &[],
            &[
                |m| m.rom_base[1] += 0x4000,
                |m| m.fast_wram_bytes -= 1,
                |m| (m.dma.active, m.dma.deadline) = (true, m.now),
            ],
        ),
        row(
            "interrupts.requested has no bits 5 to 7",
            &[|m| m.interrupts.requested = 0x1f],
            &[|m| m.interrupts.requested = 0x20, |m| m.interrupts.requested = 0x80],
        ),
        row(
            "timer.tac has no bits 3 to 7",
            &[|m| m.timer.tac = 7],
            &[|m| m.timer.tac = 8, |m| m.timer.tac = 0x80],
        ),
        row("serial.bits must be less than 8", &[|m| m.serial.bits = 7], &[|m| m.serial.bits = 8]),
        row(
            "serial.sc has only bits 0 and 7",
            &[|m| m.serial.sc = 0x81],
            &[|m| m.serial.sc = 2, |m| m.serial.sc = 0x40],
        ),
        row(
            "joypad.select has only bits 4 and 5",
            &[|m| m.joypad.select = 0x30],
            &[|m| m.joypad.select = 0x40, |m| m.joypad.select = 8],
        ),
        row(
            "joypad.controller and last_controller must be less than 4, and 0 unless joypad.is_super",
            &[|m| m.joypad.last_controller = 3],
            &[|m| m.joypad.controller = 1, |m| m.joypad.last_controller = 4],
        ),
    ]);
}

/// Runs to a visible line, well after its beginning.
fn drawing(machine: &mut Machine) {
    machine.ppu.beam.line = 20;
    machine.ppu.beam.line_start = machine.tcycles() - 455;
    machine.ppu.beam.dot = 455;
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each field")]
fn the_ppu_stands_within_a_frame() {
    hold(&[
        row(
            "ppu.beam.line must be at most 153",
            &[|m| m.ppu.beam.line = 153],
            &[|m| m.ppu.beam.line = 154],
        ),
        row(
            "ppu.beam.dot must be less than 456",
            &[drawing],
            &[|m| {
                drawing(m);
                m.ppu.beam.dot = 456;
            }],
        ),
        row(
            "ppu.mode3_end must be at most 456",
            &[|m| m.ppu.mode3_end = 456],
            &[|m| m.ppu.mode3_end = 457],
        ),
        row(
            "ppu.stat has only bits 3 to 6",
            &[|m| m.ppu.stat = 0x78],
            &[|m| m.ppu.stat = 4, |m| m.ppu.stat = 0x80],
        ),
        row(
            "ppu.beam.first_line is line 0",
            &[|m| m.ppu.beam.first_line = true],
            &[|m| (m.ppu.beam.first_line, m.ppu.beam.line) = (true, 1)],
        ),
        row(
            "ppu.used_fine_scroll must be less than 8, or ff",
            &[|m| m.ppu.used_fine_scroll = 7, |m| m.ppu.used_fine_scroll = 0xff],
            &[|m| m.ppu.used_fine_scroll = 8, |m| m.ppu.used_fine_scroll = 0xfe],
        ),
        row(
            "ppu.stage must be Untouched in VBlank",
            &[|m| (m.ppu.beam.line, m.ppu.stage, m.ppu.mode3_end) = (143, LineProgress::Done, 1)],
            &[|m| (m.ppu.beam.line, m.ppu.stage, m.ppu.mode3_end) = (144, LineProgress::Done, 1)],
        ),
        row(
            "ppu.stage can't be Rendering while off",
            &[
                |m| m.ppu.stage = LineProgress::Rendering,
                |m| (m.ppu.lcdc, m.ppu.stage) = (0, LineProgress::Done),
            ],
            &[|m| (m.ppu.lcdc, m.ppu.stage) = (0, LineProgress::Rendering)],
        ),
        row(
            "ppu.mode3_end must be known when ppu.stage is Done",
            &[|m| (m.ppu.stage, m.ppu.mode3_end) = (LineProgress::Done, 1)],
            &[|m| (m.ppu.stage, m.ppu.mode3_end) = (LineProgress::Done, 0)],
        ),
        row(
            "ppu.beam.line_start must lie in the last frames",
            &[|m| m.ppu.beam.line_start = m.tcycles() + 8 - 4 * LAG],
            &[
                |m| m.ppu.beam.line_start = m.tcycles() + 8 - 4 * LAG - 1,
                |m| m.ppu.beam.line_start = m.tcycles() + 9,
            ],
        ),
        row(
            "ppu.beam.dot must not be ahead of the time",
            &[|m| (m.ppu.beam.line_start, m.ppu.beam.dot) = (m.tcycles(), 8)],
            &[|m| (m.ppu.beam.line_start, m.ppu.beam.dot) = (m.tcycles(), 9)],
        ),
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each field")]
fn the_pipeline_stands_within_a_line() {
    hold(&[
        row(
            "ppu.scan.entries must be at most 40",
            &[|m| m.ppu.scan.entries = 40],
            &[|m| m.ppu.scan.entries = 41],
        ),
        row(
            "ppu.scan.count must be at most 10",
            &[|m| m.ppu.scan.count = 10],
            &[|m| m.ppu.scan.count = 11],
        ),
        row(
            "ppu.scan.entry must be less than 40",
            &[|m| m.ppu.scan.entry = [39; 10]],
            &[|m| m.ppu.scan.entry[0] = 40, |m| m.ppu.scan.entry[9] = 40],
        ),
        row(
            "ppu.pipeline.dot must be at most 456",
            &[|m| m.ppu.pipeline.dot = 456],
            &[|m| m.ppu.pipeline.dot = 457],
        ),
        row(
            "ppu.pipeline.position must be between -16 and 160",
            &[|m| m.ppu.pipeline.position = -16, |m| m.ppu.pipeline.position = 160],
            &[|m| m.ppu.pipeline.position = -17, |m| m.ppu.pipeline.position = 161],
        ),
        row(
            "ppu.pipeline.column must be at most 160",
            &[|m| m.ppu.pipeline.column = 160],
            &[|m| m.ppu.pipeline.column = 161],
        ),
        row(
            "ppu.pipeline.background_count must be at most 8",
            &[|m| m.ppu.pipeline.background_count = 8],
            &[|m| m.ppu.pipeline.background_count = 9],
        ),
        row(
            "ppu.pipeline.fetch_step must be at most 6",
            &[|m| m.ppu.pipeline.fetch_step = 6],
            &[|m| m.ppu.pipeline.fetch_step = 7],
        ),
        row(
            "ppu.pipeline.window_column must be less than 32",
            &[|m| m.ppu.pipeline.window_column = 31],
            &[|m| m.ppu.pipeline.window_column = 32],
        ),
        row(
            "ppu.pipeline.stall must be at most 8",
            &[|m| m.ppu.pipeline.stall = 8],
            &[|m| m.ppu.pipeline.stall = 9],
        ),
        row(
            "ppu.pipeline.object must be at most 10",
            &[|m| m.ppu.pipeline.object = 10],
            &[|m| m.ppu.pipeline.object = 11],
        ),
        row(
            "ppu.pipeline.object_step must be at most 8",
            &[|m| m.ppu.pipeline.object_step = 8],
            &[|m| m.ppu.pipeline.object_step = 9],
        ),
        row(
            "ppu.pipeline.object must be less than ppu.scan.count while it is fetched",
            &[
                |m| fetching(m, 2, 1),
                |m| {
                    fetching(m, 1, 1);
                    m.ppu.pipeline.object_step = 0;
                },
            ],
            &[|m| fetching(m, 1, 1), |m| fetching(m, 1, 2)],
        ),
    ]);
}

fn fetching(machine: &mut Machine, count: u8, object: u8) {
    machine.ppu.stage = LineProgress::Rendering;
    machine.ppu.scan.count = count;
    machine.ppu.pipeline.object = object;
    machine.ppu.pipeline.object_step = 1;
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each field")]
fn sound_counts_within_its_limits() {
    hold(&[
        row(
            "apu.active has only bits 0 to 3",
            &[|m| m.apu.active = 0x0b],
            &[|m| m.apu.active = 0x10, |m| m.apu.active = 0x80],
        ),
        row(
            "apu.active must be 0 while apu.powered is not set",
            &[|m| (m.apu.powered, m.apu.active) = (false, 0)],
            &[|m| (m.apu.powered, m.apu.active) = (false, 1)],
        ),
        row(
            "apu.lengths must be at most 64, 64, 256, 64",
            &[|m| m.apu.lengths = [64, 64, 256, 64]],
            &[
                |m| m.apu.lengths[0] = 65,
                |m| m.apu.lengths[1] = 65,
                |m| m.apu.lengths[2] = 257,
                |m| m.apu.lengths[3] = 65,
            ],
        ),
        row(
            "apu.sequencer.clocks must be less than 8",
            &[|m| m.apu.sequencer.clocks = 7],
            &[|m| m.apu.sequencer.clocks = 8],
        ),
        row(
            "apu.sweep.shadow, change and added must be at most 7ff",
            &[
                |m| m.apu.sweep.shadow = 0x7ff,
                |m| m.apu.sweep.change = 0x7ff,
                |m| m.apu.sweep.added = 0x7ff,
            ],
            &[
                |m| m.apu.sweep.shadow = 0x800,
                |m| m.apu.sweep.change = 0x800,
                |m| m.apu.sweep.added = 0x800,
            ],
        ),
        row(
            "apu.sweep.pace_left must be less than 8",
            &[|m| m.apu.sweep.pace_left = 7],
            &[|m| m.apu.sweep.pace_left = 8],
        ),
        row(
            "apu.sweep.reload_ticks must be at most 3",
            &[|m| m.apu.sweep.reload_ticks = 3],
            &[|m| m.apu.sweep.reload_ticks = 4],
        ),
        row(
            "apu.sweep.trigger_ticks must be at most 5",
            &[|m| m.apu.sweep.trigger_ticks = 5],
            &[|m| m.apu.sweep.trigger_ticks = 6],
        ),
        row(
            "apu.sweep.check_wait must be at most 4, and check_waited at most that",
            &[|m| (m.apu.sweep.check_wait, m.apu.sweep.check_waited) = (4, 4)],
            &[|m| m.apu.sweep.check_wait = 5, |m| m.apu.sweep.check_waited = 1],
        ),
        row(
            "apu.sweep.check_shifts must be less than 8",
            &[|m| m.apu.sweep.check_shifts = 7],
            &[|m| m.apu.sweep.check_shifts = 8],
        ),
        row(
            "apu.wave.position must be less than 32",
            &[|m| m.apu.wave.position = 31],
            &[|m| m.apu.wave.position = 32],
        ),
        row(
            "apu.wave.countdown_ticks must be between 1 and 2051 while channel 3 plays, else 0",
            &[
                |m| (m.apu.active, m.apu.wave.countdown_ticks) = (4, 1),
                |m| (m.apu.active, m.apu.wave.countdown_ticks) = (4, 2051),
                |m| (m.apu.active, m.apu.wave.countdown_ticks) = (0, 0),
            ],
            &[
                |m| (m.apu.active, m.apu.wave.countdown_ticks) = (4, 0),
                |m| (m.apu.active, m.apu.wave.countdown_ticks) = (4, 2052),
                |m| (m.apu.active, m.apu.wave.countdown_ticks) = (0, 1),
            ],
        ),
    ]);
}

#[test]
fn the_cartridge_is_wired_as_its_header_says() {
    hold(&[
        row(
            "cart must be wired as the ROM's header says",
            &[],
            &[
                |m| m.cart.rom_mask = 0xffff,
                |m| m.cart.ram_mask = 0x1fff,
                |m| m.cart.has_ram = false,
                |m| m.cart.has_rtc = false,
                |m| m.cart.mapper = gbxcule_gameboy::cart::Mapper::Mbc5,
            ],
        ),
        row(
            "cart.boot_rom needs a machine that has a boot ROM",
            &[],
            &[|m| {
                m.cart.boot_rom = true;
                m.cart.map();
                m.set_fast_path(true);
            }],
        ),
        row(
            "cart.rom_bank must be at most 1ff",
            &[|m| m.cart.rom_bank = 0x1ff],
            &[|m| m.cart.rom_bank = 0x200],
        ),
        row(
            "cart.ram_bank must be at most 0f",
            &[|m| m.cart.write_control(m.now, 0x4000, 0x0f)],
            &[|m| m.cart.ram_bank = 0x10],
        ),
        row(
            "cart must select what its bank registers say",
            &[|m| m.cart.write_control(m.now, 0x4000, 3)],
            &[|m| m.cart.ram_bank = 3, |m| m.cart.ram_offset = 0x2000],
        ),
    ]);
}

#[test]
fn the_cartridge_s_clock_has_the_bits_that_exist() {
    hold(&[
        row(
            "cart.rtc.subsecond_mcycles must be less than a second",
            &[|m| m.cart.rtc.subsecond_mcycles = (1 << 20) - 1],
            &[|m| m.cart.rtc.subsecond_mcycles = 1 << 20],
        ),
        row(
            "cart.rtc's registers must have only the bits that exist",
            &[
                |m| (m.cart.rtc.running.seconds, m.cart.rtc.latched.seconds) = (63, 63),
                |m| (m.cart.rtc.running.minutes, m.cart.rtc.latched.minutes) = (63, 63),
                |m| (m.cart.rtc.running.hours, m.cart.rtc.latched.hours) = (31, 31),
                |m| (m.cart.rtc.running.days_high, m.cart.rtc.latched.days_high) = (0xc1, 0xc1),
            ],
            &[
                |m| m.cart.rtc.running.seconds = 64,
                |m| m.cart.rtc.latched.seconds = 64,
                |m| m.cart.rtc.running.minutes = 64,
                |m| m.cart.rtc.latched.minutes = 64,
                |m| m.cart.rtc.running.hours = 32,
                |m| m.cart.rtc.latched.hours = 32,
                |m| m.cart.rtc.running.days_high = 2,
                |m| m.cart.rtc.latched.days_high = 0x20,
            ],
        ),
    ]);
}
