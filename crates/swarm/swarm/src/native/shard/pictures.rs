//! The pictures that a shard keeps of each of its envs.

use gbxcule_console::{PictureMaker, Shown};

use super::Shard;
use crate::step_plan::StepPlan;
use crate::{EnvSnapshot, Frame, PictureStack};

/// Stacks of pictures, and each env's second-to-last frame if pictures need it.
pub(super) struct Pictures {
    form: PictureStack,
    maker: PictureMaker,
    stacks: Vec<u8>,
    /// Index of the oldest picture in each env's stack, which the next picture replaces.
    oldest: Vec<usize>,
    before: Vec<Vec<u8>>,
    /// Each env's newest picture, for the picture maker.
    shown: Vec<Shown>,
}

impl Pictures {
    pub(super) fn new(form: PictureStack, envs: usize) -> Self {
        Self {
            form,
            maker: PictureMaker::new(form),
            stacks: vec![0; envs * form.bytes()],
            oldest: vec![0; envs],
            before: vec![Vec::new(); if form.max_pool { envs } else { 0 }],
            shown: vec![Shown::default(); envs],
        }
    }

    fn stack(&mut self, slot: usize) -> &mut [u8] {
        let bytes = self.form.bytes();
        &mut self.stacks[slot * bytes..][..bytes]
    }
}

impl Shard {
    /// Returns true if pictures are made from the last two frames of a step.
    pub(super) fn pools_pictures(&self) -> bool {
        self.pictures.as_ref().is_some_and(|it| it.form.max_pool)
    }

    /// Runs the frames of a plan, and keeps the step's second-to-last frame.
    pub(super) fn run_with_last_two(&mut self, slot: usize, plan: StepPlan) {
        let [before, last] = plan.before_last_frame();
        if let Some(before) = before {
            self.run(slot, before);
        }
        let Some(last) = last else { return };
        if let Some(pictures) = &mut self.pictures {
            let frame = bytes_of(self.machines[slot].frame());
            pictures.before[slot].clear();
            pictures.before[slot].extend_from_slice(frame);
        }
        self.run(slot, last);
    }

    /// Pushes the picture of a finished step.
    pub(super) fn push_picture(&mut self, slot: usize) {
        let Some(pictures) = &mut self.pictures else { return };
        let Pictures { form, maker, stacks, oldest, before, shown } = pictures;
        let machine = &self.machines[slot];
        let before = before.get(slot).and_then(|it| Frame::each(machine.model(), it).next());
        let (oldest, shown) = (&mut oldest[slot], &mut shown[slot]);
        let (depth, bytes) = (usize::from(form.depth), form.picture_bytes());
        let stack = &mut stacks[slot * form.bytes()..][..form.bytes()];
        if shown.is_known() {
            // The next picture is made by a change of the newest one.
            let newest = (*oldest + depth - 1) % depth;
            stack.copy_within(newest * bytes..(newest + 1) * bytes, *oldest * bytes);
        }
        maker.draw(machine.frame(), before, &mut stack[*oldest * bytes..][..bytes], shown);
        *oldest = (*oldest + 1) % depth;
    }

    /// The stack of an env's pictures in two parts, the older one first; empty if none are kept.
    pub(crate) fn pictures(&self, slot: usize) -> [&[u8]; 2] {
        self.pictures.as_ref().map_or([&[], &[]], |it| {
            let bytes = it.form.bytes();
            let stack = &it.stacks[slot * bytes..][..bytes];
            let (newer, older) = stack.split_at(it.oldest[slot] * it.form.picture_bytes());
            [older, newer]
        })
    }

    pub(super) fn kept_pictures(&self, slot: usize) -> Option<(PictureStack, Vec<u8>)> {
        let form = self.pictures.as_ref()?.form;
        Some((form, self.pictures(slot).concat()))
    }

    /// Loads the pictures of a state; a state without pictures gives a stack of its frame.
    pub(super) fn restore_pictures(&mut self, slot: usize, snapshot: &EnvSnapshot) {
        let Some(pictures) = &mut self.pictures else { return };
        match snapshot.pictures_as(pictures.form) {
            Some(saved) => {
                pictures.stack(slot).copy_from_slice(saved);
                pictures.oldest[slot] = 0;
                pictures.shown[slot].forget();
            }
            None => self.begin_pictures(slot),
        }
    }

    /// Fills the stack of an env with its machine's frame.
    pub(crate) fn begin_pictures(&mut self, slot: usize) {
        let Some(Pictures { form, maker, stacks, shown, .. }) = &mut self.pictures else { return };
        let bytes = form.bytes();
        let stack = &mut stacks[slot * bytes..][..bytes];
        maker.fill(self.machines[slot].frame(), stack, &mut shown[slot]);
    }
}

fn bytes_of(frame: Frame<'_>) -> &[u8] {
    match frame {
        Frame::Shades(bytes) => bytes,
        Frame::Colors(bytes) => bytes,
    }
}
