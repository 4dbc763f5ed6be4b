//! The SM83's instruction set as one table of forms, for both the assembler and the disassembler.
//!
//! A form is the text that the assembler accepts, with a placeholder for the bytes after the
//! opcode: `n8` a byte, `n16` a word, `h8` an address in FF00..FFFF, `e8` a jump relative to the
//! next instruction, `s8` a signed byte.

use std::sync::OnceLock;

/// Kind of an operand of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A fixed text, which is part of the opcode: `a`, `[hl+]`, `nz`, the `3` of `bit 3, a`.
    Fixed(String),
    /// A byte after the opcode: `n8`.
    Byte,
    /// A little-endian word after the opcode: `n16`.
    Word,
    /// Memory at a word after the opcode: `[n16]`.
    AtWord,
    /// Memory at FF00 plus a byte after the opcode: `[h8]`.
    AtHigh,
    /// A jump target, encoded as the signed distance from the next instruction: `e8`.
    Relative,
    /// A signed byte after the opcode: `s8`.
    Signed,
    /// The stack pointer plus a signed byte after the opcode: `sp+s8`.
    SpPlusSigned,
}

impl Slot {
    fn parse(text: &str) -> Slot {
        match text {
            "n8" => Slot::Byte,
            "n16" => Slot::Word,
            "[n16]" => Slot::AtWord,
            "[h8]" => Slot::AtHigh,
            "e8" => Slot::Relative,
            "s8" => Slot::Signed,
            "sp+s8" => Slot::SpPlusSigned,
            fixed => Slot::Fixed(fixed.to_string()),
        }
    }

    /// Returns the number of bytes that the operand takes after the opcode.
    pub fn bytes(&self) -> usize {
        match self {
            Slot::Fixed(_) => 0,
            Slot::Word | Slot::AtWord => 2,
            Slot::Byte | Slot::AtHigh | Slot::Relative | Slot::Signed | Slot::SpPlusSigned => 1,
        }
    }
}

/// Instruction with the kinds of its operands: a cell of the opcode chart.
#[derive(Clone, Debug)]
pub struct Form {
    /// True if the opcode follows a CB byte.
    pub prefixed: bool,
    /// The opcode itself.
    pub opcode: u8,
    /// Text in the chart, with placeholders: `ld a, n8`.
    pub text: String,
    /// First word: `ld`.
    pub mnemonic: String,
    /// The operands in order.
    pub slots: Vec<Slot>,
}

impl Form {
    fn parse(prefixed: bool, opcode: u8, text: &str) -> Form {
        let (mnemonic, operands) = text.split_once(' ').unwrap_or((text, ""));
        let slots = operands.split(", ").filter(|slot| !slot.is_empty()).map(Slot::parse).collect();
        Form { prefixed, opcode, text: text.to_string(), mnemonic: mnemonic.to_string(), slots }
    }

    /// Returns the length of the whole instruction in bytes.
    pub fn bytes(&self) -> usize {
        1 + usize::from(self.prefixed) + self.slots.iter().map(Slot::bytes).sum::<usize>()
    }
}

/// Returns all 500 forms: 244 with an opcode of one byte, then 256 after CB.
pub fn forms() -> &'static [Form] {
    static FORMS: OnceLock<Vec<Form>> = OnceLock::new();
    FORMS.get_or_init(|| {
        let plain = (0..=255).filter(|&opcode: &u8| !CHART[usize::from(opcode)].is_empty());
        let plain = plain.map(|opcode| Form::parse(false, opcode, CHART[usize::from(opcode)]));
        plain.chain((0..=255).map(|opcode| Form::parse(true, opcode, &prefixed(opcode)))).collect()
    })
}

/// Returns the form of an opcode, if the CPU has one.
pub fn form(is_prefixed: bool, opcode: u8) -> Option<&'static Form> {
    static PLACES: OnceLock<Vec<Option<usize>>> = OnceLock::new();
    let places = PLACES.get_or_init(|| {
        let mut places = vec![None; 512];
        for (place, form) in forms().iter().enumerate() {
            places[usize::from(form.prefixed) * 256 + usize::from(form.opcode)] = Some(place);
        }
        places
    });
    places[usize::from(is_prefixed) * 256 + usize::from(opcode)].map(|place| &forms()[place])
}

/// Returns the text of an opcode after CB. That chart is regular: eight rotations, then `bit`,
/// `res` and `set` by bit number.
fn prefixed(opcode: u8) -> String {
    const TARGET: [&str; 8] = ["b", "c", "d", "e", "h", "l", "[hl]", "a"];
    const ROTATE: [&str; 8] = ["rlc", "rrc", "rl", "rr", "sla", "sra", "swap", "srl"];
    let (target, middle) = (TARGET[usize::from(opcode & 7)], opcode >> 3 & 7);
    match opcode >> 6 {
        0 => format!("{} {target}", ROTATE[usize::from(middle)]),
        1 => format!("bit {middle}, {target}"),
        2 => format!("res {middle}, {target}"),
        _ => format!("set {middle}, {target}"),
    }
}

/// Chart of unprefixed opcodes, four to a line. A real CPU hangs at the empty cells; CB is the
/// prefix.
#[rustfmt::skip]
const CHART: [&str; 256] = [
    "nop",            "ld bc, n16",     "ld [bc], a",     "inc bc", // 00
    "inc b",          "dec b",          "ld b, n8",       "rlca",
    "ld [n16], sp",   "add hl, bc",     "ld a, [bc]",     "dec bc",
    "inc c",          "dec c",          "ld c, n8",       "rrca",
    "stop n8",        "ld de, n16",     "ld [de], a",     "inc de", // 10
    "inc d",          "dec d",          "ld d, n8",       "rla",
    "jr e8",          "add hl, de",     "ld a, [de]",     "dec de",
    "inc e",          "dec e",          "ld e, n8",       "rra",
    "jr nz, e8",      "ld hl, n16",     "ld [hl+], a",    "inc hl", // 20
    "inc h",          "dec h",          "ld h, n8",       "daa",
    "jr z, e8",       "add hl, hl",     "ld a, [hl+]",    "dec hl",
    "inc l",          "dec l",          "ld l, n8",       "cpl",
    "jr nc, e8",      "ld sp, n16",     "ld [hl-], a",    "inc sp", // 30
    "inc [hl]",       "dec [hl]",       "ld [hl], n8",    "scf",
    "jr c, e8",       "add hl, sp",     "ld a, [hl-]",    "dec sp",
    "inc a",          "dec a",          "ld a, n8",       "ccf",
    "ld b, b",        "ld b, c",        "ld b, d",        "ld b, e", // 40
    "ld b, h",        "ld b, l",        "ld b, [hl]",     "ld b, a",
    "ld c, b",        "ld c, c",        "ld c, d",        "ld c, e",
    "ld c, h",        "ld c, l",        "ld c, [hl]",     "ld c, a",
    "ld d, b",        "ld d, c",        "ld d, d",        "ld d, e", // 50
    "ld d, h",        "ld d, l",        "ld d, [hl]",     "ld d, a",
    "ld e, b",        "ld e, c",        "ld e, d",        "ld e, e",
    "ld e, h",        "ld e, l",        "ld e, [hl]",     "ld e, a",
    "ld h, b",        "ld h, c",        "ld h, d",        "ld h, e", // 60
    "ld h, h",        "ld h, l",        "ld h, [hl]",     "ld h, a",
    "ld l, b",        "ld l, c",        "ld l, d",        "ld l, e",
    "ld l, h",        "ld l, l",        "ld l, [hl]",     "ld l, a",
    "ld [hl], b",     "ld [hl], c",     "ld [hl], d",     "ld [hl], e", // 70
    "ld [hl], h",     "ld [hl], l",     "halt",           "ld [hl], a",
    "ld a, b",        "ld a, c",        "ld a, d",        "ld a, e",
    "ld a, h",        "ld a, l",        "ld a, [hl]",     "ld a, a",
    "add a, b",       "add a, c",       "add a, d",       "add a, e", // 80
    "add a, h",       "add a, l",       "add a, [hl]",    "add a, a",
    "adc a, b",       "adc a, c",       "adc a, d",       "adc a, e",
    "adc a, h",       "adc a, l",       "adc a, [hl]",    "adc a, a",
    "sub a, b",       "sub a, c",       "sub a, d",       "sub a, e", // 90
    "sub a, h",       "sub a, l",       "sub a, [hl]",    "sub a, a",
    "sbc a, b",       "sbc a, c",       "sbc a, d",       "sbc a, e",
    "sbc a, h",       "sbc a, l",       "sbc a, [hl]",    "sbc a, a",
    "and a, b",       "and a, c",       "and a, d",       "and a, e", // A0
    "and a, h",       "and a, l",       "and a, [hl]",    "and a, a",
    "xor a, b",       "xor a, c",       "xor a, d",       "xor a, e",
    "xor a, h",       "xor a, l",       "xor a, [hl]",    "xor a, a",
    "or a, b",        "or a, c",        "or a, d",        "or a, e", // B0
    "or a, h",        "or a, l",        "or a, [hl]",     "or a, a",
    "cp a, b",        "cp a, c",        "cp a, d",        "cp a, e",
    "cp a, h",        "cp a, l",        "cp a, [hl]",     "cp a, a",
    "ret nz",         "pop bc",         "jp nz, n16",     "jp n16", // C0
    "call nz, n16",   "push bc",        "add a, n8",      "rst $00",
    "ret z",          "ret",            "jp z, n16",      "",
    "call z, n16",    "call n16",       "adc a, n8",      "rst $08",
    "ret nc",         "pop de",         "jp nc, n16",     "", // D0
    "call nc, n16",   "push de",        "sub a, n8",      "rst $10",
    "ret c",          "reti",           "jp c, n16",      "",
    "call c, n16",    "",               "sbc a, n8",      "rst $18",
    "ldh [h8], a",    "pop hl",         "ldh [c], a",     "", // E0
    "",               "push hl",        "and a, n8",      "rst $20",
    "add sp, s8",     "jp hl",          "ld [n16], a",    "",
    "",               "",               "xor a, n8",      "rst $28",
    "ldh a, [h8]",    "pop af",         "ldh a, [c]",     "di", // F0
    "",               "push af",        "or a, n8",       "rst $30",
    "ld hl, sp+s8",   "ld sp, hl",      "ld a, [n16]",    "ei",
    "",               "",               "cp a, n8",       "rst $38",
];
