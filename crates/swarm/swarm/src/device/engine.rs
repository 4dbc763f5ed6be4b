//! The engine's calls on a device. A call queues its work in the stream. A call that returns values
//! waits for these values, and copies nothing else.

use std::ops::Range;

use gbxcule_ir::Scalar;
use gbxcule_runtime::Argument;

use super::outputs::{env_numbers, work_ram};
use super::state_arrays::{BYTES, COUNTERS, INTS, SCRATCH, StateArrays, WRAM, lengths};
use super::swarm::DeviceEngine;
use super::{host_copy, inspect};
use crate::checkpoint::StepOutputs;
use crate::engine::{Engine, SwarmState};
use crate::program::{ScratchSize, widened};
use crate::step_plan::StepPlan;
use crate::{Counters, CpuState, EnvSnapshot, Frame, ScratchArray, SwarmError, View};

impl Engine for DeviceEngine {
    fn state(&self) -> &SwarmState {
        &self.state
    }

    fn state_mut(&mut self) -> &mut SwarmState {
        &mut self.state
    }

    fn as_device(&self) -> Option<&DeviceEngine> {
        Some(self)
    }

    fn as_device_mut(&mut self) -> Option<&mut DeviceEngine> {
        Some(self)
    }

    fn blocks(&self) -> Option<usize> {
        Some(self.kernels.facts.blocks).filter(|&blocks| blocks > 0)
    }

    fn sync(&mut self) -> Result<(), SwarmError> {
        self.with_program_line(self.memory.stream.synchronize())
    }

    fn clear_outputs(&mut self) -> Result<(), SwarmError> {
        self.buffers.rewards.fill(0.0_f32)?;
        self.buffers.dones.fill(0_u8)?;
        Ok(self.buffers.observations.fill(0.0_f32)?)
    }

    fn put_starts(&mut self, starts: Vec<EnvSnapshot>) -> Result<(), SwarmError> {
        let scratch = self.state.config.scratch_size();
        let lengths = lengths(&self.kernels.facts.machine, &self.state.rom, scratch);
        let count = starts.len();
        let on_device = StateArrays::new(lengths, count, &self.memory)?;
        for (at, start) in starts.iter().enumerate() {
            self.upload(start)?;
            let mut mask = vec![0_u8; count];
            mask[at] = 1;
            self.transfer(&on_device, &self.staging_env, 0, &self.memory.copy_of(&mask)?)?;
        }
        self.state.episodes.set_start_weights_unchecked(vec![1; count]);
        self.starts = on_device;
        self.state.starts = starts;
        Ok(())
    }

    fn load_first_start(&mut self) -> Result<(), SwarmError> {
        let all = self.mask(&vec![true; self.state.config.num_envs])?;
        self.transfer(&self.envs, &self.starts, 0, &all)?;
        self.begin_pictures(&all)
    }

    fn run(
        &mut self,
        actions: &[u8],
        mask: Option<&[bool]>,
        plan: StepPlan,
    ) -> Result<(), SwarmError> {
        self.begin_awaited()?;
        self.buffers.actions.write(actions)?;
        let manual_buttons = match mask {
            _ if plan.is_idle => self.manual_buttons.of_idle_step(),
            Some(mask) => self.manual_buttons.of_masked_step(mask)?,
            None => self.manual_buttons.array(),
        };
        if let Some(sticky) = self.sticky.as_ref().filter(|_| !plan.is_idle) {
            let draw = (&self.state.episodes.by_env[..], plan.first_frame == 0);
            sticky.stick_by_host(&self.envs, &self.buffers.actions, manual_buttons, draw)?;
        }
        self.launch_step(manual_buttons, &plan)
    }

    fn reset_masked(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        self.leave_rollout()?;
        let count = self.state.starts.len();
        let (mut envs, mut drawn, mut chosen) = (Vec::new(), Vec::new(), vec![Vec::new(); count]);
        for (env, _) in mask.iter().enumerate().filter(|(_, marked)| **marked) {
            envs.push(env);
            drawn.push(self.state.episodes.by_env[env].draw());
            chosen[self.state.episodes.start(env, self.state.config.link)].push(env);
        }
        // One launch for each start that an env begins with.
        for (start, own) in chosen.iter().enumerate().filter(|(_, own)| own.len() < envs.len()) {
            if !own.is_empty() {
                let mut mask = vec![false; mask.len()];
                own.iter().for_each(|&env| mask[env] = true);
                self.transfer(&self.envs, &self.starts, start, &self.mask(&mask)?)?;
            }
        }
        let marks = self.mask(mask)?;
        if let Some(start) = chosen.iter().position(|own| own.len() == envs.len()) {
            self.transfer(&self.envs, &self.starts, start, &marks)?;
        }
        if let Some(chance) = self.state.config.chance {
            let bytes: Vec<u8> = drawn.iter().flat_map(|&drawn| chance.bytes(drawn)).collect();
            self.write_rows(&envs, chance.low, &bytes)?;
        }
        envs.iter().for_each(|&env| self.state.episodes.awaits_begin[env] = false);
        self.begin_pictures(&marks)?;
        self.begin(&marks, true)
    }

    fn begin_again(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        let marks = self.mask(mask)?;
        self.leave_rollout()?;
        let ScratchSize { numbers, ints, bytes } = self.state.config.scratch_size();
        let mut begun = vec![0.0; numbers];
        begun[self.state.config.programs.weight_cells()]
            .copy_from_slice(&self.state.config.weights);
        for env in (0..mask.len()).filter(|&env| mask[env]) {
            let row = |part: usize| self.envs.arrays[part].slice(0, env..env + 1, 1);
            row(SCRATCH)?.write(&begun)?;
            row(INTS)?.write(&vec![0_i32; ints])?;
            row(BYTES)?.write(&vec![0_u8; bytes])?;
            self.state.episodes.awaits_begin[env] = false;
        }
        self.begin_pictures(&marks)?;
        self.begin(&marks, true)
    }

    fn begin_env(&mut self, env: usize, begins: bool) -> Result<(), SwarmError> {
        self.state.episodes.awaits_begin[env] = false;
        // `load_env` has left a mask that marks this env alone.
        self.begin(&self.buffers.mask, begins)
    }

    fn take_weights(&mut self) -> Result<(), SwarmError> {
        let cells = self.state.config.programs.weight_cells();
        for states in [&self.envs, &self.starts].into_iter().filter(|_| !cells.is_empty()) {
            let columns = states.arrays[SCRATCH].slice(1, cells.clone(), 1)?;
            columns.write(&self.state.config.weights.repeat(columns.shape()[0]))?;
        }
        Ok(())
    }

    fn hold_buttons(&mut self, env: usize, buttons: Option<u8>) -> Result<(), SwarmError> {
        self.manual_buttons.hold(env, buttons)
    }

    fn manual_buttons(&self) -> Vec<Option<u8>> {
        self.manual_buttons.by_env()
    }

    fn snapshot(&self, env: usize) -> Result<EnvSnapshot, SwarmError> {
        self.transfer(&self.staging_env, &self.envs, env, &self.buffers.mask_of_one)?;
        self.with_program_line(self.memory.stream.synchronize())?;
        let like = &self.state.starts[0];
        let mut snapshot = host_copy::download(
            &self.kernels.facts.machine,
            &self.state.rom,
            like,
            &self.staging_env,
        )?;
        if self.state.episodes.awaits_begin[env] {
            snapshot.scratch = None;
        } else if self.state.config.stage.owns_observation() {
            snapshot.observation = Some(self.buffers.observation_of(env)?.to_vec()?);
        }
        if let Some(pictures) = &self.pictures {
            snapshot.pictures = Some((pictures.form, pictures.of(env)?));
        }
        Ok(snapshot)
    }

    fn load_env(&mut self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
        self.upload(snapshot)?;
        let mut mask = vec![false; self.state.config.num_envs];
        mask[env] = true;
        let mask = self.mask(&mask)?;
        self.transfer(&self.envs, &self.staging_env, 0, &mask)?;
        if let Some(pictures) = &self.pictures {
            pictures.load(env, snapshot)?;
        }
        self.state.episodes.awaits_begin[env] = snapshot.scratch.is_none();
        Ok(())
    }

    fn put_observation(&mut self, env: usize, observation: &[f32]) -> Result<(), SwarmError> {
        Ok(self.buffers.observation_of(env)?.write(observation)?)
    }

    fn restore_outputs(&mut self, computed: &StepOutputs) -> Result<(), SwarmError> {
        let dones: Vec<u8> = computed.dones.iter().copied().map(u8::from).collect();
        self.buffers.rewards.write(&computed.rewards)?;
        self.buffers.dones.write(&dones)?;
        Ok(self.buffers.observations.write(&computed.observations)?)
    }

    fn copy_state(&mut self, source: usize, mask: &[bool]) -> Result<(), SwarmError> {
        // The source must not be written while other threads read it.
        let mut mask = mask.to_vec();
        mask[source] = false;
        let marks = self.mask(&mask)?;
        let observes = self.state.config.stage.owns_observation();
        self.launch_transfer(&self.envs, &self.envs, source, &marks, observes)?;
        if let Some(pictures) = &self.pictures {
            pictures.copy(source, &marks)?;
        }
        self.state.episodes.copy(source, &mask);
        Ok(())
    }

    fn rewards_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        self.rows(self.reward_array(), envs)
    }

    fn dones_of(&self, envs: Range<usize>) -> Result<Vec<bool>, SwarmError> {
        let dones: Vec<u8> = self.rows(self.done_array(), envs)?;
        Ok(dones.into_iter().map(|done| done != 0).collect())
    }

    fn observations_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        self.rows(self.observation_array(), envs)
    }

    fn cells(&self, array: ScratchArray, cells: Range<usize>) -> Result<Vec<f64>, SwarmError> {
        if cells.is_empty() {
            return Ok(Vec::new());
        }
        let envs = 0..self.state.config.num_envs;
        let of = |part: usize| self.envs.arrays[part].slice(1, cells, 1);
        Ok(match array {
            ScratchArray::Numbers => widened(&self.rows::<f32>(&of(SCRATCH)?, envs)?),
            ScratchArray::Ints => widened(&self.rows::<i32>(&of(INTS)?, envs)?),
            ScratchArray::Bytes => widened(&self.rows::<u8>(&of(BYTES)?, envs)?),
        })
    }

    fn registers(&self, envs: Range<usize>) -> Result<Vec<CpuState>, SwarmError> {
        let count = envs.len();
        let out = self.memory.zeros(Scalar::U16, &[count, inspect::REGISTER_COUNT])?;
        let arguments = self.buffers.arguments_from(&self.envs, envs.start).with("registers", &out);
        arguments.launch(&self.kernels.registers, &[count])?;
        let words: Vec<u16> = self.with_program_line(out.to_vec())?;
        Ok(words.chunks_exact(inspect::REGISTER_COUNT).map(CpuState::from_words).collect())
    }

    fn counters(&self, envs: Range<usize>) -> Result<Vec<Counters>, SwarmError> {
        let numbers: Vec<u64> = self.rows(&self.envs.arrays[COUNTERS], envs)?;
        let pairs = numbers.chunks_exact(2);
        Ok(pairs.map(|pair| Counters { frames: pair[0], tcycles: pair[1] }).collect())
    }

    fn read_memory(&self, env: usize, range: Range<u32>) -> Result<Vec<u8>, SwarmError> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let work_ram = work_ram(self.state.rom.model());
        if work_ram.contains(&range.start) && range.end <= work_ram.end {
            let offset = |address: u32| (address - work_ram.start) as usize;
            let bytes = offset(range.start)..offset(range.end);
            return self.rows(&self.envs.arrays[WRAM].slice(1, bytes, 1)?, env..env + 1);
        }
        let out = self.memory.zeros(Scalar::U8, &[1, range.len()])?;
        let [peek, ..] = self.kernels.memory()?;
        let low = Argument::Int(i128::from(range.start));
        let arguments =
            self.buffers.arguments_from(&self.envs, env).with("low", low).with("data", &out);
        arguments.launch(peek, &[1, range.len()])?;
        self.with_program_line(out.to_vec())
    }

    fn write_rows(&mut self, envs: &[usize], low: u32, rows: &[u8]) -> Result<(), SwarmError> {
        let width = rows.len() / envs.len().max(1);
        if width == 0 {
            return Ok(());
        }
        let data = self.memory.zeros(Scalar::U8, &[envs.len(), width])?;
        data.write(rows)?;
        let [_, poke, _] = self.kernels.memory()?;
        let low = Argument::Int(i128::from(low));
        let arguments = self
            .buffers
            .arguments_of(&self.envs, &env_numbers(&self.memory, envs)?)
            .with("low", low)
            .with("data", &data);
        Ok(arguments.launch(poke, &[envs.len()])?)
    }

    fn see_frames(&self, envs: &[usize], see: &mut dyn FnMut(Frame<'_>)) -> Result<(), SwarmError> {
        let frames = self.frames(envs)?;
        Frame::each(self.state.rom.model(), &frames).for_each(see);
        Ok(())
    }

    fn samples(&self, _: usize) -> Result<&[[i16; 2]], SwarmError> {
        Err(SwarmError::SoundOnDevice)
    }

    fn fill_rows(&self, view: &View, rows: Vec<(usize, &mut [u8])>) -> Result<(), SwarmError> {
        let envs: Vec<usize> = rows.iter().map(|(env, _)| *env).collect();
        match view {
            View::Picture(picture, grays) => {
                let frames = self.frames(&envs)?;
                let rows = rows.into_iter().zip(Frame::each(self.state.rom.model(), &frames));
                rows.for_each(|((_, row), frame)| picture.fill(*grays, frame, row));
            }
            View::Stack(_) => {
                let stacks = self.pictures(&envs)?;
                let stacks = stacks.chunks_exact(view.bytes_per_env());
                rows.into_iter()
                    .zip(stacks)
                    .for_each(|((_, row), stack)| row.copy_from_slice(stack));
            }
            View::Memory(ranges) | View::Bits(ranges) => {
                let places: Vec<u32> = ranges.iter().cloned().flatten().collect();
                let bytes = self.gather(&envs, &places)?;
                let bytes = bytes.chunks_exact(places.len().max(1));
                for ((_, row), bytes) in rows.into_iter().zip(bytes) {
                    view.show_bytes(bytes.iter().copied(), row);
                }
            }
            View::ObsV0 => {
                for (env, row) in rows {
                    let EnvSnapshot { machine, cart_ram, .. } = self.snapshot(env)?;
                    view.show_machine(&machine, &self.state.rom, &cart_ram, row);
                }
            }
        }
        Ok(())
    }
}
