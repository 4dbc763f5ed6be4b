//! The live view of a swarm that Python steps.

// PyO3 passes arguments by value.
#![allow(clippy::needless_pass_by_value)]

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gbxcule_cli::live_view::{Coordinate, Coordinates, LiveViewOptions, Outcome, RecordOptions};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::swarm::{Swarm, as_mask};

/// First address of a number, and the address after its last byte.
type ByteRange = (u32, u32);

/// Page that shows a swarm while Python steps it, until the page is closed.
#[pyclass(module = "gbxcule._native", frozen)]
pub(crate) struct LiveView {
    inner: Mutex<Option<gbxcule_cli::live_view::LiveView>>,
}

#[pymethods]
impl LiveView {
    /// Serves a swarm's page; `heatmap` has the addresses of two numbers, `symbols` is the text of
    /// a `.sym` file. `record` has the path of a file for games, and their variant and difficulty.
    #[new]
    #[pyo3(signature = (swarm, rom, *, host = "127.0.0.1", port = 0, heatmap = None,
                        take_over = false, symbols = String::new(), record = None))]
    // The arguments are Python's.
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        swarm: &Swarm,
        rom: String,
        host: &str,
        port: u16,
        heatmap: Option<(ByteRange, ByteRange)>,
        take_over: bool,
        symbols: String,
        record: Option<(PathBuf, Option<String>, Option<String>)>,
    ) -> PyResult<Self> {
        let host: IpAddr = host.parse().map_err(|_| {
            PyValueError::new_err(format!("no address `{host}`: write 127.0.0.1 or 0.0.0.0"))
        })?;
        let heatmap = heatmap.map(coordinates).transpose().map_err(PyValueError::new_err)?;
        let record =
            record.map(|(path, variant, difficulty)| RecordOptions { path, variant, difficulty });
        let options = LiveViewOptions { rom, host, port, heatmap, take_over, symbols, record };
        let served =
            swarm.read(py, |swarm| Ok(gbxcule_cli::live_view::LiveView::serve(swarm, &options)))?;
        let served = served.map_err(|error| PyOSError::new_err(format!("{error:#}")))?;
        Ok(Self { inner: Mutex::new(Some(served)) })
    }

    /// Address to open in a browser.
    #[getter]
    fn url(&self) -> PyResult<String> {
        match &*self.lock() {
            Some(view) => Ok(view.url().to_owned()),
            None => Err(PyRuntimeError::new_err("the live view is closed; call watch again")),
        }
    }

    /// Returns true if a viewer waits for the next step's picture.
    fn wants_picture(&self, py: Python<'_>) -> bool {
        py.detach(|| self.lock().as_ref().is_some_and(|view| view.wants_picture()))
    }

    /// Envs that viewers drive.
    #[getter]
    fn held(&self) -> Vec<usize> {
        self.lock().as_ref().map_or_else(Vec::new, gbxcule_cli::live_view::LiveView::held)
    }

    /// Shows a step of the swarm. For each env: a byte with the action, a float32 with the reward,
    /// a byte that is 1 if its episode ended, and a byte that is 1 if it was reset in this step.
    // The arguments are Python's.
    #[allow(clippy::too_many_arguments)]
    fn stepped(
        &self,
        py: Python<'_>,
        swarm: &Swarm,
        actions: &[u8],
        rewards: &[u8],
        over: &[u8],
        between: &[u8],
        is_drawn: bool,
    ) -> PyResult<()> {
        let (rewards, _) = rewards.as_chunks();
        let rewards: Vec<f32> = rewards.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect();
        let (over, between) = (as_mask(over), as_mask(between));
        if [actions.len(), rewards.len(), over.len(), between.len()] != [swarm.envs(); 4] {
            return Err(PyValueError::new_err(format!("expected {} of each", swarm.envs())));
        }
        let outcome = Outcome { actions, rewards: &rewards, over: &over, between: &between };
        swarm.change(py, |swarm| match &mut *self.lock() {
            Some(view) => view.stepped(swarm, outcome, is_drawn),
            None => Ok(()),
        })
    }

    /// Records new episodes in the envs marked by bytes that are not 0.
    fn began(&self, py: Python<'_>, swarm: &Swarm, mask: &[u8]) -> PyResult<()> {
        let mask = as_mask(mask);
        swarm.change(py, |swarm| match &mut *self.lock() {
            Some(view) => view.began(swarm, &mask),
            None => Ok(()),
        })
    }

    /// Begins a recorded game in the envs marked by bytes that are not 0, each in its level.
    fn begin_games(&self, mask: &[u8], levels: Vec<u32>) {
        if let Some(view) = &mut *self.lock() {
            view.begin_games(&as_mask(mask), &levels);
        }
    }

    /// Ends the recorded games of the envs marked by bytes that are not 0.
    fn end_games(&self, mask: &[u8]) {
        if let Some(view) = &mut *self.lock() {
            view.end_games(&as_mask(mask));
        }
    }

    /// Closes the page: gives envs back to the actions, disconnects viewers and frees the port.
    fn close(&self, py: Python<'_>, swarm: &Swarm) -> PyResult<()> {
        swarm.change(py, |swarm| self.lock().take().map_or(Ok(()), |view| view.close(swarm)))
    }
}

impl LiveView {
    fn lock(&self) -> MutexGuard<'_, Option<gbxcule_cli::live_view::LiveView>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn coordinates((x, y): (ByteRange, ByteRange)) -> Result<Coordinates, String> {
    Ok(Coordinates { x: Coordinate::new(x.0..x.1)?, y: Coordinate::new(y.0..y.1)? })
}
