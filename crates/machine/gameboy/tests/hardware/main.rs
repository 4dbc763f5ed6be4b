//! Behaviour of the chips as programs see it, cycle by cycle: the facts that public test ROMs check
//! on real machines, and those of Pan Docs, tested here without any ROM.

mod console;
mod dma;
mod extra_syncs;
mod idle_cpu;
mod joypad;
mod mid_line;
mod noise;
mod oam_bug;
mod picture;
mod power_on;
mod ppu_access;
mod registers;
mod serial;
mod stat;
mod stop;
mod super_game_boy;
mod timer;
