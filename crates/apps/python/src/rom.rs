//! Built-in ROMs and games.

use gbxcule_swarm::game_start::{self, Title};
use gbxcule_swarm::{ProgramText, Rom};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::swarm::refusal::OrRefuse;

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

/// Returns a built-in game on its title, with the bits of a variant.
fn title(name: &str, model: &str, power_on: &str, bits: u8) -> PyResult<Title> {
    let game = game_start::game(name)
        .ok_or_else(|| PyValueError::new_err(format!("no built-in game `{name}`")))?;
    let power_on = power_on.parse().map_err(PyValueError::new_err)?;
    let rom = Rom::for_console(by_name(name)?.bytes(), model).or_refuse()?;
    Title::new(game, rom, power_on, bits).or_refuse()
}

/// Returns the state of a built-in game on its title.
#[pyfunction]
pub(crate) fn game_title<'py>(
    py: Python<'py>,
    name: &str,
    model: &str,
    power_on: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let title = py.detach(|| title(name, model, power_on, 0))?;
    Ok(PyBytes::new(py, title.state()))
}

/// Returns the states in which a built-in game's seeded episodes begin, or those in which `levels`
/// begin.
#[pyfunction]
pub(crate) fn game_starts<'py>(
    py: Python<'py>,
    name: &str,
    model: &str,
    power_on: &str,
    bits: u8,
    levels: Option<Vec<u32>>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let states = py.detach(|| {
        let title = title(name, model, power_on, bits)?;
        match levels {
            Some(levels) => title.level_starts(&levels).or_refuse(),
            None => title.starts().or_refuse(),
        }
    })?;
    Ok(states.iter().map(|state| PyBytes::new(py, state)).collect())
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
