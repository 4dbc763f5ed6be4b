//! Commands that give cells of the screen their palettes.
//!
//! Called by `super_game_boy`. Source: Pan Docs "Color Attribute Commands".

use super::memory::{
    ATTRIBUTE_FILES, CELL_LINES, CELLS_OF_LINE, COMMAND, byte, set_attribute, word,
};

/// ATTR_BLK: palettes inside of rectangles, on their edges and outside.
pub(super) fn set_blocks(ram: &mut [u8]) {
    let blocks = byte(ram, COMMAND + 1).min(18) as usize;
    for block in 0..blocks {
        set_block(ram, COMMAND + 2 + 6 * block);
    }
}

fn set_block(ram: &mut [u8], at: usize) {
    let control = byte(ram, at);
    let palettes = byte(ram, at + 1);
    let left = (byte(ram, at + 2) & 0x1f) as usize;
    let top = (byte(ram, at + 3) & 0x1f) as usize;
    let right = (byte(ram, at + 4) & 0x1f) as usize;
    let bottom = (byte(ram, at + 5) & 0x1f) as usize;
    for line in 0..CELL_LINES {
        for column in 0..CELLS_OF_LINE {
            let is_outside = column < left || column > right || line < top || line > bottom;
            let is_inside = column > left && column < right && line > top && line < bottom;
            let changes_inside = control & 1 != 0;
            let changes_edge = control & 2 != 0;
            let changes_outside = control & 4 != 0;
            // If only one side of the edge changes, the edge changes with that side.
            if is_inside {
                if changes_inside {
                    set_attribute(ram, column, line, palettes);
                }
            } else if is_outside {
                if changes_outside {
                    set_attribute(ram, column, line, palettes >> 4);
                }
            } else if changes_edge {
                set_attribute(ram, column, line, palettes >> 2);
            } else if changes_inside && !changes_outside {
                set_attribute(ram, column, line, palettes);
            } else if changes_outside && !changes_inside {
                set_attribute(ram, column, line, palettes >> 4);
            }
        }
    }
}

/// ATTR_LIN: palettes of whole lines and columns.
pub(super) fn set_lines(ram: &mut [u8]) {
    let lines = byte(ram, COMMAND + 1).min(110) as usize;
    for line in 0..lines {
        let set = byte(ram, COMMAND + 2 + line);
        let number = (set & 0x1f) as usize;
        if set & 0x80 != 0 {
            for column in 0..CELLS_OF_LINE {
                set_attribute(ram, column, number, set >> 5);
            }
        } else {
            for row in 0..CELL_LINES {
                set_attribute(ram, number, row, set >> 5);
            }
        }
    }
}

/// ATTR_DIV: palettes of two halves and of the line between.
pub(super) fn divide(ram: &mut [u8]) {
    let palettes = byte(ram, COMMAND + 1);
    let divider = (byte(ram, COMMAND + 2) & 0x1f) as usize;
    for line in 0..CELL_LINES {
        for column in 0..CELLS_OF_LINE {
            let place = if palettes & 0x40 != 0 { line } else { column };
            let palette = if place < divider {
                palettes >> 2
            } else if place == divider {
                palettes >> 4
            } else {
                palettes
            };
            set_attribute(ram, column, line, palette);
        }
    }
}

/// ATTR_CHR: palettes of cells, one after the other.
pub(super) fn set_cells(ram: &mut [u8]) {
    let mut column = byte(ram, COMMAND + 1) as usize;
    let mut line = byte(ram, COMMAND + 2) as usize;
    let cells = word(ram, COMMAND + 3).min((CELLS_OF_LINE * CELL_LINES) as u16) as usize;
    let is_downward = byte(ram, COMMAND + 5) & 1 != 0;
    for cell in 0..cells {
        let four = byte(ram, COMMAND + 6 + (cell >> 2));
        set_attribute(ram, column, line, four >> (6 - 2 * (cell & 3)));
        if is_downward {
            line += 1;
            if line >= CELL_LINES {
                line = 0;
                column += 1;
            }
        } else {
            column += 1;
            if column >= CELLS_OF_LINE {
                column = 0;
                line += 1;
            }
        }
    }
}

/// ATTR_SET: palettes from a file of ATTR_TRN.
pub(super) fn copy_file(ram: &mut [u8], file: u8) {
    if file > 44 {
        return;
    }
    for line in 0..CELL_LINES {
        for column in 0..CELLS_OF_LINE {
            let at = ATTRIBUTE_FILES + 90 * file as usize + 5 * line + (column >> 2);
            let palette = byte(ram, at) >> (6 - 2 * (column & 3));
            set_attribute(ram, column, line, palette);
        }
    }
}
