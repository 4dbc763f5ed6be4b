//! The driver's functions, each call with its meaning as an [`Error`].
#![allow(unsafe_code, reason = "calling the driver")]

use super::Gpu;
use crate::error::Error;
use crate::nvrtc::Arch;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use std::sync::OnceLock;

/// Loads and starts the driver, once; gives the version of CUDA that it supports.
pub(super) fn load() -> Result<(u32, u32), Error> {
    static LOADED: OnceLock<Result<(u32, u32), Error>> = OnceLock::new();
    let load = || {
        // SAFETY: loading the driver's library runs only its own initialisers. Functions of cudarc would
        // panic without it, so none is called before this.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoDriver);
        }
        result::init().map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_NO_DEVICE => Error::NoGpu,
            _ => failed("starting the driver", error),
        })?;
        let mut version = 0;
        // SAFETY: a place for a number.
        let status = unsafe { sys::cuDriverGetVersion(&raw mut version) };
        status.result().map_err(|error| failed("asking for the driver's version", error))?;
        let version = version.unsigned_abs();
        Ok((version / 1000, version % 1000 / 10))
    };
    LOADED.get_or_init(load).clone()
}

/// How many devices there are: one at least.
pub(super) fn device_count() -> Result<u32, Error> {
    load()?;
    let count = result::device::get_count().map_err(|error| failed("counting devices", error))?;
    if count > 0 { Ok(count.unsigned_abs()) } else { Err(Error::NoGpu) }
}

/// What the driver says of the device of an ordinal.
pub(super) fn gpu(ordinal: u32) -> Result<Gpu, Error> {
    let failed = |error| failed("asking for a device", error);
    let device = device(ordinal)?;
    let name = result::device::get_name(device).map_err(failed)?;
    // SAFETY: a device that the driver gave.
    let memory = unsafe { result::device::total_mem(device) }.map_err(failed)?;
    let attribute = |which| {
        // SAFETY: likewise.
        unsafe { result::device::get_attribute(device, which) }.map_err(failed)
    };
    use sys::CUdevice_attribute as Attribute;
    let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let arch = Arch::new(major.unsigned_abs() * 10 + minor.unsigned_abs());
    Ok(Gpu { name, arch, memory_bytes: memory as u64 })
}

/// The device of an ordinal.
pub(super) fn device(ordinal: u32) -> Result<sys::CUdevice, Error> {
    let devices = device_count()?;
    if ordinal >= devices {
        return Err(Error::NoSuchGpu { ordinal, devices });
    }
    result::device::get(ordinal as i32).map_err(|error| failed("asking for a device", error))
}

/// A call that failed, for which nothing better can be said than the driver does.
pub(super) fn failed(call: &'static str, error: DriverError) -> Error {
    let said = error.error_string().ok();
    let reason =
        said.map_or_else(|| format!("{:?}", error.0), |text| text.to_string_lossy().into());
    Error::Cuda { call, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_the_error_says_what_to_install() {
        match load() {
            Ok(_) | Err(Error::NoGpu | Error::Cuda { .. }) => {} // A machine with a driver.
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("libcuda") && text.contains("driver"), "{text}");
            }
        }
    }
}
