//! The machine: its sections, and the loop in which the CPU drives the clock.
//!
//! `deadline` is the earliest time at which any chip may raise an interrupt or change what the CPU
//! runs on. Up to the deadline the CPU only executes instructions. On the first instruction
//! boundary after it, `service` brings the due chips up to `now`, dispatches interrupts and
//! computes the next deadline. Code that changes the cause of an interrupt sets `deadline = now`.

use crate::apu::Apu;
use crate::bus::{bring_deadline_forward, is_quiet_at};
use crate::cart::Cart;
#[cfg(color)]
use crate::color::Color;
use crate::cpu::{Cpu, Mode};
use crate::dma::{Dma, halt_dma, settle_dma, sync_dma};
#[cfg(color)]
use crate::hblank_interrupt::has_taken_next_hblank;
#[cfg(color)]
use crate::hdma::{Hdma, run_hdma, wake_from_halt, wake_hdma};
use crate::interrupts::Interrupts;
use crate::joypad::Joypad;
#[cfg(keeps_lines)]
use crate::ppu::KeptLines;
#[cfg(color)]
use crate::ppu::scan::drop_carried_scan;
use crate::ppu::scan::scan_objects;
#[cfg(color)]
use crate::ppu::whole_or_by_dots::pass_to_next_hblank;
use crate::ppu::{
    FRAME_BYTES, Ppu, VRAM_BYTES, finish_picture, schedule_ppu, sync_ppu, sync_ppu_now,
};
#[cfg(color)]
use crate::ppu::{find_hblank_of_handler, forget_hblank};
use crate::serial::Serial;
#[cfg(color)]
use crate::speed::{Speed, end_pending_change, pass_slow_mcycle};
use crate::step::{Step, buttons_in_frame};
use crate::stop::service_stopped;
#[cfg(not(color))]
use crate::super_game_boy::hold_controller;
use crate::timer::Timer;

/// True if this crate is compiled as a Game Boy Color.
pub const COLOR: bool = cfg!(color);
/// Bytes of work RAM.
#[cfg(not(color))]
pub const WRAM_BYTES: usize = 0x2000;
/// Bytes of work RAM, eight banks.
#[cfg(color)]
pub const WRAM_BYTES: usize = 0x8000;

/// M-cycles of one frame while the LCD is on.
pub const FRAME_MCYCLES: u32 = 17_556;

/// One Game Boy. ROM and cartridge RAM are passed in by their owner. This struct and every section
/// are `repr(C)`, so their layout equals that of the translated machine, and compiled programs read
/// a machine in place. Work RAM is the first field, so that an access needs no offset, which saves
/// 2 % of the host's instructions.
///
/// ```
/// use gbxcule_gameboy::{Cartridge, Machine};
///
/// let rom = gbxcule_assembler::by_name("ALU_LOOP").expect("a built-in ROM").bytes();
/// let cartridge = Cartridge::from_rom(rom).expect("a good header");
/// let mut machine = Machine::power_on(&cartridge);
/// let mut ram = vec![0; cartridge.ram_bytes as usize];
/// machine.run_frame(rom, &mut ram, true);
/// assert_eq!(machine.peek(rom, &ram, 0xff44), 0); // LY: the next frame begins
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Machine {
    /// C000-DFFF; on the Color bank after bank.
    pub wram: [u8; WRAM_BYTES],
    /// M-cycles since power-on, wrapping; at the Color's double speed they are half as long.
    pub now: u32,
    /// M-cycle at which `service` must run next.
    pub deadline: u32,
    /// Time at which the current frame began.
    pub frame_start: u32,
    /// The time at which the LCD was switched off or the last frame ended, whichever is later.
    pub lcd_off_since: u32,
    /// True if the frame of `run_frame` has ended.
    pub frame_done: bool,
    /// A base for each quarter of the address space: base plus address (wrapping) is the offset in
    /// ROM. If the sum lies outside of ROM, because the address does or because OAM DMA runs, the
    /// access takes the slow path.
    pub rom_base: [u32; 4],
    /// Number of bytes from C000 that the CPU may read and write without the slow path; 0 during
    /// OAM DMA.
    pub fast_wram_bytes: u16,
    /// The processor.
    pub cpu: Cpu,
    /// IF and IE.
    pub interrupts: Interrupts,
    /// DIV and TIMA.
    pub timer: Timer,
    /// The picture processing unit.
    pub ppu: Ppu,
    /// Sound registers.
    pub apu: Apu,
    /// OAM DMA.
    pub dma: Dma,
    /// The link port.
    pub serial: Serial,
    /// The buttons.
    pub joypad: Joypad,
    /// The cartridge's mapper.
    pub cart: Cart,
    /// The Color's speed switch, and its clocks.
    #[cfg(color)]
    pub speed: Speed,
    /// The Color's DMA into video RAM.
    #[cfg(color)]
    pub hdma: Hdma,
    /// Other registers of the Color.
    #[cfg(color)]
    pub color: Color,
    /// 8000-9FFF; on the Color bank after bank.
    pub vram: [u8; VRAM_BYTES],
    /// FE00-FE9F.
    pub oam: [u8; 0xa0],
    /// FF80-FFFE; the last byte is IE's address and stays unused.
    pub hram: [u8; 0x80],
    /// The last picture drawn, as `FRAME_BYTES` says.
    pub frame: [u8; FRAME_BYTES],
    /// Lines of the picture that need not be drawn again. Compiled programs don't know this field,
    /// which is the last one.
    #[cfg(keeps_lines)]
    pub(crate) kept: KeptLines,
}

/// Returns true if a moment comes before another, on a clock that wraps.
#[inline(always)]
pub fn is_before(moment: u32, other: u32) -> bool {
    (moment.wrapping_sub(other) as i32) < 0
}

pub(crate) fn earlier(moment: u32, other: u32) -> u32 {
    if is_before(moment, other) { moment } else { other }
}

/// Returns true if a service at a moment would only let the halted CPU wait.
#[inline(always)]
fn is_nothing_due(machine: &Machine, moment: u32) -> bool {
    #[cfg(color)]
    let changes = machine.speed.changing;
    #[cfg(not(color))]
    let changes = false;
    machine.ppu.is_on() && !machine.dma.active && !changes && is_quiet_at(machine, moment)
}

/// Lets a CPU that has just halted wait for the next deadline, if nothing is due; returns true
/// if it waits. Does the same as the rest of `service`.
#[cfg(color)]
#[inline(always)]
fn begins_to_wait(machine: &mut Machine) -> bool {
    let waits = machine.cpu.mode == Mode::Halted
        && !machine.apu.voices.reads_on_bus
        && !machine.ppu.frame_over
        && machine.interrupts.pending() == 0
        && is_nothing_due(machine, machine.now.wrapping_add(1));
    if waits {
        machine.cpu.just_halted = false;
        machine.now = machine.next_deadline();
        machine.cpu.now = machine.now;
        machine.deadline = machine.now;
    }
    waits
}

/// Services a deadline that has come, or the next line's HBlank, which `hblank_interrupt` passes in
/// fewer steps than services do.
#[inline(always)]
pub fn pass_deadline(machine: &mut Machine, rom: &[u8], cart_ram: &mut [u8]) {
    #[cfg(color)]
    if has_taken_next_hblank(machine) {
        return;
    }
    machine.service(rom, cart_ram);
}

/// Computes the next deadline behind a service.
fn choose_deadline(machine: &mut Machine) {
    machine.deadline = if machine.cpu.mode != Mode::Running {
        machine.now
    } else if machine.cpu.ime_delayed {
        // EI takes effect after the one instruction that follows it.
        machine.cpu.ime_delayed = false;
        machine.cpu.ime = true;
        machine.now.wrapping_add(1)
    } else if machine.cpu.ime && machine.interrupts.pending() != 0 || machine.is_hdma_due() {
        machine.now
    } else {
        machine.next_deadline()
    };
}

/// Holds exactly these buttons on the second, third or fourth controller of a Super Game Boy, whose
/// numbers are 1 to 3.
#[cfg(not(color))]
pub fn set_controller(machine: &mut Machine, ram: &mut [u8], number: u8, pressed: u8) {
    hold_controller(&mut machine.joypad, &mut machine.interrupts, ram, number, pressed);
    machine.deadline = machine.now;
}

impl Machine {
    /// Runs one frame. With the LCD on the frame ends when the PPU is back at line 0 after VBlank.
    /// With the LCD off it ends 70,224 T-cycles after the LCD went off or the last frame ended,
    /// whichever is later, but at most 140,448 T-cycles after the frame began. The machine stops on
    /// the next instruction boundary. PyBoy ends its frames at the same times, so both emulators
    /// can be compared frame by frame and get buttons at the same times. The first frame begins
    /// where the boot ROM ends: within line 153, or, on a Color with a program for the Color,
    /// within line 144. Pixels are drawn only if `draw` is true; nothing else depends on `draw`.
    pub fn run_frame(&mut self, rom: &[u8], cart_ram: &mut [u8], draw: bool) {
        self.begin_frame(draw);
        while !self.frame_done {
            if is_before(self.now, self.deadline) {
                self.run_until_deadline(rom, cart_ram);
            }
            pass_deadline(self, rom, cart_ram);
        }
    }

    /// Runs a step: holds the buttons for the first `release_after` frames, then releases them.
    /// Returns the step's length in M-cycles of single speed. `run_step_with` in `step_with.rs` is
    /// the same loop with a closure that runs a frame. There are two loops because the translated
    /// subset of Rust has no closures; a change of one belongs in the other.
    pub fn run_step(&mut self, rom: &[u8], cart_ram: &mut [u8], buttons: u8, step: Step) -> u32 {
        let start = self.mcycles_at_single_speed();
        self.set_buttons(buttons_in_frame(buttons, step.release_after, 0));
        for frame in 0..step.frames {
            if frame == step.release_after {
                self.set_buttons(0);
            }
            self.run_frame(rom, cart_ram, step.draw_last && frame + 1 == step.frames);
        }
        self.mcycles_at_single_speed().wrapping_sub(start)
    }

    /// Executes one instruction or services one deadline; returns true if the frame ended.
    pub fn run_instruction(&mut self, rom: &[u8], cart_ram: &mut [u8]) -> bool {
        if is_before(self.now, self.deadline) {
            // `run_until_deadline` executes one instruction before it checks the deadline. If that
            // instruction sets a deadline, the new deadline stays.
            let deadline = self.deadline;
            let before = self.now;
            self.deadline = before;
            self.run_until_deadline(rom, cart_ram);
            if self.deadline == before {
                self.deadline = deadline;
                bring_deadline_forward(self);
            }
        } else {
            self.service(rom, cart_ram);
        }
        self.frame_done
    }

    /// Executes instructions on a copy of the registers until the deadline has come.
    #[inline(never)]
    pub fn run_until_deadline(&mut self, rom: &[u8], cart_ram: &mut [u8]) {
        let mut cpu = self.cpu;
        let mut opcode = cpu.fetch(self, rom, cart_ram);
        if cpu.halt_bug {
            cpu.halt_bug = false;
            cpu.pc = cpu.pc.wrapping_sub(1);
        }
        loop {
            cpu.execute(self, rom, cart_ram, opcode);
            if !is_before(cpu.now, self.deadline) {
                break;
            }
            opcode = cpu.fetch(self, rom, cart_ram);
        }
        self.now = cpu.now;
        self.cpu = cpu;
    }

    /// Starts a frame where the last one ended.
    pub fn begin_frame(&mut self, draw: bool) {
        self.frame_done = false;
        self.frame_start = self.now;
        self.deadline = self.now;
        self.ppu.draw = draw;
    }

    /// Holds exactly these buttons: right, left, up, down, A, B, SELECT, START from bit 0.
    pub fn set_buttons(&mut self, pressed: u8) {
        self.joypad.set_pressed(&mut self.interrupts, pressed);
        self.deadline = self.now;
    }

    /// Brings the due chips up to `now`. Then ends the frame if it is over. Otherwise copies a
    /// block of HDMA (Color), dispatches an interrupt or lets a halted CPU wait, and computes the
    /// next deadline. The caller is on an instruction boundary, and the deadline has come.
    #[inline(never)]
    pub fn service(&mut self, rom: &[u8], cart_ram: &mut [u8]) {
        #[cfg(color)]
        if self.cpu.just_halted && begins_to_wait(self) {
            return;
        }
        // docboy `ch3_disable_channel_while_sampling_*`.
        #[cfg(color)]
        if self.apu.voices.reads_on_bus {
            let is_double = self.speed.double;
            self.apu.voices.read_on_bus(&self.apu.wave_ram, self.cpu.pc, is_double);
        }
        #[cfg(color)]
        if self.speed.changing && self.speed.armed && self.cpu.mode == Mode::Halted {
            pass_slow_mcycle(self);
            return;
        }
        self.sync_due(rom, cart_ram, 0);
        if self.ppu.frame_over || self.is_lcd_off_frame_over() {
            self.end_frame();
            return;
        }
        // A block that becomes due while the CPU halts waits until the CPU wakes (gambatte
        // `hdma_late_m0halt_*`).
        #[cfg(color)]
        if self.hdma.due > 0 && (self.cpu.mode == Mode::Running || self.speed.changing) {
            let fetched = run_hdma(self, rom, cart_ram);
            self.cpu.now = self.now;
            // An opcode that was fetched before is executed before an interrupt (gambatte
            // `hdma_transition_ei_halt_*`).
            self.deadline = self.now.wrapping_add(fetched as u32);
            return;
        }
        match self.cpu.mode {
            Mode::Running => {
                #[cfg(color)]
                if self.speed.ends_change(self.now) {
                    // The dispatch follows in a separate service, so that `next_look` can predict
                    // its use of the serial port.
                    end_pending_change(self);
                    self.deadline = self.now;
                    return;
                }
                if self.cpu.ime && self.interrupts.pending() != 0 {
                    let mut cpu = self.cpu;
                    cpu.dispatch_interrupt(self, rom, cart_ram);
                    self.now = cpu.now;
                    self.cpu = cpu;
                    #[cfg(color)]
                    find_hblank_of_handler(self);
                }
            }
            Mode::Halted => self.service_halted(rom, cart_ram),
            Mode::Stopped => service_stopped(self),
            Mode::Locked => self.now = self.next_deadline(),
        }
        self.cpu.now = self.now;
        choose_deadline(self);
    }

    /// Returns true if a block of VRAM DMA is due.
    #[inline(always)]
    pub fn is_hdma_due(&self) -> bool {
        #[cfg(color)]
        let is_due = self.hdma.due > 0;
        #[cfg(not(color))]
        let is_due = false;
        is_due
    }

    // A halted CPU looks at the interrupt lines in the middle of an M-cycle, not at its end, so
    // that a line which rises in the second half wakes it one M-cycle later than it would interrupt
    // a running program (mooneye halt_ime0_nointr_timing, halt_ime1_timing2).
    fn service_halted(&mut self, rom: &[u8], cart_ram: &mut [u8]) {
        if self.cpu.just_halted {
            settle_dma(self);
            self.cpu.just_halted = false;
            self.now = self.now.wrapping_add(1);
            if !is_nothing_due(self, self.now) {
                return;
            }
        }
        if self.interrupts.pending() == 0 {
            let next = self.next_deadline().wrapping_sub(1);
            if is_before(self.now, next) {
                halt_dma(self, next.wrapping_sub(self.now));
                self.now = next;
            }
            // The Color's CPU checks interrupts when HALT ends, before other chips are due.
            if !COLOR {
                self.sync_due(rom, cart_ram, 2);
            }
        }
        #[cfg(color)]
        if self.speed.ends_change(self.now) {
            settle_dma(self);
            wake_hdma(self);
            self.cpu.mode = Mode::Running;
            return;
        }
        halt_dma(self, 1);
        self.now = self.now.wrapping_add(1);
        if self.interrupts.pending() != 0 {
            settle_dma(self);
            #[cfg(color)]
            wake_from_halt(self);
            self.cpu.mode = Mode::Running;
        }
    }

    /// Brings the PPU up to `now` and computes its deadline, for states of other emulators.
    pub fn settle_ppu(&mut self) {
        #[cfg(color)]
        forget_hblank(self);
        sync_ppu_now(self);
        schedule_ppu(self);
    }

    /// Brings every chip whose deadline has come up to `now`, the PPU some T-cycles further.
    pub fn sync_due(&mut self, rom: &[u8], cart_ram: &[u8], ppu_ahead_tcycles: u32) {
        let div_base = self.timer.div_base;
        if !is_before(self.now, self.timer.deadline) {
            self.timer.sync(&mut self.interrupts, self.now);
            self.timer.schedule(self.now);
        }
        if !is_before(self.now, self.serial.deadline) {
            self.serial.sync(&mut self.interrupts, self.now, div_base);
            self.serial.schedule(self.now, div_base);
        }
        sync_dma(self, rom, cart_ram);
        let shift = self.tcycle_shift();
        let ppu_now = self.now.wrapping_add((ppu_ahead_tcycles + (1 << shift) - 1) >> shift);
        if self.ppu.is_on() && !is_before(ppu_now, self.ppu.deadline) {
            #[cfg(color)]
            if ppu_ahead_tcycles == 0 && pass_to_next_hblank(self) {
                return;
            }
            sync_ppu(self, self.tcycles().wrapping_add(ppu_ahead_tcycles));
            schedule_ppu(self);
        }
    }

    pub(crate) fn next_deadline(&self) -> u32 {
        let mut next = earlier(self.timer.deadline, self.serial.deadline);
        if self.dma.active {
            next = earlier(next, self.dma.deadline);
        }
        #[cfg(color)]
        if self.speed.changing {
            // A halted CPU checks the interrupt lines one M-cycle earlier.
            let is_halted = self.cpu.mode == Mode::Halted;
            next = earlier(next, self.speed.resume_at.wrapping_add(is_halted as u32));
        }
        if self.ppu.is_on() {
            earlier(next, self.ppu.deadline)
        } else {
            earlier(next, self.lcd_off_frame_end())
        }
    }

    /// Returns true if the LCD is off and the frame's time is over.
    pub fn is_lcd_off_frame_over(&self) -> bool {
        !self.ppu.is_on() && !is_before(self.now, self.lcd_off_frame_end())
    }

    /// Returns the time at which the frame ends if the LCD stays off. The limit also ends the frame
    /// of a program that switches the LCD on and off all the time and so never reaches line 0.
    pub(crate) fn lcd_off_frame_end(&self) -> u32 {
        let longest = self.frame_start.wrapping_add(2 * self.frame_mcycles());
        earlier(self.lcd_off_since.wrapping_add(self.frame_mcycles()), longest)
    }

    /// Ends the frame. Syncs every chip, so that two compared clocks never differ by more than half
    /// their range.
    fn end_frame(&mut self) {
        self.frame_done = true;
        self.ppu.entered_vblank = false;
        self.ppu.frame_over = false;
        self.lcd_off_since = self.now;
        finish_picture(self);
        // The frame may end within the first line's scan, beside OAM DMA.
        sync_ppu_now(self);
        #[cfg(color)]
        drop_carried_scan(self);
        if self.ppu.is_on() {
            scan_objects(self, self.ppu.beam.dot);
        }
        self.ppu.drop_line();
        self.timer.sync(&mut self.interrupts, self.now);
        let div_base = self.timer.div_base;
        self.serial.sync(&mut self.interrupts, self.now, div_base);
        self.apu.sync(self.now, div_base);
        self.cart.sync(self.mcycles_at_single_speed());
        #[cfg(color)]
        {
            self.speed.rebase(self.now);
            forget_hblank(self);
        }
        // The counter has 16 bits: keep its base within one turn.
        self.timer.div_base = self.now.wrapping_sub(self.now.wrapping_sub(div_base) & 0x3fff);
        self.timer.schedule(self.now);
        self.serial.schedule(self.now, self.timer.div_base);
    }
}
