//! Stacks of pictures on a device: a thread makes one byte of an env's picture. The results equal
//! those of [`gbxcule_console::PictureStack`], byte by byte.

use std::fmt::Write;

use gbxcule_console::{Crop, memory_bytes};
use gbxcule_ir::check::Valid;
use gbxcule_ir::{Module, Scalar};
use gbxcule_runtime::{Argument, Array, Kernel};

use super::dialect_kernel::trusted;
use super::kernel::Arguments;
use super::memory::Memory;
use super::recipe::Recipe;
use super::state_arrays::{FRAME, StateArrays};
use super::step::RESTS;
use super::swarm::DeviceConfig;
use crate::{EnvSnapshot, Model, Picture, PictureStack, SwarmError};

const TEXT: &str = include_str!("picture_stack.py");
const NAME: &str = "pictures";

/// The stacks of all envs, and the kernels that change them.
pub(super) struct DevicePictures {
    pub(super) form: PictureStack,
    pub(super) stacks: Array,
    /// The second-to-last frame of each env's step; one byte for each env if pictures don't need
    /// it.
    before: Array,
    /// A mask that marks no env.
    nobody: Array,
    push: Kernel,
    copy: Kernel,
    keep: Kernel,
}

impl DevicePictures {
    pub(super) fn new(
        form: PictureStack,
        envs: usize,
        model: Model,
        device: DeviceConfig,
        memory: &Memory,
    ) -> Result<Self, SwarmError> {
        let constants = constants(form, model);
        let recipe = Recipe::new(&format!("{NAME} {constants}"), model);
        let made = recipe.compile(device, || pictures_module(form, model))?;
        let [.., frame_bytes] = memory_bytes(model);
        let before = if form.max_pool { frame_bytes } else { 1 };
        Ok(Self {
            form,
            stacks: memory.zeros(Scalar::U8, &[envs, form.bytes()])?,
            before: memory.zeros(Scalar::U8, &[envs, before])?,
            nobody: memory.bytes(envs)?,
            push: made.kernel("push_picture")?,
            copy: made.kernel("copy_pictures")?,
            keep: made.kernel("keep_frames")?,
        })
    }

    /// Pushes the pictures of a finished step for all envs that did not rest.
    pub(super) fn push(
        &self,
        envs: &StateArrays,
        manual_buttons: &Array,
    ) -> Result<(), SwarmError> {
        self.launch(envs, manual_buttons, &self.nobody, false)
    }

    /// Fills the stacks of marked envs with their frames.
    pub(super) fn fill(
        &self,
        envs: &StateArrays,
        mask: &Array,
        idle: &Array,
    ) -> Result<(), SwarmError> {
        self.launch(envs, idle, mask, true)
    }

    fn launch(
        &self,
        envs: &StateArrays,
        manual_buttons: &Array,
        mask: &Array,
        fills: bool,
    ) -> Result<(), SwarmError> {
        let arguments = Arguments::default()
            .with("frame", &envs.arrays[FRAME])
            .with("before", &self.before)
            .with("pictures", &self.stacks)
            .with("manual_buttons", manual_buttons)
            .with("mask", mask)
            .with("fills", Argument::Int(fills.into()));
        let grid = [self.stacks.shape()[0], self.form.picture_bytes()];
        Ok(arguments.launch(&self.push, &grid)?)
    }

    /// Copies the second-to-last frames of a step.
    pub(super) fn keep_frames(&self, envs: &StateArrays) -> Result<(), SwarmError> {
        let frame = &envs.arrays[FRAME];
        let arguments = Arguments::default().with("frame", frame).with("before", &self.before);
        Ok(arguments.launch(&self.keep, frame.shape())?)
    }

    /// Copies the stack of an env to the marked envs; the mask must not mark the env itself.
    pub(super) fn copy(&self, source: usize, mask: &Array) -> Result<(), SwarmError> {
        let arguments = Arguments::default()
            .with("pictures", &self.stacks)
            .with("source", Argument::Int(source as i128))
            .with("mask", mask);
        Ok(arguments.launch(&self.copy, self.stacks.shape())?)
    }

    /// Loads the pictures of a state; a state without pictures gives a stack of its frame.
    pub(super) fn load(&self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
        let row = self.stacks.slice(0, env..env + 1, 1)?;
        match snapshot.pictures_as(self.form) {
            Some(pictures) => row.write(pictures)?,
            None => row.write(&self.form.first(snapshot.machine.frame()))?,
        }
        Ok(())
    }

    pub(super) fn of(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        Ok(self.stacks.slice(0, env..env + 1, 1)?.to_vec()?)
    }
}

/// Makes the kernels for a form of pictures and the frames of a model.
pub fn pictures_module(form: PictureStack, model: Model) -> Valid<Module> {
    trusted(NAME, format!("import warp as wp\n\n{}\n\n{TEXT}", constants(form, model)))
}

/// The text's constants.
fn constants(form: PictureStack, model: Model) -> String {
    let [lines, columns, channels] = form.shape();
    let Crop { top, left, lines: from_lines, columns: from_columns } = form.part();
    let forms = [
        ("GRAY", Picture::Gray),
        ("PACKED", Picture::Packed),
        ("MEAN", Picture::Mean),
        ("STRIDE", Picture::Stride),
        ("RGB", Picture::Rgb),
        ("RGB_CORRECTED", Picture::RgbCorrected),
        ("RGB555", Picture::Rgb555),
    ];
    let numbers = [
        ("COLOR", i32::from(model == Model::Color)),
        ("POOLS", i32::from(form.max_pool)),
        ("RESTS", RESTS.into()),
        ("TOP", top.into()),
        ("LEFT", left.into()),
        ("FROM_LINES", from_lines.into()),
        ("FROM_COLUMNS", from_columns.into()),
        ("LINES", lines as i32),
        ("COLUMNS", columns as i32),
        ("CHANNELS", channels as i32),
        ("DEPTH", form.depth.into()),
        ("BYTES", form.picture_bytes() as i32),
    ];
    let mut text = String::new();
    let mut constant = |name: &str, value: i32| {
        // Appending can't fail.
        _ = writeln!(text, "{name} = wp.constant({value})");
    };
    for (number, (name, picture)) in (0..).zip(forms) {
        constant(name, number);
        if picture == form.picture {
            constant("PICTURE", number);
        }
    }
    for (shade, gray) in form.grays.levels().into_iter().enumerate() {
        constant(&format!("GRAY_{shade}"), gray.into());
    }
    numbers.into_iter().for_each(|(name, value)| constant(name, value));
    text
}
