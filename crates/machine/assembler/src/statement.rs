//! Parses one line of tokens to statements: a label, an instruction, a directive.

use crate::error::Complaint;
use crate::expression::{Expression, Reader};
use crate::header::{CartridgeType, model_by_name, model_names};
use crate::lex::{Token, lex};

#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// `Name:` or `.local:`
    Label {
        name: String,
        column: u32,
    },
    /// `NAME equ value`
    Constant {
        name: String,
        column: u32,
        value: Expression,
    },
    Instruction {
        mnemonic: String,
        column: u32,
        operands: Vec<Operand>,
    },
    /// `db`: bytes and ASCII text.
    Bytes(Vec<Datum>),
    /// `dw`
    Words(Vec<Datum>),
    /// `ds count` or `ds count, fill`
    Space {
        count: Expression,
        fill: Option<Expression>,
        column: u32,
    },
    /// `align 256`
    Align {
        to: Expression,
        column: u32,
    },
    /// `org $0150`
    Origin {
        address: Expression,
        column: u32,
    },
    /// `bank 2`: the following statements lie in that ROM bank, at $4000.
    Bank {
        number: Expression,
        column: u32,
    },
    /// `ram $C000`: the following labels and `ds` lie in memory outside the ROM. `ram` alone
    /// continues where the last one ended.
    Ram {
        address: Option<Expression>,
        column: u32,
    },
    /// `rom`: the following statements continue in the ROM where `ram` left it.
    Rom,
    /// `title "NAME"`
    Title {
        title: String,
        column: u32,
    },
    /// `cartridge mbc1_ram_battery`
    Cartridge(CartridgeType),
    /// `model color`, as the header's byte for it.
    Model(u8),
    /// `ramsize 8`, in KiB.
    RamSize {
        kib: Expression,
        column: u32,
    },
    /// `banks 8`: at least 8 ROM banks.
    Banks {
        count: Expression,
        column: u32,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Datum {
    Text { text: String, column: u32 },
    Value { value: Expression, column: u32 },
}

#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) kind: OperandKind,
    pub(crate) column: u32,
}

#[derive(Clone, Debug)]
pub(crate) enum OperandKind {
    /// A register, a condition, or memory at a register pair: `a`, `nz`, `[hl+]`.
    Fixed(String),
    Value(Expression),
    /// `[value]`
    At(Expression),
    /// `sp+value`
    SpPlus(Expression),
}

/// Registers and conditions, which can't be names.
const RESERVED: [&str; 15] =
    ["a", "b", "c", "d", "e", "h", "l", "af", "bc", "de", "hl", "sp", "nz", "z", "nc"];

const DIRECTIVES: &str = "db, dw, ds, align, org, bank, banks, ram, rom, title, cartridge, model, ramsize, \
                          art, macro, include, equ";

/// Returns the statements of a line: at most a label and one more.
pub(crate) fn parse(line: &str) -> Result<Vec<Statement>, Complaint> {
    let spots = lex(line)?;
    let mut reader = Reader::new(&spots, line.chars().count() as u32 + 1);
    let mut statements = Vec::new();
    if let (Some(Token::Word(name)), Some(Token::Sign(":"))) = (reader.peek(0), reader.peek(1)) {
        statements
            .push(Statement::Label { name: name.clone(), column: check_name(&reader, name)? });
        reader.advance();
        reader.advance();
    }
    if reader.peek(0).is_some() {
        statements.push(statement(&mut reader)?);
    }
    match reader.peek(0) {
        None => Ok(statements),
        Some(_) => Err(reader.unexpected("the end of the line")),
    }
}

fn check_name(reader: &Reader, name: &str) -> Result<u32, Complaint> {
    let column = reader.column();
    if RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(Complaint::new(
            column,
            format!("`{name}` is a register or condition, not a name"),
        ));
    }
    if name.trim_start_matches('.').is_empty() || name.trim_start_matches('.').contains('.') {
        let message = format!("`{name}` is not a label; labels are `Name` or `.local`");
        return Err(Complaint::new(column, message));
    }
    Ok(column)
}

fn statement(reader: &mut Reader) -> Result<Statement, Complaint> {
    let Some(Token::Word(word)) = reader.peek(0) else {
        return Err(reader.unexpected("a label, an instruction or a directive"));
    };
    if matches!(reader.peek(1), Some(Token::Word(second)) if second.eq_ignore_ascii_case("equ")) {
        let column = check_name(reader, word)?;
        reader.advance();
        reader.advance();
        return Ok(Statement::Constant { name: word.clone(), column, value: reader.expression()? });
    }
    let column = reader.column();
    reader.advance();
    match word.to_ascii_lowercase().as_str() {
        "db" => Ok(Statement::Bytes(data(reader)?)),
        "dw" => Ok(Statement::Words(data(reader)?)),
        "ds" => {
            let count = reader.expression()?;
            let fill = if reader.accept(",") { Some(reader.expression()?) } else { None };
            Ok(Statement::Space { count, fill, column })
        }
        "align" => Ok(Statement::Align { to: reader.expression()?, column }),
        "org" => Ok(Statement::Origin { address: reader.expression()?, column }),
        "bank" => Ok(Statement::Bank { number: reader.expression()?, column }),
        "ram" => {
            let address = reader.peek(0).map(|_| reader.expression()).transpose()?;
            Ok(Statement::Ram { address, column })
        }
        "rom" => Ok(Statement::Rom),
        "title" => Ok(Statement::Title { title: text(reader)?, column }),
        "cartridge" => {
            one_of(reader, CartridgeType::by_name, CartridgeType::names()).map(Statement::Cartridge)
        }
        "model" => one_of(reader, model_by_name, model_names()).map(Statement::Model),
        "ramsize" => Ok(Statement::RamSize { kib: reader.expression()?, column }),
        "banks" => Ok(Statement::Banks { count: reader.expression()?, column }),
        mnemonic if crate::opcode::forms().iter().any(|form| form.mnemonic == mnemonic) => {
            Ok(Statement::Instruction {
                mnemonic: mnemonic.to_string(),
                column,
                operands: operands(reader)?,
            })
        }
        "endm" => Err(Complaint::new(column, "`endm` without its `macro`")),
        "endart" => Err(Complaint::new(column, "`endart` without its `art`")),
        own @ ("macro" | "art" | "include") => {
            Err(Complaint::new(column, format!("`{own}` begins a line of its own")))
        }
        _ => Err(Complaint::new(
            column,
            format!(
                "`{word}` is not an instruction, macro or directive; directives are {DIRECTIVES}"
            ),
        )),
    }
}

fn text(reader: &mut Reader) -> Result<String, Complaint> {
    let Some(Token::Text(text)) = reader.peek(0) else {
        return Err(reader.unexpected("text in `\"`"));
    };
    reader.advance();
    Ok(text.clone())
}

/// Reads a word that names one of several values.
fn one_of<T>(
    reader: &mut Reader,
    by_name: impl Fn(&str) -> Option<T>,
    names: impl Iterator<Item = &'static str>,
) -> Result<T, Complaint> {
    let value = match reader.peek(0) {
        Some(Token::Word(word)) => by_name(word),
        _ => None,
    };
    let value = value.ok_or_else(|| {
        let names: Vec<&str> = names.collect();
        reader.unexpected(&format!("one of {}", names.join(", ")))
    })?;
    reader.advance();
    Ok(value)
}

fn data(reader: &mut Reader) -> Result<Vec<Datum>, Complaint> {
    let mut data = Vec::new();
    loop {
        let column = reader.column();
        data.push(match reader.peek(0) {
            Some(Token::Text(text)) => {
                reader.advance();
                Datum::Text { text: text.clone(), column }
            }
            _ => Datum::Value { value: reader.expression()?, column },
        });
        if !reader.accept(",") {
            return Ok(data);
        }
    }
}

fn operands(reader: &mut Reader) -> Result<Vec<Operand>, Complaint> {
    let mut operands = Vec::new();
    while reader.peek(0).is_some() {
        let column = reader.column();
        operands.push(Operand { kind: operand(reader)?, column });
        if !reader.accept(",") {
            break;
        }
        if reader.peek(0).is_none() {
            return Err(reader.unexpected("an operand"));
        }
    }
    Ok(operands)
}

fn reserved(token: Option<&Token>) -> Option<String> {
    match token {
        Some(Token::Word(word)) => {
            Some(word.to_ascii_lowercase()).filter(|word| RESERVED.contains(&word.as_str()))
        }
        _ => None,
    }
}

fn operand(reader: &mut Reader) -> Result<OperandKind, Complaint> {
    if let Some(register) = reserved(reader.peek(0)) {
        let signed = matches!(reader.peek(1), Some(Token::Sign("+" | "-")));
        reader.advance();
        if register != "sp" || !signed {
            return Ok(OperandKind::Fixed(register));
        }
        // The minus of `sp-4` belongs to the value.
        reader.accept("+");
        return Ok(OperandKind::SpPlus(reader.expression()?));
    }
    if !reader.accept("[") {
        return Ok(OperandKind::Value(reader.expression()?));
    }
    let Some(register) = reserved(reader.peek(0)) else {
        let address = reader.expression()?;
        reader.expect("]")?;
        return Ok(OperandKind::At(address));
    };
    reader.advance();
    let step = if reader.accept("+") {
        "+"
    } else if reader.accept("-") {
        "-"
    } else {
        ""
    };
    reader.expect("]")?;
    Ok(OperandKind::Fixed(format!("[{register}{step}]")))
}
