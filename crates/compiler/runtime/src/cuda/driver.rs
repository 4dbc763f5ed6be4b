//! Functions of the driver, with their failures as [`Error`]s.
#![allow(unsafe_code, reason = "calling the driver")]

use super::Gpu;
use crate::device::Device;
use crate::error::Error;
use crate::nvrtc::Arch;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use std::sync::OnceLock;
use sys::CUdevice_attribute as Attribute;
pub(super) use sys::CUresult as Status;

/// Loads and starts the driver, once; returns the version of CUDA that it supports.
pub(super) fn load() -> Result<(u32, u32), Error> {
    static LOADED: OnceLock<Result<(u32, u32), Error>> = OnceLock::new();
    let load = || {
        // SAFETY: loading the driver's library runs only the library's own initialisers. Every
        // other function of cudarc would panic without the library, so this call comes first.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoDriver);
        }
        result::init().map_err(|error| match error.0 {
            Status::CUDA_ERROR_NO_DEVICE => Error::NoGpu,
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

/// Returns the number of devices, which is at least one.
pub(super) fn device_count() -> Result<u32, Error> {
    load()?;
    let count = result::device::get_count().map_err(|error| failed("counting devices", error))?;
    if count > 0 { Ok(count.unsigned_abs()) } else { Err(Error::NoGpu) }
}

/// Returns the facts about the device of an ordinal.
pub(super) fn gpu(ordinal: u32) -> Result<Gpu, Error> {
    let failed = |error| failed("asking for a device", error);
    let device = device(ordinal)?;
    let name = result::device::get_name(device).map_err(failed)?;
    // SAFETY: a device that the driver gave.
    let memory = unsafe { result::device::total_mem(device) }.map_err(failed)?;
    let major = attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let arch = Arch::new(major * 10 + minor);
    Ok(Gpu { name, arch, memory_bytes: memory as u64 })
}

/// Returns an attribute of a device.
pub(super) fn attribute(device: sys::CUdevice, which: Attribute) -> Result<u32, Error> {
    // SAFETY: a device that the driver gave.
    let value = unsafe { result::device::get_attribute(device, which) };
    Ok(value.map_err(|error| failed("asking for a device", error))?.unsigned_abs())
}

/// Returns the device of an ordinal.
pub(super) fn device(ordinal: u32) -> Result<sys::CUdevice, Error> {
    let devices = device_count()?;
    if ordinal >= devices {
        return Err(Error::NoSuchGpu { ordinal, devices });
    }
    result::device::get(ordinal as i32).map_err(|error| failed("asking for a device", error))
}

/// Makes the error of a failed call, with the driver's own text as the reason.
pub(super) fn failed(call: &'static str, error: DriverError) -> Error {
    Error::Cuda { call, reason: reason(error) }
}

/// Returns the driver's text for an error.
pub(super) fn reason(error: DriverError) -> String {
    let text = error.error_string().ok();
    text.map_or_else(|| format!("{:?}", error.0), |text| text.to_string_lossy().into())
}

/// Checks a call in a device's context. Some errors mean that the context is lost.
pub(super) fn check(ordinal: u32, call: &'static str, status: Status) -> Result<(), Error> {
    let lost = matches!(
        status,
        Status::CUDA_ERROR_ILLEGAL_ADDRESS
            | Status::CUDA_ERROR_LAUNCH_FAILED
            | Status::CUDA_ERROR_LAUNCH_TIMEOUT
            | Status::CUDA_ERROR_MISALIGNED_ADDRESS
            | Status::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | Status::CUDA_ERROR_INVALID_PC
            | Status::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | Status::CUDA_ERROR_HARDWARE_STACK_ERROR
            | Status::CUDA_ERROR_ASSERT
            | Status::CUDA_ERROR_ECC_UNCORRECTABLE
            | Status::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | Status::CUDA_ERROR_CONTAINED
            | Status::CUDA_ERROR_TENSOR_MEMORY_LEAK
            | Status::CUDA_ERROR_EXTERNAL_DEVICE
            | Status::CUDA_ERROR_MPS_CLIENT_TERMINATED
            | Status::CUDA_ERROR_CONTEXT_IS_DESTROYED
    );
    status.result().map_err(|error| match lost {
        true => Error::ContextLost { device: Device::Cuda(ordinal), reason: reason(error) },
        false => failed(call, error),
    })
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
