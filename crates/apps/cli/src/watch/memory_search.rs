//! Search for a game's variables in memory: score, position, lives.
//!
//! A search begins with all addresses of work RAM, cartridge RAM and high RAM. Each [`Filter`]
//! drops the addresses whose number did not change, since the last filter, in the way that the
//! viewer saw in the game. The search belongs to the swarm, so all viewers see the same list.

use std::ops::Range;

use gbxcule_swarm::{Model, Rom, Swarm, SwarmError, View, in_bank};
use serde_json::{Value, json};

use crate::watch::memory_filter::{Filter, Form, Keep, Scope};

/// Greatest number of machines that are searched.
const MAX_MACHINES: usize = 1024;

/// Greatest number of bytes of a search's copy of memory.
const MAX_COPY_BYTES: usize = 64 << 20;

/// Greatest number of bytes of cartridge RAM that are searched.
const MAX_CART_RAM_BYTES: usize = 0x8000;

/// Greatest number of addresses that a view lists.
const MAX_LISTED: usize = 32;

/// A search: the addresses that passed all filters.
#[derive(Debug, Default)]
pub(crate) struct MemorySearch {
    /// Machines that are searched.
    envs: Vec<usize>,
    /// All searched places ([`in_bank`]), in order.
    places: Vec<u32>,
    /// Positions in `places` that no filter has dropped.
    candidates: Vec<usize>,
    /// Bytes of each searched machine at `places`, at the last filter.
    before: Vec<Vec<u8>>,
    /// Number of filters of this search.
    filters: u32,
    /// Reason why the last filter did nothing.
    refused: Option<&'static str>,
}

impl MemorySearch {
    /// Applies a filter to the present memory of all machines.
    pub(crate) fn apply(&mut self, swarm: &Swarm, filter: Filter) -> Result<(), SwarmError> {
        self.refused = None;
        if filter.keep == Keep::All || self.places.is_empty() {
            *self = Self::new(swarm, filter.env);
        }
        let machines = match (filter.scope, filter.env) {
            (Scope::Chosen, None) => Some("enlarge a machine first"),
            (Scope::Chosen, Some(env)) if !self.envs.contains(&env) => {
                Some("this machine is not among those that are searched: begin a new search")
            }
            _ => None,
        };
        if machines.is_some() {
            self.refused = machines;
            return Ok(());
        }
        let now = self.memory(swarm)?;
        if filter.keep != Keep::All {
            let candidates = std::mem::take(&mut self.candidates);
            self.candidates =
                candidates.into_iter().filter(|at| self.keeps(*at, filter, &now)).collect();
            self.filters += 1;
        }
        self.before = now;
        Ok(())
    }

    fn new(swarm: &Swarm, chosen: Option<usize>) -> Self {
        let places: Vec<u32> = ranges(swarm.rom()).into_iter().flatten().collect();
        let num_envs = swarm.config().num_envs;
        let most = (MAX_COPY_BYTES / places.len()).min(MAX_MACHINES);
        let mut envs: Vec<usize> = (0..num_envs.min(most)).collect();
        if let (Some(env), Some(last)) = (chosen.filter(|env| *env >= most), envs.last_mut()) {
            *last = env;
        }
        Self { envs, candidates: (0..places.len()).collect(), places, ..Self::default() }
    }

    fn memory(&self, swarm: &Swarm) -> Result<Vec<Vec<u8>>, SwarmError> {
        let ranges = ranges(swarm.rom());
        let memory = |env: &usize| {
            let parts = ranges.iter().map(|range| swarm.read_memory(*env, range.clone()));
            Ok(parts.collect::<Result<Vec<_>, _>>()?.concat())
        };
        self.envs.iter().map(memory).collect()
    }

    /// Returns true if the place at a position passes the filter.
    fn keeps(&self, at: usize, filter: Filter, now: &[Vec<u8>]) -> bool {
        let Filter { keep, number, form, scope, env } = filter;
        // The bytes of a number must be neighbours in one range.
        let end = at + form.bytes();
        if self.places.get(end - 1) != Some(&(self.places[at] + end as u32 - 1 - at as u32)) {
            return false;
        }
        let mut rows = self.envs.iter().zip(self.before.iter().zip(now));
        let holds = |(before, now): (&Vec<u8>, &Vec<u8>)| {
            let (Some(before), Some(now)) = (form.number(&before[at..]), form.number(&now[at..]))
            else {
                return false;
            };
            match keep {
                Keep::All => true,
                Keep::Changed => now != before,
                Keep::Unchanged => now == before,
                Keep::Greater => now > before,
                Keep::Less => now < before,
                Keep::Equal => now == number,
            }
        };
        match scope {
            Scope::Every => rows.all(|(_, pair)| holds(pair)),
            Scope::Some => rows.any(|(_, pair)| holds(pair)),
            Scope::Chosen => rows.any(|(row, pair)| Some(*row) == env && holds(pair)),
        }
    }

    /// Describes the search for a view, with the first addresses and their present numbers.
    pub(crate) fn describe(
        &self,
        swarm: &Swarm,
        form: Form,
        chosen: Option<usize>,
    ) -> Result<Value, SwarmError> {
        let row = self.envs.iter().position(|env| Some(*env) == chosen).unwrap_or(0);
        let fits = |at: &&usize| holds(swarm, &form.range(self.places[**at]));
        let listed = self.candidates.iter().filter(fits).take(MAX_LISTED);
        let places: Vec<u32> = listed.clone().map(|at| self.places[*at]).collect();
        let mut numbers = numbers(swarm, &places, form, chosen)?;
        for (value, at) in numbers.iter_mut().zip(listed) {
            let before = self.before.get(row).and_then(|bytes| form.number(&bytes[*at..]));
            value["before"] = json!(before);
        }
        Ok(json!({
            "count": self.candidates.len(),
            "machines": self.envs.len(),
            "filters": self.filters,
            "refused": self.refused,
            "found": numbers,
        }))
    }
}

/// Returns the numbers at places in the enlarged machine, and the least and the greatest in all
/// machines. A number that is not decimal, or that crosses the end of its memory, is null.
pub(crate) fn numbers(
    swarm: &Swarm,
    places: &[u32],
    form: Form,
    chosen: Option<usize>,
) -> Result<Vec<Value>, SwarmError> {
    let fits = |place: &u32| holds(swarm, &form.range(*place));
    let places: Vec<u32> = places.iter().copied().filter(fits).collect();
    let view = View::Memory(places.iter().map(|place| form.range(*place)).collect());
    let mut all = vec![0; view.bytes_per_env() * swarm.config().num_envs];
    swarm.fill_view(&view, None, &mut all)?;
    let describe = |(at, place): (usize, &u32)| {
        let rows = all.chunks_exact(view.bytes_per_env());
        let number = |row: &[u8]| form.number(&row[at * form.bytes()..]);
        json!({
            "place": place,
            "value": rows.clone().nth(chosen.unwrap_or(0)).and_then(number),
            "low": rows.clone().filter_map(number).min(),
            "high": rows.filter_map(number).max(),
        })
    };
    Ok(places.iter().enumerate().map(describe).collect())
}

/// Changes a byte of an env's memory as a debugger does; ignores an env or a place that does not
/// exist.
pub(crate) fn poke(swarm: &mut Swarm, env: usize, place: u32, byte: u8) -> Result<(), SwarmError> {
    if env < swarm.config().num_envs && holds(swarm, &Form::Byte.range(place)) {
        swarm.write_memory(env, place, &[byte])?;
    }
    Ok(())
}

/// Returns true if all places of a range are memory that a viewer may see: the CPU's addresses, and
/// the searched banks.
pub(crate) fn holds(swarm: &Swarm, range: &Range<u32>) -> bool {
    let contains = |all: &Range<u32>| all.start <= range.start && range.end <= all.end;
    range.end <= 0x1_0000 || ranges(swarm.rom()).iter().any(contains)
}

/// Returns the searched memory of a cartridge's machine.
fn ranges(rom: &Rom) -> Vec<Range<u32>> {
    let cart_ram = rom.cart_ram_bytes().min(MAX_CART_RAM_BYTES);
    let cart_banks = (0..cart_ram.div_ceil(0x2000)).map(|bank| {
        let begin = in_bank(bank as u16, 0xA000);
        begin..begin + (cart_ram - bank * 0x2000).min(0x2000) as u32
    });
    let (work_ram, work_banks) = match rom.model() {
        Model::Original => (0xC000..0xE000, 0..0),
        Model::Color => (0xC000..0xD000, 1..8),
    };
    let work_banks = work_banks.map(|bank| in_bank(bank, 0xD000)..in_bank(bank, 0xDFFF) + 1);
    let mapped = [work_ram, 0xFF80..0xFFFF];
    cart_banks.chain(mapped).chain(work_banks).collect()
}

/// Returns the labels of a `.sym` text that lie in searched memory, with their places.
pub(crate) fn labels(text: &str, rom: &Rom) -> Vec<(u32, String)> {
    let ranges = ranges(rom);
    let label = |(bank, address, name): (u16, u16, &str)| {
        // Work RAM from D000 on is in bank 1 unless another bank is mapped.
        let work_bank = if (0xD000..0xE000).contains(&address) { bank.max(1) } else { bank };
        let candidates = [u32::from(address), in_bank(work_bank, address)];
        let is_searched = |place: &u32| ranges.iter().any(|range| range.contains(place));
        Some((candidates.into_iter().find(is_searched)?, name.to_owned()))
    };
    symbols(text).filter_map(label).collect()
}

/// Reads the lines of a `.sym` text: banks, addresses, and labels.
pub(crate) fn symbols(text: &str) -> impl Iterator<Item = (u16, u16, &str)> {
    text.lines().filter_map(|line| {
        let (place, name) = line.split(';').next()?.trim().split_once(char::is_whitespace)?;
        let (bank, address) = place.split_once(':')?;
        let number = |digits| u16::from_str_radix(digits, 16).ok();
        Some((number(bank)?, number(address)?, name.trim()))
    })
}

#[cfg(test)]
mod tests;
