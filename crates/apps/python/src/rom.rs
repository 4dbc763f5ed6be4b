//! Built-in ROMs.

use gbxcule_swarm::ProgramText;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

fn by_name(name: &str) -> PyResult<&'static gbxcule_assembler::BuiltIn> {
    gbxcule_assembler::by_name(name).ok_or_else(|| {
        let names = built_in_roms();
        PyValueError::new_err(format!("no built-in ROM `{name}`; there are {}", names.join(", ")))
    })
}

/// Returns the built-in games: name, title and the text of `game.json`.
#[pyfunction]
pub(crate) fn games() -> Vec<(&'static str, &'static str, &'static str)> {
    gbxcule_games::GAMES.iter().map(|game| (game.name, game.title, game.row)).collect()
}

/// Plays a level of a built-in game by its scripted player, for at most `frames` frames. Returns
/// the score, true if the player won, and the buttons of each frame.
#[pyfunction]
pub(crate) fn scripted_game<'py>(
    py: Python<'py>,
    name: &str,
    level: u32,
    frames: u32,
) -> PyResult<(u16, bool, Bound<'py, PyBytes>)> {
    let game = py.detach(|| gbxcule_players::play(name, level, frames));
    let game = game.ok_or_else(|| {
        let names: Vec<&str> = gbxcule_players::games().collect();
        PyValueError::new_err(format!(
            "`{name}` has no scripted player; {} have one",
            names.join(", ")
        ))
    })?;
    Ok((game.score, game.is_won, PyBytes::new(py, &game.buttons)))
}

/// Returns the names of all built-in ROMs.
#[pyfunction]
pub(crate) fn built_in_roms() -> Vec<&'static str> {
    gbxcule_assembler::all()
        .iter()
        .chain(gbxcule_assembler::for_color())
        .map(|rom| rom.name)
        .collect()
}

/// Returns the built-in ROM whose name is most similar to a wrong one.
#[pyfunction]
pub(crate) fn meant_rom(name: &str) -> Option<&'static str> {
    gbxcule_assembler::meant_by(name).map(|rom| rom.name)
}

/// Returns the bytes of a built-in ROM.
#[pyfunction]
pub(crate) fn built_in_rom<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    by_name(name).map(|rom| PyBytes::new(py, rom.bytes()))
}

/// Returns the text of a built-in program.
#[pyfunction]
pub(crate) fn built_in_program(name: &str) -> PyResult<String> {
    let program =
        ProgramText::find(name).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(program.text().to_owned())
}

/// Returns the labels of a built-in ROM, as the text of a `.sym` file.
#[pyfunction]
pub(crate) fn built_in_symbols(name: &str) -> PyResult<String> {
    by_name(name).map(|rom| rom.rom().symbol_listing())
}
