//! Rows of the Color, with every difference for which a reference is known to be wrong, as in
//! `explained.rs`.

use gbxcule_swarm::Model;

use super::Case;
use super::explained::{
    DRAWN_FIELDS, GAME_FIELDS, LCD_ON, LCD_ON_OBJECTS, MASKING, SERIAL_CLOCK, TIMER_WAKES, drawn,
    mgba, plain, pyboy,
};

const MODE_3_PYBOY: &str =
    "PyBoy writes palettes in mode 3 (Pan Docs \"LCD Color Palettes\"; libmgba agrees with us)";
const MODE_3_MGBA: &str = "libmgba reads palettes in mode 3 (Pan Docs \"LCD Color Palettes\")";
const SVBK: &str = "libmgba reads SVBK back as 1 after a 0 was written (SameBoy reads back what was written; PyBoy \
                    agrees with us)";
const HDMA_TIME: &str = "PyBoy's CPU goes on while HDMA copies (Pan Docs \"VRAM DMA transfers\"; libmgba agrees with us)";
const HDMA_TIME_MGBA: &str = "the CPU goes on some T-cycles earlier or later behind HDMA (gambatte's HDMA tests, which \
                              our machine passes)";
const HDMA_TWICE: &str = "PyBoy copies a second block in an HBlank of 206 T-cycles or more (Pan Docs \"VRAM DMA \
                          transfers\"; libmgba agrees with us)";
const HDMA_HALT: &str =
    "libmgba copies blocks while the CPU is halted (Pan Docs \"VRAM DMA transfers\")";
const SPEED_PYBOY: &str = "PyBoy's CPU does not wait for its new clock, and unused bits of KEY1 read as 0 (Pan Docs \
                           \"FF4D\"; libmgba agrees with us)";
const SPEED_MGBA: &str =
    "libmgba's picture is some T-cycles off after the LCD was switched on or the speed changed";
const HDMA_LATE: &str = "PyBoy's HDMA takes all of an HBlank, so that the colour is written a line late (Pan Docs \"VRAM \
                         DMA transfers\"; libmgba agrees with us)";
const COLOR_GAME_MGBA: &str = "libmgba's picture is some T-cycles off after the LCD was switched on or the speed changed, so \
                         frames end an instruction later; it keeps the last picture while the LCD is off (memory is \
                         equal, and all later frames)";
const GAME_PYBOY: &str = "PyBoy's CPU does not wait for its new clock, so that the game's clock runs ahead (Pan Docs \
                          \"FF4D\"; libmgba agrees with us in memory in all of the 600 frames)";
const COLOR_LAST_PICTURE: &str = "libmgba keeps the last picture while the LCD is off, a Color shows white (Pan Docs \
                            \"LCDC.7\"; PyBoy agrees with us)";

const fn color(case: Case) -> Case {
    Case { model: Model::Color, ..case }
}

pub(super) const CASES: [Case; 18] = [
    color(Case {
        explained: &[mgba(&["a", "f", "tcycles", "C000:C100"], (1, 120, "3eac4b91b685"), SVBK)],
        ..plain("COLOR_BANKS", 120)
    }),
    color(Case {
        explained: &[
            pyboy(
                &["a", "f", "pc", "tcycles", "C000:C100"],
                (1, 120, "254a2720c4f7"),
                MODE_3_PYBOY,
            ),
            mgba(&["a", "f", "tcycles", "C000:C100"], (2, 119, "1e24ef0f6875"), MODE_3_MGBA),
        ],
        ..plain("COLOR_PALETTES", 120)
    }),
    color(Case {
        explained: &[
            pyboy(&["a", "f", "tcycles", "C000:C100"], (2, 119, "cab49bbb07b6"), HDMA_TIME),
            mgba(&["tcycles"], (2, 119, "e866e41b4831"), HDMA_TIME_MGBA),
        ],
        ..plain("COLOR_HDMA", 120)
    }),
    color(Case {
        explained: &[
            pyboy(
                &["a", "f", "h", "l", "pc", "tcycles", "C000:C100"],
                (1, 120, "4c0948ecdd4d"),
                HDMA_TWICE,
            ),
            mgba(
                &["a", "f", "l", "pc", "tcycles", "C000:C100"],
                (1, 120, "ecf4a8a3fde2"),
                HDMA_HALT,
            ),
        ],
        ..plain("COLOR_HBLANK", 120)
    }),
    color(Case {
        explained: &[
            pyboy(&["a", "f", "pc", "tcycles", "C000:C100"], (1, 120, "49f9fa3e0b6a"), SPEED_PYBOY),
            mgba(&["tcycles"], (1, 120, "c23e91c79450"), SPEED_MGBA),
        ],
        ..plain("COLOR_SPEED", 120)
    }),
    color(Case {
        explained: &[
            pyboy(&["tcycles", "frame"], (4, 297, "d489d3a55e8f"), LCD_ON_OBJECTS),
            mgba(&["frame"], (1, 6, "a5fa8a2b07c7"), MASKING),
        ],
        ..drawn("COLOR_PRIORITY", 300)
    }),
    color(Case {
        explained: &[
            pyboy(&["tcycles", "C000:C100", "frame"], (3, 298, "d432b7c8477b"), HDMA_LATE),
            mgba(&["frame"], (1, 2, "8c0b7f228c6c"), COLOR_LAST_PICTURE),
        ],
        ..drawn("COLOR_LINES", 300)
    }),
    color(plain("ALU_LOOP", 300)),
    color(plain("TIMER_DIV_BASIC", 120)),
    color(Case {
        explained: &[pyboy(&["tcycles"], (1, 120, "e144403cf04e"), TIMER_WAKES)],
        ..plain("TIMER_IRQ_HALT", 120)
    }),
    color(plain("EI_DELAY", 120)),
    color(plain("DMA_OAM_COPY", 120)),
    color(Case {
        explained: &[pyboy(&["tcycles", "C000:C100"], (1, 120, "dc399af5dc41"), SERIAL_CLOCK)],
        ..plain("SERIAL_HELLO", 120)
    }),
    color(plain("HALT_IDLE", 120)),
    color(Case {
        explained: &[
            pyboy(&["tcycles"], (4, 297, "474c9c5abc1b"), LCD_ON),
            mgba(&["frame"], (4, 1, "a5347181e8df"), COLOR_LAST_PICTURE),
        ],
        ..drawn("BG_SCROLL", 300)
    }),
    color(Case {
        explained: &[
            pyboy(&["tcycles"], (3, 298, "c7c3dbb3c81a"), LCD_ON),
            mgba(&["frame"], (3, 1, "8005aab885f2"), COLOR_LAST_PICTURE),
        ],
        ..drawn("PPU_WINDOW", 300)
    }),
    color(Case {
        explained: &[
            pyboy(&["tcycles", "frame"], (3, 298, "aa45bef4d15f"), LCD_ON_OBJECTS),
            mgba(&["frame"], (3, 39, "7cf2aa6a7242"), MASKING),
        ],
        ..drawn("PPU_SPRITES", 300)
    }),
    color(Case {
        explained: &[
            pyboy(GAME_FIELDS, (1, 600, "9dd76a77e835"), GAME_PYBOY),
            mgba(DRAWN_FIELDS, (1, 596, "d89ceca6f41e"), COLOR_GAME_MGBA),
        ],
        ..drawn("AMBER_ROAD", 600)
    }),
];
