//! Views that Python makes.

use gbxcule_swarm::{Grays, Picture};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An env's part of an observation: an array of `shape` and `dtype`.
#[pyclass(frozen, module = "gbxcule._native")]
pub(crate) struct View {
    pub(crate) inner: gbxcule_swarm::View,
    shape: Vec<usize>,
    dtype: &'static str,
}

#[pymethods]
impl View {
    /// Makes a view of the last drawn frame: `packed`, `gray`, `mean` or `stride`, in grays that
    /// are `even` or `pyboy`, or in color: `rgb`, `rgb_corrected` or `rgb555`.
    #[staticmethod]
    #[pyo3(signature = (name, grays = "even"))]
    fn picture(name: &str, grays: &str) -> PyResult<Self> {
        let grays = match grays {
            "even" => Grays::Even,
            "pyboy" => Grays::Pyboy,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "no grays `{grays}`; there are even (255, 170, 85, 0), pyboy (255, 153, 85, 0)"
                )));
            }
        };
        let picture = match name {
            "packed" => Picture::Packed,
            "gray" => Picture::Gray,
            "mean" => Picture::Mean,
            "stride" => Picture::Stride,
            "rgb" => Picture::Rgb,
            "rgb_corrected" => Picture::RgbCorrected,
            "rgb555" => Picture::Rgb555,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "no picture `{name}`; there are packed, gray, mean, stride, rgb, rgb_corrected, rgb555"
                )));
            }
        };
        let (lines, columns) = picture.shape();
        let shape = match picture {
            Picture::Rgb | Picture::RgbCorrected => vec![lines, columns / 3, 3],
            Picture::Rgb555 => vec![lines, columns / 2, 2],
            _ => vec![lines, columns],
        };
        let inner = gbxcule_swarm::View::Picture(picture, grays);
        Ok(Self { inner, shape, dtype: "uint8" })
    }

    /// Makes a view of the bytes at ranges of addresses, each without its last address.
    #[staticmethod]
    fn memory(ranges: Vec<(u32, u32)>) -> Self {
        let inner =
            gbxcule_swarm::View::Memory(ranges.into_iter().map(|(low, high)| low..high).collect());
        Self { shape: vec![inner.bytes_per_env()], inner, dtype: "uint8" }
    }

    /// Makes a view of the bits at ranges of addresses as bytes 0 and 1, the lowest bit of a byte
    /// first.
    #[staticmethod]
    fn bits(ranges: Vec<(u32, u32)>) -> Self {
        let inner =
            gbxcule_swarm::View::Bits(ranges.into_iter().map(|(low, high)| low..high).collect());
        Self { shape: vec![inner.bytes_per_env()], inner, dtype: "uint8" }
    }

    /// Makes the built-in observation: 32 numbers from 0 to 1.
    #[staticmethod]
    fn obs_v0() -> Self {
        let inner = gbxcule_swarm::View::ObsV0;
        Self { shape: vec![gbxcule_swarm::OBS_V0_DIM], inner, dtype: "float32" }
    }

    /// Shape of one env's part.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, &self.shape)
    }

    /// Type of its elements, as NumPy calls it.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.dtype
    }
}
