//! One env as bytes: its machine in the format of `gbxcule_gameboy::state`, and the swarm's data of
//! the env.

use std::fmt::Write as _;

use gbxcule_console::record::{Reader, RecordKind, Writer};
use gbxcule_console::{MachineSound, foreign_state};

use crate::{
    AnyMachine, Counters, EnvSnapshot, Episode, Hook, PictureStack, Programs, Rom, SwarmConfig,
    SwarmError,
};

/// The record that holds one env's state. Version 1 has no observation, version 2 no pictures.
const STATE: RecordKind =
    RecordKind { name: "state", magic: b"gbxcule env\n", version: 3, oldest: 1 };

/// The contents of an env's state.
pub(crate) struct EnvRecord {
    pub(crate) snapshot: EnvSnapshot,
    /// The env's place in the sequence of its episodes; `None` for a machine alone.
    pub(crate) episode: Option<Episode>,
}

impl EnvRecord {
    /// Reads an env's state, or the state of a machine alone, which earlier versions wrote. Ignores
    /// a scratch that other programs wrote: an episode of these programs then begins.
    pub(crate) fn from_bytes(
        rom: &Rom,
        config: &SwarmConfig,
        bytes: &[u8],
    ) -> Result<Self, SwarmError> {
        if !STATE.matches_magic(bytes) {
            let snapshot = machine_of(rom, bytes)?;
            return Ok(Self { snapshot, episode: None });
        }
        let mut reader = Reader::new(STATE, bytes)?;
        let is_theirs = reader.text()? == identity(&config.programs);
        let mut snapshot = read_env(&mut reader, rom)?;
        let episode = read_episode(&mut reader)?;
        if reader.version() > 1 && reader.flag()? {
            snapshot.observation = Some(reader.floats()?);
        }
        if reader.version() > 2 {
            read_pictures(&mut reader, &mut snapshot)?;
        }
        if !reader.is_at_end() {
            read_sound(&mut reader, &mut snapshot)?;
        }
        reader.finish()?;
        if !is_theirs {
            (snapshot.scratch, snapshot.observation) = (None, None);
        }
        fit_last_action(&mut snapshot, config);
        snapshot.check(rom, config)?;
        Ok(Self { snapshot, episode: Some(episode) })
    }
}

impl EnvSnapshot {
    /// Makes an env from a state of any format: of gbxcule, or of another emulator.
    pub(crate) fn imported(
        bytes: &[u8],
        rom: &Rom,
        config: &SwarmConfig,
    ) -> Result<Self, SwarmError> {
        if STATE.matches_magic(bytes) || is_machine(bytes) {
            return Ok(EnvRecord::from_bytes(rom, config, bytes)?.snapshot);
        }
        let (machine, cart_ram) = foreign_state::imported(bytes, rom)?;
        Ok(Self::start(machine, cart_ram))
    }
}

/// Returns true if the bytes are the state of a machine alone, of either model.
fn is_machine(bytes: &[u8]) -> bool {
    bytes.starts_with(b"gbxstate") || bytes.starts_with(b"gbxcolor")
}

/// Writes an env's state.
pub(crate) fn to_bytes(
    snapshot: &EnvSnapshot,
    episode: Episode,
    rom: &Rom,
    programs: &Programs,
) -> Result<Vec<u8>, SwarmError> {
    let mut writer = Writer::new(STATE);
    writer.text(&identity(programs));
    write_env(&mut writer, snapshot, rom)?;
    write_episode(&mut writer, episode);
    writer.u8(u8::from(snapshot.observation.is_some()));
    if let Some(observation) = &snapshot.observation {
        writer.floats(observation);
    }
    write_pictures(&mut writer, snapshot);
    if let Some(sound) = &snapshot.sound {
        writer.bytes(&sound.to_bytes());
    }
    Ok(writer.finish())
}

/// Adds or removes the cell of the last action, as the configuration asks: only swarms with sticky
/// actions have it.
fn fit_last_action(snapshot: &mut EnvSnapshot, config: &SwarmConfig) {
    let (own, all) = (config.cells() - usize::from(config.sticky > 0.0), config.cells());
    if let Some(scratch) =
        snapshot.scratch.as_mut().filter(|it| (own..=own + 1).contains(&it.len()))
    {
        scratch.resize(all, 0.0);
    }
}

/// Text that identifies the programs that kept a scratch.
fn identity(programs: &Programs) -> String {
    let mut name = String::new();
    for text in [programs.reward_text(), programs.observation_text()] {
        // Appending can't fail.
        _ = write!(name, "{} ", text.sha256());
    }
    if !programs.hooks().is_empty() {
        let hooks: Vec<String> = programs.hooks().iter().map(hook_text).collect();
        _ = write!(name, "[{}]", hooks.join(", "));
    }
    name
}

/// Text of a hook in stored states. The form of this text must never change.
fn hook_text(Hook { bank, address, ends_step, calls }: &Hook) -> String {
    let calls = calls.as_ref().map_or_else(|| "None".into(), |name| format!("Some({name:?})"));
    format!("Hook {{ bank: {bank}, address: {address}, ends_step: {ends_step}, calls: {calls} }}")
}

/// Writes a machine, its counters, and its programs' scratch.
pub(crate) fn write_env(
    writer: &mut Writer,
    snapshot: &EnvSnapshot,
    rom: &Rom,
) -> Result<(), SwarmError> {
    let mut machine = vec![0; snapshot.machine.state_len(rom.cartridge())];
    snapshot.machine.save_state(rom.cartridge(), &snapshot.cart_ram, &mut machine)?;
    writer.bytes(&machine);
    writer.u64(snapshot.counters.frames);
    writer.u64(snapshot.counters.tcycles);
    writer.u8(u8::from(snapshot.scratch.is_some()));
    writer.floats(snapshot.scratch());
    Ok(())
}

/// Reads an env that [`write_env`] wrote.
pub(crate) fn read_env(reader: &mut Reader<'_>, rom: &Rom) -> Result<EnvSnapshot, SwarmError> {
    let mut snapshot = machine_of(rom, reader.bytes()?)?;
    snapshot.counters = Counters { frames: reader.u64()?, tcycles: reader.u64()? };
    let has_begun = reader.flag()?;
    let scratch = reader.floats()?;
    snapshot.scratch = has_begun.then_some(scratch);
    Ok(snapshot)
}

/// Writes the stack of an env's pictures.
pub(crate) fn write_pictures(writer: &mut Writer, snapshot: &EnvSnapshot) {
    writer.u8(u8::from(snapshot.pictures.is_some()));
    if let Some((form, bytes)) = &snapshot.pictures {
        form.write(writer);
        writer.bytes(bytes);
    }
}

/// Reads the stack of an env's pictures.
pub(crate) fn read_pictures(
    reader: &mut Reader<'_>,
    snapshot: &mut EnvSnapshot,
) -> Result<(), SwarmError> {
    if reader.flag()? {
        let (form, bytes) = (PictureStack::read(reader)?, reader.bytes()?.to_vec());
        if bytes.len() != form.bytes() {
            return Err(reader.damaged("its pictures have another size").into());
        }
        snapshot.pictures = Some((form, bytes));
    }
    Ok(())
}

/// Reads the sound of an env.
pub(crate) fn read_sound(
    reader: &mut Reader<'_>,
    snapshot: &mut EnvSnapshot,
) -> Result<(), SwarmError> {
    let sound = MachineSound::from_bytes(&snapshot.machine, reader.bytes()?);
    snapshot.sound = Some(sound.ok_or_else(|| reader.damaged("its sound is impossible"))?);
    Ok(())
}

pub(crate) fn write_episode(writer: &mut Writer, Episode { seed, count }: Episode) {
    writer.u64(seed);
    writer.u64(count);
}

pub(crate) fn read_episode(reader: &mut Reader<'_>) -> Result<Episode, SwarmError> {
    Ok(Episode { seed: reader.u64()?, count: reader.u64()? })
}

/// Makes an env, at the beginning of an episode, from the state of a machine alone.
fn machine_of(rom: &Rom, bytes: &[u8]) -> Result<EnvSnapshot, SwarmError> {
    let mut cart_ram = vec![0; rom.cart_ram_bytes()];
    let machine = AnyMachine::load_state(rom, bytes, &mut cart_ram)?;
    Ok(EnvSnapshot::start(machine, cart_ram))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_hooks_in_stored_states_stays() {
        let calls = Some("on_hit".to_owned());
        let hooks = [Hook::at(1, 0x4000), Hook { ends_step: true, calls, ..Hook::at(0, 0xC123) }];
        assert_eq!(
            hooks.each_ref().map(hook_text),
            [
                "Hook { bank: 1, address: 16384, ends_step: false, calls: None }",
                "Hook { bank: 0, address: 49443, ends_step: true, calls: Some(\"on_hit\") }",
            ]
        );
    }
}
