//! Names of GPU architectures.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// Architecture, such as `sm_90`, `sm_90a` or `sm_100f`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Arch {
    number: u32,
    /// `a` for features of this architecture only, `f` for features of its family.
    variant: Option<char>,
}

impl Arch {
    /// The architectures of the data center GPUs since Ampere. `gbxcule build` makes code for
    /// them if the user names no architecture, and tests compile for them.
    pub const DATA_CENTER: [Self; 3] = [Self::new(80), Self::new(90), Self::new(100)];

    /// Makes the plain architecture of a number: ten times the major compute capability, plus the
    /// minor.
    pub const fn new(number: u32) -> Self {
        Self { number, variant: None }
    }

    /// Returns ten times the major compute capability, plus the minor.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Returns the name of the virtual architecture, which PTX uses: `compute_90`.
    pub fn virtual_name(self) -> String {
        let Self { number, variant } = self;
        format!("compute_{number}{}", variant.map_or(String::new(), String::from))
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, variant } = self;
        write!(f, "sm_{number}{}", variant.map_or(String::new(), String::from))
    }
}

impl FromStr for Arch {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownArch(text.into());
        let number = text.strip_prefix("sm_").ok_or_else(unknown)?;
        let variant = number.chars().last().filter(|last| matches!(last, 'a' | 'f'));
        let digits = if variant.is_some() { &number[..number.len() - 1] } else { number };
        let is_number =
            (2..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        if !is_number {
            return Err(unknown());
        }
        Ok(Self { number: digits.parse().map_err(|_| unknown())?, variant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_spelled_as_nvidia_does() {
        for text in ["sm_80", "sm_90", "sm_90a", "sm_100", "sm_100f", "sm_121"] {
            assert_eq!(text.parse::<Arch>().map(|arch| arch.to_string()), Ok(text.to_string()));
        }
        assert_eq!("sm_90a".parse().map(Arch::virtual_name), Ok("compute_90a".to_string()));
        for text in
            ["", "90", "sm_", "sm_9", "sm_90x", "sm_a", "sm_1000", "compute_90", "SM_90", "sm_90é"]
        {
            let error = text.parse::<Arch>().expect_err("no architecture");
            assert!(error.to_string().contains("such as `sm_90`"), "{error}");
        }
    }
}
