//! The assembler's language: the texts that it accepts, and its error messages for others.

use gbxcule_assembler::{Assembler, Folder, assemble, global_checksum, header_checksum};
use proptest::prelude::*;

fn code(source: &str) -> Vec<u8> {
    Assembler::new("test.asm", source)
        .code_at(0x150)
        .unwrap_or_else(|errors| panic!("{source}\n{errors}"))
}

fn complaints(source: &str) -> String {
    match Assembler::new("test.asm", source).rom() {
        Ok(_) => panic!("no complaint about\n{source}"),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn labels_may_be_used_before_they_are_defined() {
    assert_eq!(code("jp Later\nnop\nLater: nop"), [0xC3, 0x54, 0x01, 0x00, 0x00]);
}

#[test]
fn local_labels_belong_to_the_label_before_them() {
    let source = "One:\n.here: jr .here\nTwo:\n.here: jr .here\n jr One.here";
    assert_eq!(code(source), [0x18, 0xFE, 0x18, 0xFE, 0x18, 0xFA]);
}

#[test]
fn expressions_bind_as_in_c_and_know_halves_and_here() {
    let source = "N equ 2 + 3 * 4\n db N, (2 + 3) * 4, 1 << 3 | 1, ~0 & $F0, -1, 7 % 4, 9 / 2\n\
                  db low($1234), high($1234), 'a' ^ $20\n dw @";
    let bytes = [14, 20, 9, 0xF0, 0xFF, 3, 4, 0x34, 0x12, 0x41, 0x5A, 0x01];
    assert_eq!(code(source), bytes);
}

#[test]
fn percent_is_a_remainder_behind_a_value_and_binary_elsewhere() {
    assert_eq!(code("db %101, 7%5, 13 % 10\n and %11"), [5, 2, 3, 0xE6, 3]);
}

#[test]
fn data_takes_text_words_space_and_alignment() {
    let source = "db \"AB\", 1\n dw $1234, \"C\"\n ds 2\n ds 2, $EE\n align 16\n db 9";
    let bytes = [0x41, 0x42, 1, 0x34, 0x12, 0x43, 0, 0, 0, 0xEE, 0xEE, 0, 0, 0, 0, 0, 9];
    assert_eq!(code(source), bytes);
}

#[test]
fn semicolons_in_text_and_characters_start_no_comment() {
    assert_eq!(code("db \";\", ';' ; a comment"), [0x3B, 0x3B]);
}

#[test]
fn macros_take_arguments_and_give_each_use_its_own_labels() {
    let source = "macro wait\n ld b, \\1\n.again\\@: dec b\n jr nz, .again\\@\nendm\n\
                  Start: wait 5\n wait (1 + 1)";
    assert_eq!(code(source), [0x06, 5, 0x05, 0x20, 0xFD, 0x06, 2, 0x05, 0x20, 0xFD]);
}

#[test]
fn art_becomes_tiles_row_by_row_or_in_tall_pairs() {
    let picture = |order: &str| {
        let rows: Vec<&str> = (0..16)
            .map(|row| if row < 8 { "#.......::::::::" } else { "ooooooooo......." })
            .collect();
        code(&format!("art {order}\n{}\nendart", rows.join("\n")))
    };
    let tile = |low: u8, high: u8| [low, high].repeat(8);
    let (a, b, c, d) = (tile(0x80, 0x80), tile(0xFF, 0), tile(0, 0xFF), tile(0, 0x80));
    assert_eq!(picture(""), [a.clone(), b.clone(), c.clone(), d.clone()].concat());
    assert_eq!(picture("tall"), [a, c, b, d].concat());
}

#[test]
fn ram_and_rom_go_on_where_they_were_left() {
    let source = "ram $C100\nOne: ds 2\n rom\n db 1\n ram\nTwo: ds 1\n rom\n db 2\n dw One, Two";
    assert_eq!(code(source), [1, 2, 0x00, 0xC1, 0x02, 0xC1]);
}

#[test]
fn rom_goes_on_in_the_bank_that_ram_left() {
    let source =
        "cartridge mbc5\nStart: nop\n bank 2\n db 7\n ram $C000\nOne: ds 1\n rom\nHere: db 8";
    let rom = assemble(source).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(rom.bytes[0x8000..0x8002], [7, 8]);
    assert_eq!(rom.address("Here"), Some(0x4001));
}

#[test]
fn included_files_are_read_in_place() {
    let assembler = Assembler::new("main.asm", "include \"one.inc\"\n db ONE")
        .with_include("one.inc", "ONE equ 1\n db 7");
    assert_eq!(assembler.code_at(0), Ok(vec![7, 1]));
}

#[test]
fn a_cartridge_has_a_valid_header() {
    let source = "title \"HELLO\"\ncartridge mbc3_ram_battery\nramsize 32\nbanks 5\n\
                  Start: jp Far\n bank 3\nFar: db bank(Far)";
    let rom = assemble(source).unwrap();
    assert_eq!(rom.bytes.len(), 8 * 0x4000, "five banks round up to eight");
    assert_eq!(&rom.bytes[0x100..0x104], [0x00, 0xC3, 0x50, 0x01]);
    assert_eq!(&rom.bytes[0x134..0x13A], b"HELLO\0");
    assert_eq!(&rom.bytes[0x147..0x14A], [0x13, 2, 3]);
    assert_eq!(rom.bytes[0x14D], header_checksum(&rom.bytes));
    let stored = u16::from_be_bytes([rom.bytes[0x14E], rom.bytes[0x14F]]);
    assert_eq!(stored, global_checksum(&rom.bytes));
    assert_eq!(rom.bytes[3 * 0x4000], 3);
}

#[test]
fn symbols_name_every_label_with_its_bank() {
    let rom =
        assemble("ram $C000\nScore: ds 2\norg $150\nStart:\n.loop: jr .loop\nbank 1\nFar: nop")
            .unwrap();
    assert_eq!(rom.address("Score"), Some(0xC000));
    let listing = "00:0150 Start\n00:0150 Start.loop\n00:c000 Score\n01:4000 Far\n";
    assert_eq!(rom.symbol_listing(), listing);
}

#[test]
fn all_complaints_of_a_source_come_together() {
    let source =
        "Start:\n    ld a, Missing\n    ld bc, [hl]\n    jr Far\n    db 256\nFar equ $300\n";
    let expected = "\
error: no name `Missing`
 --> test.asm:2:11
error: no instruction `ld bc, [hl]`; allowed are ld bc, n16
 --> test.asm:3:5
error: `jr` reaches -128 to 127 bytes, the target is 428 away; `jp` reaches all
 --> test.asm:4:5
error: a byte is -128 to 255, found 256
 --> test.asm:5:8";
    assert_eq!(complaints(source), expected);
}

#[test]
fn complaints_say_what_is_allowed() {
    let table = [
        ("Start: lda 5", "`lda` is not an instruction, macro or directive; directives are db, dw"),
        ("Start: bit 8, a", "no instruction `bit 8, a`; allowed are bit 0, b, bit 0, c"),
        ("Start: rst 9", "allowed are rst $00, rst $08, rst $10"),
        ("Start: jp Strat", "no name `Strat`; did you mean `Start`"),
        ("Start: ldh [$C000], a", "`ldh` reaches $FF00 to $FFFF, found $C000"),
        ("Start: ldh [-1], a", "`ldh` reaches $FF00 to $FFFF, found -1"),
        ("Start: ld a, 3 +", "expected a number, a name or `(`, found the end of the line"),
        ("Start: db $GG", "`$GG` is not a number; numbers are 12, $1F, %0101 or 'c'"),
        ("Start: db \"open", "text without its closing `\"`"),
        ("Start: nop nop", "no instruction `nop value`; allowed are nop"),
        ("Start: add sp, 200", "a signed byte is -128 to 127, found 200"),
        ("Start:\nStart:", "`Start` is defined twice"),
        ("hl: nop", "`hl` is a register or condition, not a name"),
        ("nop", "no label `Start`, where execution begins"),
        ("Start: cartridge mbc9", "expected one of rom_only, mbc1, mbc1_ram"),
        ("Start: ramsize 7", "7 KiB of RAM; 0, 8, 32, 64 and 128 are allowed"),
        ("title \"lower\"\nStart:", "a title is at most 15 characters of upper-case ASCII"),
        ("Start: org $4000\n nop", "bank 0 holds $0000 to $3FFF"),
        ("Start: ram $C000\n nop", "between `ram` and `org` only labels and `ds` are allowed"),
        ("Start: ds 4\n org $150\n nop", "these bytes lie where others already are"),
        ("org $120\nStart: nop", "these bytes lie where others already are, as is the header"),
        ("Start: ds Later\nLater:", "no name `Later` above this line, where it is needed"),
        ("Start: db 1 / 0", "division by zero"),
        ("Start: db 1 << 40", "shift by 40; 0 to 31 are allowed"),
        ("include \"none.inc\"", "no file `none.inc` to include; no files were given"),
        ("macro m\n nop", "macro without its `endm`"),
        ("macro m\n m\nendm\nStart: m", "macro `m` uses itself\n --> test.asm:2:2"),
        ("macro m\n nop\nendm\nStart: m 1, 2", "`m` takes 0 arguments, found 2"),
        ("macro m\n db \\1\nendm\nStart: m , 2", "argument 1 of `m` is empty"),
        ("macro m a, b\n nop\nendm\nStart: m 1, 2", "its lines have `\\1` to `\\9` for them"),
        ("Start: endm", "`endm` without its `macro`"),
        ("m: macro\n nop\n endm\nStart:", "`macro` begins a line of its own"),
        (
            "Start: db \"a\\n\"",
            "`\\n` in text, which has no escapes; write \"line\", 10\n --> test.asm:1:13",
        ),
        ("Start: nop\n bank 2\n nop", "3 ROM banks, and a cartridge `rom_only` has 2 at most"),
        ("cartridge mbc2\n banks 32\nStart:", "32 ROM banks, and a cartridge `mbc2` has 16"),
        ("cartridge mbc1\n bank 2\nStart: nop", "`Start` lies in bank 2; at power-on"),
        ("ram $C000\nStart:", "`Start` lies in RAM"),
        ("macro m\n db \\2\nendm\nStart: m 1", "`m` needs argument 2, found 1"),
        ("art\n####\nendart", "1 rows of art; a multiple of 8 is needed"),
        ("Start: db \"\u{e9}\"", "text in data is ASCII only"),
    ];
    for (source, expected) in table {
        let messages = complaints(source);
        assert!(messages.contains(expected), "{source}\nexpected {expected}\nfound {messages}");
    }
}

#[test]
fn macros_that_use_themselves_are_complained_about_once() {
    let messages = complaints("macro m\n m\n m\n m\nendm\nStart: m\n m");
    let place = " --> test.asm:2:2 (in a macro used at test.asm:6)";
    assert_eq!(messages, format!("error: macro `m` uses itself\n{place}"));
    let messages = complaints("macro a\n b\n b\nendm\nmacro b\n a\n a\nendm\nStart: a");
    assert!(messages.starts_with("error: macro `a` uses itself through `b`\n"), "{messages}");
    assert_eq!(messages.matches("error").count(), 1, "{messages}");
}

#[test]
fn files_that_include_themselves_are_complained_about() {
    let assembler = Assembler::new("main.asm", "Start: nop\n include \"one.inc\"")
        .with_include("one.inc", " nop\n include \"one.inc\"");
    let message = assembler.rom().expect_err("no end").to_string();
    assert_eq!(message, "error: `one.inc` includes itself\n --> one.inc:2:2");
}

#[test]
fn more_lines_than_are_read_are_an_error() {
    let many = |count: usize| format!("Start:{}", " nop\n".repeat(count));
    let message = "error: more than 200000 lines, with includes read and macros written out; what \
                   follows is left out";
    let messages = complaints(&format!("{}Tail: ld a, Missing\n", "\n".repeat(200_000)));
    assert_eq!(messages, format!("{message}\n --> test.asm:200001:1"));
    assert!(assemble(&many(100)).is_ok());
    let mut source = String::from("macro m0\n; nothing\n; nothing\nendm\n");
    for level in 1..15 {
        let uses = format!(" m{}\n", level - 1).repeat(20);
        source += &format!("macro m{level}\n{uses}endm\n");
    }
    let messages = complaints(&(source + "Start: m14"));
    assert!(messages.starts_with(message) && messages.matches("error").count() == 1, "{messages}");
}

#[test]
fn an_argument_given_on_many_times_does_not_fill_the_memory() {
    let mut source = String::from("macro m0\n db \\1\nendm\n");
    for level in 1..16 {
        let arguments = "\\1 + ".repeat(8);
        source += &format!("macro m{level}\n m{} {arguments} 1\nendm\n", level - 1);
    }
    let messages = complaints(&(source + "Start: m15 1"));
    assert!(messages.contains("writes a line of more than 10000 bytes"), "{messages}");
}

#[test]
fn relative_jumps_stay_within_the_banks_that_are_in_place() {
    let source =
        |jump: &str| format!("cartridge mbc5\nStart:\n bank 1\nOne: {jump}\n bank 2\nTwo:");
    let messages = complaints(&source("jr Two + 0"));
    assert!(
        messages.contains("`jr` from bank 1 to `Two` in bank 2, which is not in place"),
        "{messages}"
    );
    assert!(assemble(&source("jr One")).is_ok());
    assert!(assemble("Start: jp First\n org $3FFE\n jr First\n bank 1\nFirst: nop").is_ok());
}

#[test]
fn a_program_may_begin_in_bank_1() {
    let rom = assemble(" bank 1\nStart: jr Start").unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(rom.bytes[0x102..0x104], [0x00, 0x40]);
}

#[test]
fn characters_may_be_arguments_of_macros() {
    let uses = [("','", b','), ("'\"'", b'"'), ("'('", b'('), ("')'", b')'), ("';'", b';')];
    for (argument, byte) in uses {
        let source = format!("macro m\n db \\1, \\2\nendm\n m {argument}, 2 ; a comment");
        assert_eq!(code(&source), [byte, 2], "{argument}");
    }
    assert_eq!(code("macro m\n db \\1\nendm\n m \"a,(;\""), *b"a,(;");
}

#[test]
fn words_of_the_assembler_are_spelled_in_either_case() {
    let source = "FIVE EQU 5\nMACRO Put\n DB \\1\nENDM\n\
                  INCLUDE \"one.inc\"\n Put FIVE\n DB HIGH($1234), \
                  LOW($1234)\n LD A, B\nHere: DB BANK(Here)";
    let assembler = Assembler::new("main.asm", source).with_include("one.inc", " NOP");
    assert_eq!(assembler.code_at(0), Ok(vec![0, 5, 0x12, 0x34, 0x78, 0]));
}

#[test]
fn art_may_have_comments() {
    let source = "art ; a tile\n; its rows\n######## ; the first\n........\n........\n........\n\
                  ........\n........\n........\n........\nendart ; done";
    assert_eq!(code(source), [vec![0xFF, 0xFF], vec![0; 14]].concat());
}

#[test]
fn a_byte_order_mark_at_the_begin_of_a_file_is_skipped() {
    let assembler = Assembler::new("main.asm", "\u{FEFF} include \"one.inc\"")
        .with_include("one.inc", "\u{FEFF}ONE: db 7");
    assert_eq!(assembler.code_at(0), Ok(vec![7]));
}

#[test]
fn a_missing_file_is_answered_with_the_nearest_ones() {
    let files = ["screen.inc", "stars.inc", "music.inc", "one.inc", "two.inc"];
    let found = |name: &str| {
        let source = format!("Start:\n include \"{name}\"");
        let assembler =
            files.iter().fold(Assembler::new("main.asm", &source), |assembler, file| {
                assembler.with_include(file, "")
            });
        assembler.rom().expect_err("no such file").to_string()
    };
    assert!(
        found("scren.inc").contains("no file `scren.inc` to include; did you mean `screen.inc`")
    );
    assert!(
        found("physics_of_water.inc").contains("none of the 5 that there are has a similar name")
    );
}

/// Folder whose second file can't be read.
#[derive(Debug)]
struct Broken;

impl Folder for Broken {
    fn names(&self) -> Vec<String> {
        vec!["good.inc".to_string(), "broken.inc".to_string()]
    }

    fn read(&self, name: &str) -> Result<String, String> {
        match name {
            "good.inc" => Ok(" db 7".to_string()),
            _ => Err("this is not UTF-8 text".to_string()),
        }
    }
}

#[test]
fn files_of_a_folder_are_read_when_they_are_included() {
    let source = |file: &str| format!("Start:\n include \"{file}\"");
    let good = source("good.inc");
    let good = Assembler::new("main.asm", &good).with_folder(&Broken).with_include("good.inc", "?");
    assert_eq!(good.rom().map(|rom| rom.bytes[0x150]), Ok(7));
    let broken = source("broken.inc");
    let found = Assembler::new("main.asm", &broken).with_folder(&Broken).rom();
    let expected = "`broken.inc` can't be read: this is not UTF-8 text\n --> main.asm:2:2";
    assert!(found.expect_err("broken").to_string().contains(expected));
}

#[test]
fn a_complaint_inside_a_macro_names_both_places() {
    let messages = complaints("macro load\n    ld a, \\1\nendm\nStart:\n    load 300");
    let expected = "error: a byte is -128 to 255, found 300\n \
                    --> test.asm:2:11 (in a macro used at test.asm:5)";
    assert_eq!(messages, expected);
}

#[test]
fn relative_jumps_reach_exactly_their_range() {
    assert_eq!(code("jr Far\n ds 127\nFar:")[..2], [0x18, 127]);
    assert_eq!(code("Far: ds 126\n jr Far")[126..], [0x18, 0x80]);
    assert!(complaints("Start: jr Far\n ds 128\nFar:").contains("the target is 128 away"));
    assert!(complaints("Start: ds 127\n jr Start").contains("the target is -129 away"));
}

proptest! {
    #[test]
    fn no_text_makes_the_assembler_panic(source in "[a-z.:$%\\[\\]+,;\"'\\\\0-9 \n()@~-]{0,80}") {
        let _ = assemble(&source);
        let _ = Assembler::new("test.asm", &source).code_at(0xFFF0);
    }

    #[test]
    fn no_mixture_of_its_words_makes_the_assembler_panic(
        words in proptest::collection::vec(
            prop::sample::select(vec![
                "macro", "endm", "art", "endart", "tall", "include", "m", "\\1", "\\@", "db", "dw",
                "ds", "org", "bank", "ram", "align", "title", "banks", "ramsize", "cartridge", "model", "equ",
                "ld", "jr", "bit", "a", "hl", "[hl]", "sp", "+", "-", "(", ")", ",", ":", "Start",
                ".x", "$FFFF", "0", "511", "-1", "\"T\"", "'", ";", "\n", "\n", "\n", "@", "low(",
                "bank(", "########", "<<", "/", "~",
            ]),
            0..40,
        )
    ) {
        let source = words.join(" ");
        let _ = assemble(&source);
        let _ = Assembler::new("test.asm", &source).code_at(0xFFF0);
    }
}

#[test]
fn a_source_says_for_which_consoles_it_is() {
    for (model, flag) in [("original", 0), ("both", 0x80), ("color", 0xC0)] {
        let source = format!("title \"FIFTEEN LETTERS\"\nmodel {model}\nStart: ldh [VBK], a");
        let bytes = assemble(&source).expect("valid").bytes;
        assert_eq!(bytes[0x143], flag);
        assert_eq!(&bytes[0x134..0x143], b"FIFTEEN LETTERS");
        assert_eq!(&bytes[0x150..0x152], &[0xE0, 0x4F]);
    }
    assert!(complaints("model green").contains("original, both, color"));
}
