//! The opcode chart: assembling and disassembling compared with each other, and with encodings
//! written by hand.

use std::collections::BTreeSet;

use gbxcule_assembler::opcode::{Slot, forms};
use gbxcule_assembler::{Assembler, disassemble};
use proptest::prelude::*;

fn code(source: &str, address: u16) -> Vec<u8> {
    Assembler::new("test.asm", source)
        .code_at(address)
        .unwrap_or_else(|errors| panic!("{source}\n{errors}"))
}

#[test]
fn the_chart_has_five_hundred_different_instructions() {
    let spelled: BTreeSet<&str> = forms().iter().map(|form| form.text.as_str()).collect();
    let encoded: BTreeSet<(bool, u8)> =
        forms().iter().map(|form| (form.prefixed, form.opcode)).collect();
    assert_eq!((forms().len(), spelled.len(), encoded.len()), (500, 500, 500));
    assert!(forms().iter().all(|form| form.prefixed || form.opcode != 0xCB));
}

#[test]
fn encodings_are_those_of_the_manual() {
    let known: [(&str, &[u8]); 40] = [
        ("nop", &[0x00]),
        ("ld bc, $1234", &[0x01, 0x34, 0x12]),
        ("ld [$C0DE], sp", &[0x08, 0xDE, 0xC0]),
        ("stop", &[0x10, 0x00]),
        ("daa", &[0x27]),
        ("ld [hl+], a", &[0x22]),
        ("ld a, [hl-]", &[0x3A]),
        ("dec [hl]", &[0x35]),
        ("ld [hl], $56", &[0x36, 0x56]),
        ("ld b, c", &[0x41]),
        ("ld h, [hl]", &[0x66]),
        ("halt", &[0x76]),
        ("ld [hl], a", &[0x77]),
        ("add a, b", &[0x80]),
        ("add b", &[0x80]),
        ("adc [hl]", &[0x8E]),
        ("sub 7", &[0xD6, 0x07]),
        ("sbc a, -1", &[0xDE, 0xFF]),
        ("and %1010", &[0xE6, 0x0A]),
        ("xor a", &[0xAF]),
        ("or e", &[0xB3]),
        ("cp 'A'", &[0xFE, 0x41]),
        ("ret nz", &[0xC0]),
        ("jp nc, $4567", &[0xD2, 0x67, 0x45]),
        ("call c, $0102", &[0xDC, 0x02, 0x01]),
        ("push af", &[0xF5]),
        ("pop hl", &[0xE1]),
        ("rst $28", &[0xEF]),
        ("reti", &[0xD9]),
        ("ldh [$FF44], a", &[0xE0, 0x44]),
        ("ldh a, [$44]", &[0xF0, 0x44]),
        ("ldh [c], a", &[0xE2]),
        ("add sp, -4", &[0xE8, 0xFC]),
        ("ld hl, sp+5", &[0xF8, 0x05]),
        ("ld hl, sp-5", &[0xF8, 0xFB]),
        ("jp hl", &[0xE9]),
        ("ld a, [$FF44]", &[0xFA, 0x44, 0xFF]),
        ("swap a", &[0xCB, 0x37]),
        ("bit 7, h", &[0xCB, 0x7C]),
        ("set 3, [hl]", &[0xCB, 0xDE]),
    ];
    for (source, bytes) in known {
        assert_eq!(code(source, 0), bytes, "{source}");
    }
}

#[test]
fn bytes_without_an_instruction_disassemble_to_data() {
    for opcode in [0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD] {
        assert_eq!(disassemble(&[opcode, 1, 2], 0), (format!("db ${opcode:02X}"), 1));
    }
    assert_eq!(disassemble(&[0xC3, 0x50], 0), ("db $C3".to_string(), 1));
    assert_eq!(disassemble(&[0xCB], 0), ("db $CB".to_string(), 1));
    assert_eq!(disassemble(&[], 0), (String::new(), 0));
}

proptest! {
    #[test]
    fn every_instruction_comes_back_from_its_own_text(
        index in 0..500_usize,
        operand in any::<[u8; 2]>(),
        address in any::<u16>(),
    ) {
        let form = &forms()[index];
        let mut bytes = if form.prefixed { vec![0xCB] } else { vec![] };
        bytes.push(form.opcode);
        bytes.extend(operand);
        bytes.truncate(form.bytes());
        let (text, length) = disassemble(&bytes, address);
        prop_assert_eq!(length, bytes.len());
        prop_assert_eq!(code(&text, address), bytes, "{}", text);
    }

    #[test]
    fn any_bytes_come_back_from_their_disassembly(
        bytes in proptest::collection::vec(any::<u8>(), 0..64),
        address in 0..0xFF00_u16,
    ) {
        let (mut at, mut source) = (0, String::new());
        while at < bytes.len() {
            let (text, length) = disassemble(&bytes[at..], address + at as u16);
            source.push_str(&text);
            source.push('\n');
            at += length;
        }
        prop_assert_eq!(at, bytes.len());
        prop_assert_eq!(code(&source, address), bytes);
    }
}

#[test]
fn lengths_follow_from_the_operands() {
    for form in forms() {
        let operands: usize = form.slots.iter().map(Slot::bytes).sum();
        assert_eq!(form.bytes(), 1 + usize::from(form.prefixed) + operands, "{}", form.text);
        assert!((1..=3).contains(&form.bytes()));
    }
}
