//! Named regions of the address space, `C000:C100`.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Addresses from `low` up to but not including `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// First address.
    pub low: u32,
    /// Address after the last.
    pub high: u32,
}

impl Region {
    /// Returns the region as a range.
    pub fn range(self) -> Range<u32> {
        self.low..self.high
    }
}

impl fmt::Display for Region {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04X}:{:04X}", self.low, self.high)
    }
}

impl FromStr for Region {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || {
            format!(
                "`{text}` is not a region; write two hexadecimal addresses, for example C000:C100"
            )
        };
        let (low, high) = text.split_once(':').ok_or_else(wrong)?;
        let address = |text: &str| {
            u32::from_str_radix(text.trim_start_matches("0x"), 16).map_err(|_| wrong())
        };
        let region = Self { low: address(low)?, high: address(high)? };
        if region.low < region.high && region.high <= 0x1_0000 {
            Ok(region)
        } else {
            Err(format!("region `{text}` must run upwards and stay within 0000:10000"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_read_back_as_they_print() {
        for text in ["C000:C100", "0000:10000", "FF80:FFFF"] {
            assert_eq!(
                text.parse::<Region>().map(|region| region.to_string()),
                Ok(text.to_owned())
            );
        }
    }

    #[test]
    fn regions_that_run_backwards_or_out_of_memory_are_refused() {
        for text in ["C100:C000", "C000:C000", "C000", "0:10001", "G:H"] {
            assert!(text.parse::<Region>().is_err(), "{text}");
        }
    }
}
