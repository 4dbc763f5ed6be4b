//! Rules that hold in every cartridge, and the form of a rule. They ensure that a loaded state
//! can't cause an index out of range.

use super::StateError;
use crate::cart::{Cart, Mapper, Rtc};

/// Result of a check: the first rule that is broken.
pub type RuleResult = Result<(), StateError>;

/// Checks a rule.
///
/// # Errors
/// The rule doesn't hold.
pub fn rule(holds: bool, rule: &'static str) -> RuleResult {
    if holds { Ok(()) } else { Err(StateError::Impossible { rule }) }
}

/// Checks the rules of a cartridge; `fresh` is the cartridge at power-on.
///
/// # Errors
/// A rule doesn't hold.
pub fn check_cart(cart: &Cart, fresh: &Cart) -> RuleResult {
    rule(
        (cart.mapper, cart.rom_mask, cart.ram_mask, cart.has_ram, cart.has_rtc)
            == (fresh.mapper, fresh.rom_mask, fresh.ram_mask, fresh.has_ram, fresh.has_rtc),
        "cart must be wired as the ROM's header says",
    )?;
    rule(!cart.boot_rom || fresh.boot_rom, "cart.boot_rom needs a machine that has a boot ROM")?;
    rule(cart.rom_bank <= 0x1ff, "cart.rom_bank must be at most 1ff")?;
    // A HuC3 keeps its selected device in these bits.
    let is_huc3 = cart.mapper == Mapper::Huc3;
    rule(cart.ram_bank <= 0x0f || is_huc3, "cart.ram_bank must be at most 0f")?;
    let mut mapped = *cart;
    mapped.map();
    rule(mapped == *cart, "cart must select what its bank registers say")?;
    check_rtc(&cart.rtc)
}

fn check_rtc(rtc: &Rtc) -> RuleResult {
    rule(rtc.subsecond_mcycles < 1 << 20, "cart.rtc.subsecond_mcycles must be less than a second")?;
    for registers in [rtc.running, rtc.latched] {
        rule(
            registers.seconds < 64
                && registers.minutes < 64
                && registers.hours < 32
                && registers.days_high & !0xc1 == 0,
            "cart.rtc's registers must have only the bits that exist",
        )?;
    }
    Ok(())
}
