//! The OAM scan of mode 2, which finds the line's objects, at most ten.
//!
//! Entry `i` is scanned on dot 5 + 2i (gambatte `late_sizechange_*`). The scan is lazy: it runs at
//! once when its result is needed, or up to the current dot before OAM or the object size changes.

#[cfg(color)]
use crate::bus::bring_deadline_forward;
use crate::cpu::Mode;
use crate::machine::{COLOR, Machine};
use crate::ppu::pipeline::OBJECT_READ;
use crate::ppu::timing::MODE3_DOT;
#[cfg(color)]
use crate::ppu::timing::schedule_ppu;
#[cfg(color)]
use crate::ppu::watches_hblank;
use crate::ppu::whole_or_by_dots::before_timing_change;
use crate::ppu::{LAST_LINE, LCDC_TALL_OBJECTS, LineProgress, VBLANK_LINE, sync_ppu_now};

/// Entries in OAM.
const ENTRIES: u8 = 40;
/// Entries that are scanned together.
const GROUP: u8 = 8;
/// Objects on one line.
pub(super) const MAX_OBJECTS: u8 = 10;
/// Value of `Scan::entries` from which on objects are those of the line before.
const CARRIED: u8 = ENTRIES + 1;
/// X of an object that is no longer fetched, because no pixel follows.
const END_X: u8 = 168;

/// The objects found so far, sorted by X, then by OAM entry. The arrays are the first fields, so
/// that an index into them needs no offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Scan {
    /// X of each object, as in OAM.
    pub x: [u8; 10],
    /// Y of each object, as in OAM.
    pub y: [u8; 10],
    /// Place of each object in OAM.
    pub entry: [u8; 10],
    /// Number of scanned entries. On the Color more than 40 mean that all entries are scanned, and
    /// each one more than 41 that another line has the same objects.
    pub entries: u8,
    /// Objects found.
    pub count: u8,
}

impl Scan {
    /// Makes a scan before its first entry.
    pub const fn idle() -> Scan {
        Scan { entries: 0, count: 0, x: [0; 10], y: [0; 10], entry: [0; 10] }
    }

    /// Restarts the scan for a new line.
    pub fn restart(&mut self) {
        self.entries = 0;
        self.count = 0;
    }

    /// Goes on to the next visible line, which may have the same objects.
    #[inline(always)]
    pub(super) fn begin_line(&mut self) {
        if self.is_carried_on() {
            self.entries -= 1;
        } else {
            self.restart();
        }
    }

    /// Returns true if the next line has the objects of this one. Only the Color knows.
    #[inline(always)]
    pub(super) fn is_carried_on(&self) -> bool {
        COLOR && self.entries > CARRIED
    }

    /// Clears the places that no object of the line has.
    pub(super) fn clear_rest(&mut self) {
        for place in self.count as usize..MAX_OBJECTS as usize {
            self.x[place] = 0;
            self.y[place] = 0;
            self.entry[place] = 0;
        }
    }

    fn insert(&mut self, x: u8, y: u8, entry: u8) {
        let mut place = self.count as usize;
        while place > 0 && self.x[place - 1] > x {
            self.x[place] = self.x[place - 1];
            self.y[place] = self.y[place - 1];
            self.entry[place] = self.entry[place - 1];
            place -= 1;
        }
        self.x[place] = x;
        self.y[place] = y;
        self.entry[place] = entry;
        self.count += 1;
    }
}

/// OAM entries, in order, of the objects that overlap at least one of a few lines.
#[cfg(not(color))]
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidates {
    entries: [u8; ENTRIES as usize],
    count: usize,
}

#[cfg(not(color))]
impl Candidates {
    /// Makes a list of all entries.
    pub(super) fn all() -> Candidates {
        let mut all = Candidates { entries: [0; ENTRIES as usize], count: ENTRIES as usize };
        for entry in 0..ENTRIES {
            all.entries[entry as usize] = entry;
        }
        all
    }

    /// Keeps the objects that overlap at least one of the next lines.
    pub(super) fn on_lines(&self, machine: &Machine, lines: u8) -> Candidates {
        let mut found = Candidates { entries: [0; ENTRIES as usize], count: 0 };
        // The Y of an object whose last row is on the first line.
        let lowest = machine.ppu.beam.line + 17 - object_height(machine);
        let reach = lines + object_height(machine) - 1;
        for at in 0..self.count {
            let entry = self.entries[at];
            found.entries[found.count] = entry;
            let y = machine.oam[entry as usize * 4];
            found.count += (y.wrapping_sub(lowest) < reach) as usize;
        }
        found
    }
}

/// Scans the candidates for a line.
#[cfg(not(color))]
pub(super) fn scan_candidates(machine: &mut Machine, candidates: &Candidates) {
    let height = object_height(machine);
    let line = machine.ppu.beam.line + 16;
    machine.ppu.scan.entries = ENTRIES;
    for at in 0..candidates.count {
        let entry = candidates.entries[at];
        let y = machine.oam[entry as usize * 4];
        if line.wrapping_sub(y) < height && machine.ppu.scan.count < MAX_OBJECTS {
            machine.ppu.scan.insert(machine.oam[entry as usize * 4 + 1], y, entry);
        }
    }
}

/// Scans all entries, as mode 2 is over.
#[inline(always)]
pub(super) fn scan_line(machine: &mut Machine) {
    #[cfg(color)]
    let is_whole = machine.ppu.scan.entries == 0 && !machine.dma.active;
    scan_objects(machine, MODE3_DOT + 1);
    #[cfg(color)]
    if is_whole && machine.ppu.scan.entries == ENTRIES {
        machine.ppu.scan.entries = CARRIED + lines_alike(machine);
    }
}

/// Scans every entry whose dot lies before `dot`.
pub(crate) fn scan_objects(machine: &mut Machine, dot: u16) {
    if machine.ppu.beam.first_line || dot <= 5 {
        return;
    }
    let mut until = (dot - 4) / 2;
    if until > ENTRIES as u16 {
        until = ENTRIES as u16;
    }
    if machine.ppu.scan.entries as u16 >= until {
        return;
    }
    let from = machine.ppu.scan.entries as usize;
    machine.ppu.scan.entries = until as u8;
    if machine.dma.active {
        scan_beside_dma(machine, from, until as usize);
        return;
    }
    let height = object_height(machine);
    let line = machine.ppu.beam.line + 16;
    if from == 0 && until == ENTRIES as u16 {
        // Objects of one thing are mostly neighbours in OAM.
        for group in 0..(ENTRIES / GROUP) as usize {
            let first = group * GROUP as usize;
            if is_any_on(machine, first, line, height) {
                scan_entries(machine, first, first + GROUP as usize, line, height);
            }
        }
    } else {
        scan_entries(machine, from, until as usize, line, height);
    }
}

/// Looks at some entries for objects that overlap a line.
#[inline(always)]
fn scan_entries(machine: &mut Machine, from: usize, until: usize, line: u8, height: u8) {
    for entry in from..until {
        let y = machine.oam[entry * 4];
        if line.wrapping_sub(y) < height && machine.ppu.scan.count < MAX_OBJECTS {
            let x = machine.oam[entry * 4 + 1];
            machine.ppu.scan.insert(x, y, entry as u8);
        }
    }
}

/// Looks at some entries while OAM DMA is set up or runs. Where a byte moves, the PPU reads nothing
/// and goes on with what it read last (the pixels of Strikethrough).
#[inline(never)]
fn scan_beside_dma(machine: &mut Machine, from: usize, until: usize) {
    let height = object_height(machine);
    let line = machine.ppu.beam.line + 16;
    for entry in from..until {
        let is_hidden = is_entry_hidden(machine, entry);
        if !is_hidden {
            note_read(machine, entry * 4);
        }
        let (x, y) = (machine.dma.seen_x, machine.dma.seen_y);
        // UNVERIFIED: while the CPU halts, the PPU finds no objects.
        let finds = !is_hidden || machine.cpu.mode != Mode::Halted;
        if finds && line.wrapping_sub(y) < height && machine.ppu.scan.count < MAX_OBJECTS {
            machine.ppu.scan.insert(x, y, entry as u8);
        }
    }
}

/// Notes a pair of bytes in OAM, Y and X or tile number and attributes, as the last read.
fn note_read(machine: &mut Machine, place: usize) {
    machine.dma.seen_y = machine.oam[place];
    machine.dma.seen_x = machine.oam[place + 1];
}

/// Notes what the PPU read last from OAM, before a transfer begins that may reach a scan.
#[inline(never)]
pub(crate) fn note_last_read(machine: &mut Machine) {
    sync_ppu_now(machine);
    #[cfg(color)]
    drop_carried_scan(machine);
    let line = machine.ppu.beam.line;
    let ends_in_vblank = line >= VBLANK_LINE && line < LAST_LINE - 2;
    if machine.dma.active || !machine.ppu.is_on() || machine.ppu.beam.first_line || ends_in_vblank {
        return;
    }
    let dot = machine.ppu.beam.dot;
    if line < VBLANK_LINE && dot > 5 {
        scan_objects(machine, dot);
        before_timing_change(machine);
        let entries = machine.ppu.scan.entries;
        note_read(machine, (entries as usize - 1) * 4);
        if entries == ENTRIES {
            note_fetched_object(machine);
        }
    } else {
        note_read(machine, (ENTRIES as usize - 1) * 4);
        note_last_object(machine, if line == 0 || line > VBLANK_LINE { VBLANK_LINE } else { line });
    }
}

/// Notes the tile and the attributes of the object that was fetched last on this line.
fn note_fetched_object(machine: &mut Machine) {
    let ppu = &machine.ppu;
    let mut fetched = 0;
    if ppu.stage == LineProgress::Rendering {
        fetched = ppu.pipeline.object as usize + (ppu.pipeline.object_step >= OBJECT_READ) as usize;
    } else if ppu.stage == LineProgress::Done && ppu.fetches_objects() {
        while fetched < ppu.scan.count as usize && ppu.scan.x[fetched] < END_X {
            fetched += 1;
        }
    }
    if fetched > 0 {
        note_read(machine, ppu.scan.entry[fetched - 1] as usize * 4 + 2);
    }
}

/// Notes the tile and the attributes of the object that was fetched last on the line before one.
fn note_last_object(machine: &mut Machine, line: u8) {
    let height = object_height(machine);
    let (mut count, mut last_x) = (0, 0);
    for entry in 0..ENTRIES as usize {
        let (y, x) = (machine.oam[entry * 4], machine.oam[entry * 4 + 1]);
        if machine.ppu.fetches_objects()
            && (line + 15).wrapping_sub(y) < height
            && count < MAX_OBJECTS
        {
            count += 1;
            if x >= last_x && x < END_X {
                last_x = x;
                note_read(machine, entry * 4 + 2);
            }
        }
    }
}

fn object_height(machine: &Machine) -> u8 {
    if machine.ppu.lcdc & LCDC_TALL_OBJECTS != 0 { 16 } else { 8 }
}

/// Returns the number of following lines that have the objects of this one.
#[cfg(color)]
#[inline(always)]
fn lines_alike(machine: &Machine) -> u8 {
    let height = object_height(machine);
    let line = machine.ppu.beam.line + 16;
    let mut lines = 255 - CARRIED;
    for entry in 0..ENTRIES as usize {
        let row = line.wrapping_sub(machine.oam[entry * 4]);
        // Lines up to the object's last one, or before its first one.
        let left = if row < height { height - 1 - row } else { 255 - row };
        lines = lines.min(left);
    }
    lines
}

/// Forgets that objects are those of the line before, as OAM, their height or the clock of the scan
/// changes. The PPU must be synced to the time of the change.
#[cfg(color)]
#[inline(always)]
pub(crate) fn drop_carried_scan(machine: &mut Machine) {
    if machine.ppu.scan.entries >= CARRIED {
        scan_by_entries(machine);
    }
}

#[cfg(color)]
#[inline(never)]
fn scan_by_entries(machine: &mut Machine) {
    if machine.ppu.beam.line < VBLANK_LINE && machine.ppu.beam.dot < MODE3_DOT {
        machine.ppu.scan.restart();
    } else {
        machine.ppu.scan.entries = ENTRIES;
    }
    // The next HBlank may come earlier than with these objects.
    if machine.ppu.is_on() && watches_hblank(machine) {
        schedule_ppu(machine);
        bring_deadline_forward(machine);
    }
}

/// Returns true if any object of a group overlaps a line: a pass without branches.
#[inline(always)]
fn is_any_on(machine: &Machine, first: usize, line: u8, height: u8) -> bool {
    let mut found = false;
    for entry in 0..GROUP as usize {
        found |= line.wrapping_sub(machine.oam[(first + entry) * 4]) < height;
    }
    found
}

/// Returns true if a byte of OAM DMA moves as the PPU looks at an entry.
fn is_entry_hidden(machine: &Machine, entry: usize) -> bool {
    if machine.cpu.mode == Mode::Halted {
        // The transfer stands still.
        return machine.dma.is_moving(machine.now);
    }
    machine.dma.is_moving(mcycle_of_dot(machine, 6 + 2 * entry as u32))
}

/// Returns the M-cycle of one of the line's dots.
fn mcycle_of_dot(machine: &Machine, dot: u32) -> u32 {
    let moment = machine.ppu.beam.line_start.wrapping_add(dot);
    let mcycles = moment.wrapping_sub(machine.tcycles()) as i32 >> machine.tcycle_shift();
    machine.now.wrapping_add(mcycles as u32)
}

/// While OAM DMA moves bytes, it addresses OAM: an object gets the tile number and attributes at
/// the DMA's address (the pixels of Strikethrough).
// UNVERIFIED: for a source in ROM or cartridge RAM the old byte of OAM is taken.
pub(super) fn read_object_beside_dma(machine: &mut Machine) {
    // A byte arrives in the middle of its M-cycle.
    let half = 1 << (machine.tcycle_shift() - 1);
    let moment = mcycle_of_dot(machine, machine.ppu.pipeline.dot as u32 + half);
    if machine.dma.is_moving(moment) {
        take_moving_object(machine, moment);
    }
    machine.dma.seen_y = machine.ppu.pipeline.object_tile;
    machine.dma.seen_x = machine.ppu.pipeline.object_flags;
}

fn take_moving_object(machine: &mut Machine, moment: u32) {
    let source = machine.dma.source(moment);
    // The OAM address of the byte that moves next.
    let place = (source & 0xff) as usize + 1;
    if place < 0xa0 {
        machine.ppu.pipeline.object_tile = machine.oam[place & 0xfe];
        machine.ppu.pipeline.object_flags = machine.oam[place | 1];
        if place & 1 != 0 && source >= 0xc000 {
            machine.ppu.pipeline.object_tile = machine.wram[machine.wram_index(source)];
        }
    }
}
