//! Devices on which kernels run.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// A device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Device {
    /// All cores of this machine.
    #[default]
    Cpu,
    /// A CUDA device by its ordinal.
    Cuda(u32),
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once(':') {
            None if text == "cpu" => Ok(Self::Cpu),
            None if text == "cuda" => Ok(Self::Cuda(0)),
            Some(("cuda", ordinal)) if ordinal.bytes().all(|byte| byte.is_ascii_digit()) => {
                ordinal.parse().map(Self::Cuda).map_err(|_| Error::UnknownDevice(text.into()))
            }
            _ => Err(Error::UnknownDevice(text.into())),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_spelled_as_on_the_command_line() {
        for (text, device) in
            [("cpu", Device::Cpu), ("cuda", Device::Cuda(0)), ("cuda:3", Device::Cuda(3))]
        {
            assert_eq!(text.parse::<Device>().ok(), Some(device));
        }
        assert_eq!(Device::Cuda(0).to_string(), "cuda:0");
        for text in ["", "gpu", "cuda:", "cuda:x", "cpu:0", "cuda:-1", "cuda:99999999999"] {
            let error = text.parse::<Device>().expect_err("no device");
            assert!(error.to_string().contains("`cpu`, `cuda` or `cuda:N`"), "{error}");
        }
    }
}
