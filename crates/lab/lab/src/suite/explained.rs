//! Rows of the original, with every difference for which a reference is known to be wrong, and the
//! reason.
//!
//! The evidence for each reason is the other reference, if it agrees with the swarm to the cycle,
//! or Pan Docs, or a hardware test; `docs/references.md` has the details.

use gbxcule_swarm::Model;

use super::{Case, Explained};
use crate::backend::BackendKind::{Libmgba, PyboySingle};
use crate::region::Region;

const SIGNATURE: Region = Region { low: 0xC000, high: 0xC100 };

const SELECT_BITS: &str = "PyBoy reads the select bits of P1 as 0 while a button is held (Pan Docs \"Joypad Input\"; \
                           libmgba agrees with us)";
const STALE_BUTTONS: &str = "PyBoy looks at the buttons when P1 is written, not when it is read, and the frame ends \
                             between the two (Pan Docs \"Joypad Input\"; libmgba agrees with us)";
pub(super) const TIMER_WAKES: &str =
    "PyBoy wakes from HALT by the timer some cycles off (libmgba agrees with us)";
pub(super) const SERIAL_CLOCK: &str = "PyBoy starts a transfer's clock with the write, hardware has it run on from the divider \
                            (libmgba agrees with us)";
pub(super) const LCD_ON: &str = "PyBoy's picture is 4 T-cycles late after the LCD was switched on (mooneye lcdon_timing; libmgba \
                      agrees with us)";
const LCD_ON_STAT: &str = "PyBoy's picture is 4 T-cycles late after the LCD was switched on and its STAT interrupts \
                           are off by more (libmgba agrees with us)";
const LCD_ON_WINDOW: &str = "PyBoy's picture is 4 T-cycles late after the LCD was switched on, and it draws whole \
                             lines (mealybug m2_win_en_toggle)";
pub(super) const LCD_ON_OBJECTS: &str = "PyBoy's picture is 4 T-cycles late after the LCD was switched on, and it shows objects \
                              under one that is behind the background (Pan Docs \"Drawing priority\")";
const SERIAL_AND_LCD_ON: &str = "PyBoy's picture is 4 T-cycles late after the LCD was switched on, and it starts a \
                                 transfer's clock with the write (libmgba agrees with us in all of registers, memory \
                                 and cycles)";
const OPEN_BUS: &str = "libmgba reads locked cartridge RAM as the last byte on the bus, which Pan Docs allows; the ROM \
                        insists on FF as mooneye's ram_64kb does (PyBoy agrees with us)";
const LAST_PICTURE: &str = "libmgba keeps the last picture while the LCD is off, a DMG shows white (Pan Docs \
                            \"LCDC.7\"; PyBoy agrees with us)";
const WHOLE_LINES: &str = "libmgba keeps the last picture while the LCD is off and draws whole lines (mealybug \
                           m2_win_en_toggle)";
pub(super) const MASKING: &str = "libmgba keeps the last picture while the LCD is off and shows objects under one that is behind \
                       the background (Pan Docs \"Drawing priority\")";
const LCD_ON_STAT_MGBA: &str = "libmgba keeps the last picture while the LCD is off, and a frame ends within another \
                                instruction: its picture is up to 3 T-cycles off after the LCD was switched on";
const GAME_MGBA: &str = "libmgba's picture is up to 3 T-cycles off after the LCD was switched on, so frames end an \
                         instruction later (PyBoy agrees with us in all of registers, memory and pixels)";
const LCD_ON_AND_OFF: &str = "PyBoy's picture is 4 T-cycles late after the LCD was switched on, and while it is off \
                              frames end elsewhere: registers are those of another instruction (libmgba agrees with \
                              us; memory is equal)";
const LINE_153: &str = "PyBoy reads LY as 153 to the end of line 153, a DMG as 0 from its T-cycle 4 on: where the \
                        game's work in VBlank ends in that line, PyBoy's reads the buttons a frame later (libmgba \
                        agrees with us in memory)";
const GAMES_MGBA: &str = "libmgba's picture is up to 3 T-cycles off after the LCD was switched on, so frames end an \
                          instruction later; it keeps the last picture while the LCD is off and draws whole lines \
                          (PyBoy agrees with us in PEARL_DRIFT's memory and pixels)";

type Fields = &'static [&'static str];
/// The fields `first`, `times` and `digest` of an [`Explained`]; the message about a stale pin
/// prints the right values.
type Pin = (u64, u64, &'static str);

pub(super) const fn plain(rom: &'static str, steps: u64) -> Case {
    let regions = &[SIGNATURE];
    Case {
        rom,
        steps,
        actions: "random",
        model: Model::Original,
        regions,
        counters: true,
        frame: false,
        explained: &[],
    }
}

pub(super) const fn drawn(rom: &'static str, steps: u64) -> Case {
    Case { frame: true, ..plain(rom, steps) }
}

pub(super) const fn pyboy(
    fields: Fields,
    (first, times, digest): Pin,
    why: &'static str,
) -> Explained {
    Explained { reference: PyboySingle, fields, first, times, digest, why }
}

pub(super) const fn mgba(
    fields: Fields,
    (first, times, digest): Pin,
    why: &'static str,
) -> Explained {
    Explained { reference: Libmgba, fields, first, times, digest, why }
}

const ANYTHING: &[&str] =
    &["a", "f", "b", "c", "d", "e", "h", "l", "sp", "pc", "tcycles", "C000:C100"];

pub(super) const CASES: [Case; 36] = [
    plain("ALU_LOOP", 1024),
    plain("MEM_RWB", 1024),
    Case {
        actions: "hold:LEFT",
        explained: &[pyboy(&["a"], (4, 78, "73dcd49e8958"), SELECT_BITS)],
        ..plain("JOY_DIVERGE_PERSIST", 1024)
    },
    Case {
        explained: &[pyboy(ANYTHING, (10, 1015, "409c4aa4a2d0"), STALE_BUTTONS)],
        ..plain("JOY_DIVERGE_PERSIST", 1024)
    },
    plain("LOADS_BASIC", 120),
    plain("ALU_FLAGS", 120),
    plain("ALU16_SP", 120),
    plain("FLOW_STACK", 120),
    plain("CB_BITOPS", 120),
    plain("TIMER_DIV_BASIC", 120),
    Case {
        explained: &[pyboy(&["tcycles"], (1, 120, "e144403cf04e"), TIMER_WAKES)],
        ..plain("TIMER_IRQ_HALT", 120)
    },
    plain("EI_DELAY", 120),
    plain("DMA_OAM_COPY", 120),
    Case {
        explained: &[pyboy(&["tcycles", "C000:C100"], (1, 120, "dc399af5dc41"), SERIAL_CLOCK)],
        ..plain("SERIAL_HELLO", 120)
    },
    plain("HALT_IDLE", 120),
    plain("MBC1_SWITCH", 120),
    Case {
        explained: &[mgba(&["a", "f", "tcycles", "C000:C100"], (1, 120, "0b12c736d103"), OPEN_BUS)],
        ..plain("MBC1_RAM", 120)
    },
    plain("MBC2_SWITCH", 120),
    plain("MBC2_RAM", 120),
    plain("MBC3_SWITCH", 120),
    Case {
        explained: &[mgba(&["a", "f", "tcycles", "C000:C100"], (1, 120, "d7e8f8d7a69b"), OPEN_BUS)],
        ..plain("MBC3_RAM", 120)
    },
    Case {
        explained: &[mgba(ANYTHING, (1, 120, "2e1a22ebd07a"), OPEN_BUS)],
        ..plain("MBC3_RTC", 120)
    },
    plain("MBC5_SWITCH", 120),
    Case {
        explained: &[mgba(ANYTHING, (1, 120, "ba03404a7a4f"), OPEN_BUS)],
        ..plain("MBC5_RAM", 120)
    },
    Case {
        explained: &[
            pyboy(&["tcycles"], (3, 118, "1b596c5dbb5e"), LCD_ON),
            mgba(&["frame"], (1, 2, "298f81fb766c"), LAST_PICTURE),
        ],
        ..drawn("BG_STATIC", 120)
    },
    Case {
        explained: &[
            pyboy(&["tcycles"], (4, 297, "474c9c5abc1b"), LCD_ON),
            mgba(&["frame"], (1, 2, "5a35ebbe5903"), LAST_PICTURE),
        ],
        ..drawn("BG_SCROLL", 300)
    },
    Case {
        explained: &[
            pyboy(&["tcycles", "frame"], (3, 298, "7e7f8f15c6a0"), LCD_ON_WINDOW),
            mgba(&["frame"], (1, 40, "f16ef5bae6c9"), WHOLE_LINES),
        ],
        ..drawn("PPU_WINDOW", 300)
    },
    Case {
        explained: &[
            pyboy(&["tcycles", "frame"], (3, 298, "d2cc9fafc8ff"), LCD_ON_OBJECTS),
            mgba(&["frame"], (1, 38, "868e5a486e7a"), MASKING),
        ],
        ..drawn("PPU_SPRITES", 300)
    },
    Case {
        explained: &[
            pyboy(&["a", "f", "pc", "tcycles", "C000:C100"], (3, 118, "039c8b78d608"), LCD_ON_STAT),
            mgba(&["sp", "pc", "tcycles", "frame"], (1, 3, "619790ef2193"), LCD_ON_STAT_MGBA),
        ],
        ..drawn("PPU_STAT_IRQ", 120)
    },
    Case {
        explained: &[
            pyboy(GAME_FIELDS, (5, 596, "b9f54dbf618e"), SERIAL_AND_LCD_ON),
            mgba(&["frame"], (1, 6, "4e5556e584f6"), LAST_PICTURE),
        ],
        ..drawn("PEARL_HEIST", 600)
    },
    Case {
        explained: &[
            pyboy(GAME_FIELDS, (5, 1996, "41b8dcbdebd9"), LINE_153),
            mgba(DRAWN_FIELDS, (1, 49, "4f1a2a7a19ec"), GAMES_MGBA),
        ],
        ..drawn("KEEP_OF_KEYS", 2000)
    },
    Case {
        explained: &[
            pyboy(GAME_FIELDS, (5, 1996, "66fdafbea7cd"), LINE_153),
            mgba(DRAWN_FIELDS, (1, 42, "c6523ac535bf"), GAMES_MGBA),
        ],
        ..drawn("EMBER_LEAP", 2000)
    },
    Case {
        explained: &[
            pyboy(GAME_FIELDS, (5, 1995, "817e235bf7f3"), LINE_153),
            mgba(DRAWN_FIELDS, (1, 1983, "070fe0260b1f"), GAMES_MGBA),
        ],
        ..drawn("TARN_MASON", 2000)
    },
    Case {
        explained: &[
            pyboy(GAME_FIELDS, (5, 1995, "12212a83a05d"), LINE_153),
            mgba(DRAWN_FIELDS, (1, 1987, "2facbc32aac5"), GAMES_MGBA),
        ],
        ..drawn("LANTERN_WING", 2000)
    },
    Case {
        explained: &[
            pyboy(DRAWN_FIELDS, (5, 1996, "e0208b94eb3e"), LCD_ON_AND_OFF),
            mgba(DRAWN_FIELDS, (1, 1969, "90f72d6633e9"), GAMES_MGBA),
        ],
        ..drawn("LAST_BEACON", 2000)
    },
    Case {
        explained: &[
            pyboy(&["f", "pc", "tcycles"], (3, 598, "67a729b92e31"), LCD_ON),
            mgba(GAME_FIELDS, (1, 540, "9c26955af81d"), GAME_MGBA),
        ],
        ..drawn("PEARL_DRIFT", 600)
    },
];

pub(super) const DRAWN_FIELDS: &[&str] =
    &["a", "f", "b", "c", "d", "e", "h", "l", "sp", "pc", "tcycles", "frame"];
pub(super) const GAME_FIELDS: &[&str] =
    &["a", "f", "b", "c", "d", "e", "h", "l", "sp", "pc", "tcycles", "C000:C100", "frame"];
