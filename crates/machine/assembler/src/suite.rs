//! Registry of every ROM by name. A new micro-ROM is one source in `asm/` and one row in this file;
//! an included file is a row of `includes!`. Games come from their folders (`gbxcule-games`).

use std::sync::{LazyLock, OnceLock};

use gbxcule_games::{GAMES, Game};

use crate::assemble::Assembler;
use crate::rom::Rom;

/// ROM that is assembled when it is first asked for.
#[derive(Clone, Debug)]
pub struct BuiltIn {
    /// Name in commands and reports: `ALU_LOOP`.
    pub name: &'static str,
    /// One line about the part of the machine that the ROM exercises.
    pub purpose: &'static str,
    /// Bytes that the ROM leaves in work RAM.
    pub signature: &'static str,
    /// Assembly text.
    pub source: &'static str,
    file: &'static str,
    built: OnceLock<Rom>,
}

impl BuiltIn {
    /// Returns the ROM, which the first call assembles.
    pub fn rom(&self) -> &Rom {
        self.built.get_or_init(|| {
            let assembler = Assembler::new(self.file, self.source);
            let assembler = includes()
                .iter()
                .fold(assembler, |assembler, (name, text)| assembler.with_include(name, text));
            assembler.rom().unwrap_or_else(|errors| {
                unreachable!("every built-in source assembles, a test holds it:\n{errors}")
            })
        })
    }

    /// Returns the bytes of the ROM file.
    pub fn bytes(&self) -> &[u8] {
        &self.rom().bytes
    }
}

impl From<&'static Game> for BuiltIn {
    fn from(game: &'static Game) -> Self {
        let &Game { name, purpose, memory: signature, entry: file, sources, .. } = game;
        let source = sources.iter().find(|(name, _)| *name == file);
        let (_, source) = source.unwrap_or_else(|| unreachable!("{name} has no `game.asm`"));
        Self { name, purpose, signature, source, file, built: OnceLock::new() }
    }
}

/// Returns all ROMs that the original runs: endless loops first, games last.
pub fn all() -> &'static [BuiltIn] {
    static ALL: LazyLock<Vec<BuiltIn>> = LazyLock::new(|| with_games(&SUITE, false));
    &ALL
}

/// Returns the ROMs that only a Color runs, the games last.
pub fn for_color() -> &'static [BuiltIn] {
    static FOR_COLOR: LazyLock<Vec<BuiltIn>> = LazyLock::new(|| with_games(&COLOR_SUITE, true));
    &FOR_COLOR
}

fn with_games(suite: &[BuiltIn], is_for_color: bool) -> Vec<BuiltIn> {
    let games = GAMES.iter().filter(|game| game.is_for_color == is_for_color);
    suite.iter().cloned().chain(games.map(BuiltIn::from)).collect()
}

/// Returns the files that any source may include, by name: `screen.inc`, `game/joypad.inc` and so
/// on, and those of the games.
pub fn includes() -> &'static [(&'static str, &'static str)] {
    static ALL: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
        let games = GAMES.iter().flat_map(|game| game.sources.iter().copied());
        INCLUDES.iter().copied().chain(games).collect()
    });
    &ALL
}

/// Returns the ROM with a name.
pub fn by_name(name: &str) -> Option<&'static BuiltIn> {
    all().iter().chain(for_color()).find(|rom| rom.name == name)
}

macro_rules! includes {
    ($($name:literal)*) => {
        /// Shared files that sources may include, by their paths below `asm/`.
        const INCLUDES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../asm/", $name)))),*];
    };
}

includes! {
    "selfcheck.inc"
    "mbc.inc"
    "screen.inc"
    "color.inc"

    "game/memory.inc"
    "game/joypad.inc"
    "game/random.inc"
    "game/level.inc"
    "game/chance.inc"
    "game/variant.inc"
    "game/objects.inc"
    "game/video.inc"
    "game/sound.inc"
    "game/text.inc"
    "game/logo.inc"
}

macro_rules! suite {
    ($list:ident $($name:literal $file:literal $purpose:literal $signature:literal)*) => {
        static $list: [BuiltIn; [$($name),*].len()] = [$(BuiltIn {
            name: $name,
            purpose: $purpose,
            signature: $signature,
            source: include_str!(concat!("../asm/", $file)),
            file: $file,
            built: OnceLock::new(),
        }),*];
    };
}

suite! {
    SUITE

    "ALU_LOOP" "alu_loop.asm"
    "endless register arithmetic over all groups of the ALU"
    "C000 running sum, C001 running mix of the flags"

    "MEM_RWB" "mem_rwb.asm"
    "endless read, modify, write over 256 bytes of work RAM"
    "C000-C0FF the bytes worked on"

    "JOY_DIVERGE_PERSIST" "joy_diverge_persist.asm"
    "the joypad steers control flow and memory, and every button leaves its mark for good"
    "C000 mixed value, C001-C002 shift register, C003 buttons, C004 history, C005-C006 rounds, C007 path, C008-C00B paths taken, C00C-C00D checksum, C00E A5, C00F-C010 trail pointer"

    "LOADS_BASIC" "loads_basic.asm"
    "every way of moving bytes and words between registers and memory"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "ALU_FLAGS" "alu_flags.asm"
    "results and flags of eight-bit arithmetic, at the edges and swept over all accumulators"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "ALU16_SP" "alu16_sp.asm"
    "sixteen-bit arithmetic, and all instructions on the stack pointer"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "FLOW_STACK" "flow_stack.asm"
    "jumps, calls, returns and restarts, taken and not taken, and the stack after them"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "CB_BITOPS" "cb_bitops.asm"
    "rotations, shifts, swap, bit, res and set: all 256 opcodes after CB"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "TIMER_DIV_BASIC" "timer_div_basic.asm"
    "the divider, the four rates of the timer, its overflow and its reload"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "TIMER_IRQ_HALT" "timer_irq_halt.asm"
    "timer interrupts that wake the CPU from HALT, served or not"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "EI_DELAY" "ei_delay.asm"
    "EI acts one instruction late, DI and RETI at once; interrupts by priority"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "DMA_OAM_COPY" "dma_oam_copy.asm"
    "OAM DMA from RAM and ROM, started from high RAM"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "SERIAL_HELLO" "serial_hello.asm"
    "sends HELLO over the serial port, one interrupt a byte"
    "C000 A5 when sent, C001 bytes sent, C002-C006 bytes received (FF), C007 SC (7F), C008 time in DIV (50 to 58)"

    "LINK_PING_PONG" "link_ping_pong.asm"
    "two machines with a cable throw a ball to each other; button A throws first"
    "C000 A5 when the ball came 16 times, C001 catches, C002 the ball, C003 1 threw first, 2 did not, C004 misses"

    "MBC1_SWITCH" "mbc1_switch.asm"
    "ROM banks behind an MBC1 of 1 MiB, in both modes"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "MBC1_RAM" "mbc1_ram.asm"
    "32 KiB of RAM behind an MBC1: lock, banks, modes"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "MBC2_SWITCH" "mbc2_switch.asm"
    "16 ROM banks behind an MBC2 and its address bit 8"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "MBC2_RAM" "mbc2_ram.asm"
    "the 512 half bytes inside an MBC2"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "MBC3_SWITCH" "mbc3_switch.asm"
    "128 ROM banks behind an MBC3"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "MBC3_RAM" "mbc3_ram.asm"
    "32 KiB of RAM behind an MBC3: lock and banks"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "MBC3_RTC" "mbc3_rtc.asm"
    "the clock of an MBC3: set, latched, halted, running in emulated time"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "MBC5_SWITCH" "mbc5_switch.asm"
    "ROM banks behind an MBC5, where 0 selects bank 0"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "MBC5_RAM" "mbc5_ram.asm"
    "128 KiB of RAM behind an MBC5: lock and sixteen banks"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "BG_STATIC" "bg_static.asm"
    "a background that never changes, in all four shades"
    "C000 A5 when drawn, C001-C002 frames"

    "BG_SCROLL" "bg_scroll.asm"
    "a background that scrolls around both edges of its map"
    "C000 A5 when drawn, C001-C002 frames, C003 SCX, C004 SCY"

    "PPU_WINDOW" "ppu_window.asm"
    "the window moving, switched off and on again within each frame"
    "C000 A5 when drawn, C001-C002 frames, C003 WX, C004 WY, C005 STAT interrupts"

    "PPU_SPRITES" "ppu_sprites.asm"
    "forty objects: flips, palettes, priorities, both heights, over ten on a line, over the edges"
    "C000 A5 when drawn, C001-C002 frames, C003 tall objects"

    "PPU_STAT_IRQ" "ppu_stat_irq.asm"
    "the four sources of the STAT interrupt counted, then a wave drawn in HBlank"
    "C000 A5 counts right, 5A wrong, C001-C002 frames, C003 by LYC (1), C004 by HBlank (144), C005 by VBlank (1), C006 by OAM search (144 or 145), C007 by LYC and HBlank (143 or 144)"

    "HALT_IDLE" "halt_idle.asm"
    "frames spent in HALT, except for a moment in each VBlank"
    "C000-C001 frames, C002 line of the interrupt (90), C003 A5"
}

suite! {
    COLOR_SUITE

    "COLOR_BANKS" "color_banks.asm"
    "seven banks of work RAM, two of video RAM, the spare registers"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "COLOR_PALETTES" "color_palettes.asm"
    "palette memory: indices with and without auto-increment, both halves, mode 3"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "COLOR_HDMA" "color_hdma.asm"
    "the Color's DMA, all at once: addresses, banks, continuation, duration"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "COLOR_HBLANK" "color_hblank.asm"
    "the Color's DMA, a block in each HBlank: counted, ended early, during HALT"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed"

    "COLOR_SPEED" "color_speed.asm"
    "double speed and back: KEY1, and the timer beside the picture"
    "C000 A5 passed, 5A failed, C001 case, C002 accumulator when failed, C003-C005 sixteens of M-cycles in ten lines"

    "COLOR_PRIORITY" "color_priority.asm"
    "eight palettes of each kind, tiles of both banks, flips, priorities"
    "C000 A5 when drawn, C001-C002 frames, C003 nothing has priority"

    "COLOR_LINES" "color_lines.asm"
    "another colour for each line, and a tile that HDMA brings in each HBlank"
    "C000 A5 when drawn, C001-C002 frames, C003 STAT interrupts of a frame (144)"
}
