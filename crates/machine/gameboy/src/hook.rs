//! Hooks: addresses in the program before whose instruction a swarm stops a machine, to count the
//! arrival or to let a user's program read the machine. For machines with hooks `swarm` calls
//! `run_to_hook`, one frame at a time, instead of `Machine::run_step`. Blocks use only
//! `run_until_mark`.

use crate::cart::Cart;
use crate::machine::{Machine, is_before};

/// Number that means that no hook was met and the frame has ended.
pub const NO_HOOK: u32 = 0xffff_ffff;
/// Flag of a hook outside ROM; the low bits are its address.
pub const HOOK_IN_RAM: u32 = 0x8000_0000;

impl Machine {
    /// Starts a frame with these buttons held.
    pub fn begin_frame_with(&mut self, buttons: u8, draw: bool) {
        self.set_buttons(buttons);
        self.begin_frame(draw);
    }

    /// Runs a frame until the next instruction has a hook; returns the hook's number, or `NO_HOOK`
    /// when the frame has ended. `places` are offsets in ROM, or addresses with the flag
    /// `HOOK_IN_RAM`; bit `pc` of `marks` is set if a hook of any bank has that address. `resumes`
    /// is true if the previous call stopped at this instruction; its hook is then not returned
    /// again.
    pub fn run_to_hook(
        &mut self,
        rom: &[u8],
        cart_ram: &mut [u8],
        marks: &[u8],
        places: &[u32],
        resumes: bool,
    ) -> u32 {
        let mut passed = if resumes { self.cpu.pc as u32 } else { NO_HOOK };
        while !self.frame_done {
            if is_before(self.now, self.deadline) {
                // No service is due, so the instruction at PC is executed next.
                let pc = self.cpu.pc;
                if pc as u32 != passed && is_marked(marks, pc) {
                    let hook = hook_at(&self.cart, places, pc);
                    if hook != NO_HOOK {
                        self.sync_interrupts();
                        return hook;
                    }
                }
                passed = NO_HOOK;
                self.run_until_mark(rom, cart_ram, marks);
            } else {
                self.service(rom, cart_ram);
            }
        }
        NO_HOOK
    }

    /// Runs like `run_until_deadline`, and also stops before an instruction at a marked address.
    /// The first instruction is executed even if its address is marked. The loop is separate, so
    /// that `run_until_deadline` does not pay for the test.
    #[inline(never)]
    pub fn run_until_mark(&mut self, rom: &[u8], cart_ram: &mut [u8], marks: &[u8]) {
        let mut cpu = self.cpu;
        let mut opcode = cpu.fetch(self, rom, cart_ram);
        if cpu.halt_bug {
            cpu.halt_bug = false;
            cpu.pc = cpu.pc.wrapping_sub(1);
        }
        loop {
            cpu.execute(self, rom, cart_ram, opcode);
            if !is_before(cpu.now, self.deadline) || is_marked(marks, cpu.pc) {
                break;
            }
            opcode = cpu.fetch(self, rom, cart_ram);
        }
        self.now = cpu.now;
        self.cpu = cpu;
    }
}

/// Returns the number of the hook at an address, or `NO_HOOK`.
fn hook_at(cart: &Cart, places: &[u32], pc: u16) -> u32 {
    let offset = (pc & 0x3fff) as u32;
    let place = match pc >> 14 {
        0 => cart.rom_low | offset,
        1 => cart.rom_high | offset,
        _ => HOOK_IN_RAM | pc as u32,
    };
    for hook in 0..places.len() as u32 {
        if places[hook as usize] == place {
            return hook;
        }
    }
    NO_HOOK
}

#[inline(always)]
fn is_marked(marks: &[u8], pc: u16) -> bool {
    marks[(pc >> 3) as usize] >> (pc & 7) & 1 != 0
}
