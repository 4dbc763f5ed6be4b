//! OAM DMA: when each byte moves and what the CPU gets meanwhile.

use gbxcule_gameboy::cpu::Mode;
use gbxcule_gameboy::ppu::sync_ppu_now;

use crate::console::{Console, LCDC, LINE, STAT};

const DMA: u16 = 0xff46;
const BGP: u16 = 0xff47;
const OBP0: u16 = 0xff48;

/// Makes a machine with the LCD off whose memories hold, at each place, a byte that identifies the
/// place.
fn filled() -> Console {
    let mut console = Console::dark();
    for at in 0..0x2000u16 {
        console.machine.vram[usize::from(at)] = content(0x8000 + at);
        console.machine.wram[usize::from(at)] = content(0xc000 + at);
        console.ram[usize::from(at)] = content(0xa000 + at);
    }
    console
}

fn content(at: u16) -> u8 {
    (at >> 8).wrapping_mul(0x35) as u8 ^ at as u8
}

/// Returns the byte at an address, from the CPU's view of an idle bus.
fn at_rest(console: &Console, at: u16) -> u8 {
    if at < 0x8000 { console.rom[usize::from(at)] } else { content(at) }
}

// mooneye oam_dma/sources-GS and basic: every page can be copied; E000-FFFF shows the work RAM
// below.
#[test]
fn every_page_is_copied_as_a_whole() {
    for page in 0..=0xffu16 {
        let mut console = filled();
        console.write(DMA, page as u8);
        assert_eq!(console.read(DMA), page as u8);
        console.wait(200).read(0xfe00);
        let from = if page < 0xe0 { page << 8 } else { (page << 8) - 0x2000 };
        for index in 0..160u16 {
            let expected = at_rest(&console, from + index);
            assert_eq!(console.read(0xfe00 + index), expected, "page {page:02x}, byte {index}");
        }
    }
}

// mooneye oam_dma_start and oam_dma_timing: in the M-cycle after the write OAM is still accessible,
// then it is locked for 160.
#[test]
fn oam_is_locked_for_160_mcycles_beginning_with_the_second() {
    let mut console = filled();
    console.machine.oam.fill(0x11);
    console.write(DMA, 0x80);
    let first = content(0x8000);
    assert_eq!(console.timeline(163, 0xfe00), [(0x11, 1), (0xff, 160), (first, 2)]);
    assert_eq!(console.timeline(163, 0xfea0), [(0x00, 1), (0xff, 160), (0x00, 2)]);
}

// Pan Docs "OAM DMA bus conflicts": a read on the transfer's bus gets the byte that is copied. VRAM
// is on another bus.
#[test]
fn the_cpu_gets_the_byte_that_moves_if_it_reads_from_the_same_bus() {
    for (page, conflicts) in [
        (0x12, [true, true, false, true, true, true]),
        (0x80, [false, false, true, false, false, false]),
        (0xa1, [true, true, false, true, true, true]),
        (0xc2, [true, true, false, true, true, true]),
    ] {
        for (address, lost) in
            [0x0123, 0x4567, 0x8123, 0xa456, 0xc789, 0xe789].into_iter().zip(conflicts)
        {
            let mut console = filled();
            console.write(DMA, page);
            console.wait(1);
            for index in 0..160u16 {
                let seen = if lost { (u16::from(page) << 8) + index } else { address };
                let seen = if seen >= 0xe000 { seen - 0x2000 } else { seen };
                let expected = at_rest(&console, seen);
                assert_eq!(
                    console.read(address),
                    expected,
                    "page {page:02x}, {address:04x}, byte {index}"
                );
            }
            let expected =
                at_rest(&console, if address >= 0xe000 { address - 0x2000 } else { address });
            assert_eq!(console.read(address), expected, "page {page:02x}, {address:04x} after it");
        }
    }
}

#[test]
fn high_ram_registers_and_the_other_bus_stay_free_and_writes_on_the_same_bus_do_not_arrive() {
    let mut console = filled();
    console.write(DMA, 0x80);
    console.wait(50).write(0xff85, 0x12);
    console.write(0xff42, 0x34);
    console.write(0xc000, 0x56);
    console.write(0x8001, 0x78);
    console.write(0xfe10, 0x9a);
    assert_eq!(
        [console.read(0xff85), console.read(0xff42), console.read(0xc000)],
        [0x12, 0x34, 0x56]
    );
    console.wait(160);
    assert_eq!([console.read(0x8001), console.read(0xfe10)], [content(0x8001), content(0x8010)]);
}

// gambatte oamdma_src*_busypush*: the byte written replaces the copied one; a copied byte of work
// RAM is ANDed with it.
#[test]
fn a_write_on_the_same_bus_changes_the_byte_that_moves() {
    for (page, address) in [
        (0x12, 0x2000),
        (0x12, 0xa123),
        (0x12, 0xc123),
        (0x80, 0x9fff),
        (0xa1, 0x7fff),
        (0xa1, 0xfdff),
        (0xc2, 0x0000),
        (0xdf, 0xbfff),
        (0xe2, 0xd000),
    ] {
        let mut console = filled();
        console.write(DMA, page);
        console.wait(1 + 20).write(address, 0x59);
        console.write(address, 0xc6);
        console.wait(30).write(address, 0x3a);
        // Neither OAM nor another bus: nothing happens.
        console.write(0xfe00, 0x00);
        console.write(0xff80, 0x00);
        console.write(if page == 0x80 { 0xc000 } else { 0x8000 }, 0x00);
        console.wait(160).read(0xfe00);
        for index in 0..160u16 {
            let from = u16::from(page) << 8 | index;
            let moved = at_rest(&console, if from >= 0xe000 { from - 0x2000 } else { from });
            let written = match index {
                20 => 0x59,
                21 => 0xc6,
                52 => 0x3a,
                _ => moved,
            };
            let expected = if page >= 0xc0 { moved & written } else { written };
            assert_eq!(console.machine.oam[usize::from(index)], expected, "{page:02x} {index}");
        }
        let at = if address >= 0xe000 { address - 0x2000 } else { address };
        assert_eq!(console.read(address), at_rest(&console, at), "{page:02x} {address:04x}");
    }
}

#[test]
fn a_new_transfer_leaves_nothing_of_a_write_into_the_old_one() {
    let mut console = filled();
    console.write(DMA, 0x80);
    console.wait(30).write(0x8000, 0x59);
    console.write(DMA, 0x81);
    console.write(0x8000, 0x59);
    console.wait(200).read(0xfe00);
    for index in 0..160u16 {
        assert_eq!(console.machine.oam[usize::from(index)], content(0x8100 + index), "{index}");
    }
}

// mooneye oam_dma_restart: the old transfer goes on until the new one's first byte; gambatte
// oamdma_src8000_srcchange0000_busyinc: from the new page.
#[test]
fn a_new_transfer_takes_over_one_mcycle_after_its_write() {
    let mut console = filled();
    console.write(DMA, 0xc0);
    console.wait(20).write(DMA, 0xd1);
    // The old transfer's first byte moved in the second M-cycle after its write.
    assert_eq!(console.after(0, 0x0000), content(0xd100 + 20));
    let seen: Vec<u8> = (1..161).map(|mcycle| console.after(mcycle, 0x0000)).collect();
    let expected: Vec<u8> = (0..160).map(|index| content(0xd100 + index)).collect();
    assert_eq!(seen, expected);
    assert_eq!(console.after(161, 0x0000), console.rom[0]);
    assert_eq!(console.timeline(162, 0xfe00), [(0xff, 161), (content(0xd100), 1)]);
}

#[test]
fn a_transfer_asked_for_in_another_ones_set_up_leaves_the_bus_free_till_then() {
    let mut console = filled();
    console.write(DMA, 0xc0);
    console.write(DMA, 0xd1);
    assert_eq!(console.after(0, 0x0001), console.rom[1]);
    assert_eq!(console.after(1, 0x0001), content(0xd100));
}

// gambatte oamdmasrc80_halt_*_read8000 and oamdma_late_halt_stat_*: copying continues when the CPU
// runs again.
#[test]
fn a_transfer_stands_still_while_the_cpu_halts() {
    for (before, halted) in [(1, 64), (20, 64), (20, 128), (100, 640)] {
        let mut console = filled();
        console.write(0xff06, 0xff);
        console.machine.hram[..2].copy_from_slice(&[0x76, 0x00]);
        console.write(0xffff, 4);
        console.write(DMA, 0x80);
        let started = console.machine.now;
        console.wait(before);
        // TIMA counts every 16 T-cycles from here, and wakes the CPU.
        console.write(0xff04, 0);
        console.write(0xff05, (256 - halted / 4) as u8);
        console.write(0xff07, 5);
        console.machine.interrupts.requested = 0;
        (console.machine.cpu.pc, console.machine.cpu.now) = (0xff80, console.machine.now);
        console.machine.begin_frame(false);
        let halt = console.machine.now;
        while console.machine.cpu.mode == Mode::Running {
            console.machine.run_instruction(&console.rom, &mut console.ram);
        }
        while console.machine.cpu.mode == Mode::Halted {
            console.machine.run_instruction(&console.rom, &mut console.ram);
        }
        // The transfer goes on in the two M-cycles in which HALT is read and begins.
        let still = console.machine.now - halt - 2;
        assert!(still + 8 >= halted && still < halted, "{before}: {still} of {halted}");
        let locked = console.timeline(200, 0xfe00)[0];
        let end = console.machine.now + locked.1 - started;
        assert_eq!((locked.0, end), (0xff, 161 + still), "{before} and {halted}");
    }
}

// docboy dma_during_*_check_stat_*.
#[test]
fn stat_shows_mode_0_instead_of_2_while_dma_has_oam() {
    let shows_mode_2 = |copies: bool| {
        let mut console = Console::lit(&[]);
        console.wait(3 * LINE - 40);
        if copies {
            console.write(DMA, 0xc0);
        }
        let runs = console.timeline(100, STAT);
        runs.iter().any(|(stat, _)| stat & 3 == 2)
    };
    assert!(shows_mode_2(false) && !shows_mode_2(true));
}

/// Dots of a frame.
const FRAME_DOTS: u32 = 154 * 456;

/// The shades of a line while OAM DMA, written to M-cycles before it, replaces the objects of `old`
/// by those of `new`. All pixels of tiles are black, the background is white. The CPU executes NOP
/// in high RAM.
fn shades(line: u8, mcycles: u32, old: &[[u8; 4]], new: &[[u8; 4]]) -> Vec<u8> {
    let mut console = Console::dark();
    console.machine.vram.fill(0xff);
    console.machine.wram.fill(0);
    console.machine.wram[..new.len() * 4].copy_from_slice(new.as_flattened());
    console.machine.oam.fill(0);
    console.machine.oam[..old.len() * 4].copy_from_slice(old.as_flattened());
    console.machine.hram.fill(0);
    for (address, value) in [(BGP, 0), (OBP0, 0xff), (LCDC, 0x93)] {
        console.write(address, value);
    }
    console.machine.cpu.now = console.machine.now;
    console.machine.begin_frame(true);
    let begin = u32::from(line) * 456 + FRAME_DOTS;
    // The first picture stays white.
    run_to(&mut console, FRAME_DOTS / 2);
    run_to(&mut console, FRAME_DOTS / 2 - 456);
    run_to(&mut console, begin - mcycles * 4);
    console.write(DMA, 0xc0);
    console.machine.cpu.now = console.machine.now;
    console.machine.deadline = console.machine.now;
    run_to(&mut console, begin + 456 * 2);
    sync_ppu_now(&mut console.machine);
    let row = &console.machine.frame[usize::from(line) * 40..][..40];
    row.iter().flat_map(|byte| [byte >> 6, byte >> 4 & 3, byte >> 2 & 3, byte & 3]).collect()
}

/// Runs to a dot of the frame.
fn run_to(console: &mut Console, dot: u32) {
    loop {
        let machine = &mut console.machine;
        let beam = &machine.ppu.beam;
        let in_line = machine.tcycles().wrapping_sub(beam.line_start);
        let at = u32::from(beam.line) * 456 + in_line + FRAME_DOTS;
        if at.wrapping_sub(dot) % FRAME_DOTS < 4 {
            return;
        }
        machine.cpu.pc = 0xff80;
        if machine.run_instruction(&console.rom, &mut console.ram) {
            machine.begin_frame(true);
        }
    }
}

/// Counts the objects on a line with ten, while OAM DMA that brings them ends some M-cycles after
/// the line began.
fn objects_as_dma_ends(line: u8, mcycles: u32) -> usize {
    let objects: Vec<_> = (0..10).map(|at| [line + 16, 8 + 16 * at, 0, 0]).collect();
    shades(line, 162 - mcycles, &[], &objects).iter().filter(|&&shade| shade == 3).count() / 8
}

// mooneye oam_dma_timing, for the PPU instead of the CPU: it scans two entries an M-cycle.
#[test]
fn the_scan_finds_the_new_objects_as_soon_as_the_last_byte_has_moved() {
    let objects: Vec<_> = (0..8).map(|mcycles| objects_as_dma_ends(20, mcycles)).collect();
    assert_eq!(objects, [10, 10, 9, 7, 5, 3, 1, 0]);
}

#[test]
fn a_frame_that_ends_within_the_first_scan_does_not_begin_it_anew() {
    for mcycles in 0..8 {
        let (first, other) = (objects_as_dma_ends(0, mcycles), objects_as_dma_ends(20, mcycles));
        assert_eq!(first, other, "{mcycles} M-cycles after the line's beginning");
    }
}

// Red from OAM: OAM has two buses, one for Y and tile numbers, one for X and attributes.
#[test]
fn an_object_that_was_read_before_dma_gives_its_tile_as_y_and_its_attributes_as_x() {
    let object = [[20 + 16, 40, 21 + 16, 0x50]];
    let drawn = shades(21, 50, &object, &[]);
    let black: Vec<usize> = (0..160).filter(|&at| drawn[at] == 3).collect();
    assert_eq!(black, (0x50 - 8..0x50).collect::<Vec<usize>>());
}
