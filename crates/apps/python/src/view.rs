//! Views of machines for Python.

use gbxcule_swarm::{Crop, Grays, Picture, PictureStack};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::swarm::Swarm;

/// An env's part of an observation: an array of `shape` and `dtype`.
#[pyclass(frozen, module = "gbxcule._native")]
pub(crate) struct View {
    pub(crate) inner: gbxcule_swarm::View,
    shape: Vec<usize>,
    dtype: &'static str,
}

impl View {
    /// Returns the form of the view's stack, if it shows one.
    pub(crate) fn stack(&self) -> Option<PictureStack> {
        match self.inner {
            gbxcule_swarm::View::Stack(stack) => Some(stack),
            _ => None,
        }
    }
}

/// Finds a picture and grays by their names.
fn picture_and_grays(name: &str, grays: &str) -> PyResult<(Picture, Grays)> {
    let refused = |message: String| PyValueError::new_err(message);
    let grays = Grays::by_name(grays).ok_or_else(|| {
        refused(format!(
            "no grays `{grays}`; there are even (255, 170, 85, 0), pyboy (255, 153, 85, 0)"
        ))
    })?;
    let picture = Picture::by_name(name).ok_or_else(|| {
        refused(format!(
            "no picture `{name}`; there are packed, gray, mean, stride, rgb, rgb_corrected, rgb555"
        ))
    })?;
    Ok((picture, grays))
}

/// Returns lines, columns, and channels if there are several.
fn shape_of([lines, columns, channels]: [usize; 3]) -> Vec<usize> {
    if channels == 1 { vec![lines, columns] } else { vec![lines, columns, channels] }
}

#[pymethods]
impl View {
    /// Makes a view of the last drawn frame: `packed`, `gray`, `mean` or `stride`, in grays that
    /// are `even` or `pyboy`, or in color: `rgb`, `rgb_corrected` or `rgb555`.
    #[staticmethod]
    #[pyo3(signature = (name, grays = "even"))]
    fn picture(name: &str, grays: &str) -> PyResult<Self> {
        let (picture, grays) = picture_and_grays(name, grays)?;
        let (lines, columns) = picture.shape();
        let channels = picture.pixel_bytes();
        let shape = shape_of([lines, columns / channels, channels]);
        let inner = gbxcule_swarm::View::Picture(picture, grays);
        Ok(Self { inner, shape, dtype: "uint8" })
    }

    /// Makes a view of the swarm's stack of `depth` pictures: the part `crop` (top, left, lines,
    /// columns), reduced to `size` lines and columns; with `max_pool` the lighter pixels of a
    /// step's last two frames.
    #[staticmethod]
    #[pyo3(signature = (name, grays, *, crop, size, depth, max_pool))]
    fn pictures(
        name: &str,
        grays: &str,
        crop: Option<[u16; 4]>,
        size: Option<[u16; 2]>,
        depth: Option<u16>,
        max_pool: bool,
    ) -> PyResult<Self> {
        let (picture, grays) = picture_and_grays(name, grays)?;
        let crop = crop.map(|[top, left, lines, columns]| Crop { top, left, lines, columns });
        let stack =
            PictureStack { picture, grays, crop, size, depth: depth.unwrap_or(1), max_pool };
        let mut shape = shape_of(stack.shape());
        if let Some(depth) = depth {
            shape.insert(0, depth.into());
        }
        Ok(Self { inner: gbxcule_swarm::View::Stack(stack), shape, dtype: "uint8" })
    }

    /// Makes a view of the bytes at ranges of addresses; the end of a range is excluded.
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

    /// NumPy's name of the elements' type.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.dtype
    }
}

/// Returns the text of a swarm's observation program.
#[pyfunction]
pub(crate) fn observation_text(py: Python<'_>, swarm: &Swarm) -> PyResult<String> {
    swarm.read(py, |swarm| Ok(swarm.config().programs.observation_text().text().to_owned()))
}
