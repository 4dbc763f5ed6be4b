//! Viewers of a swarm. One request of each viewer is handled before the next one of any, and every
//! `look` is answered with the newest picture. A `ViewSource` makes the views, and decides which
//! requests it obeys.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::Duration;

use gbxcule_swarm::{Swarm, SwarmError};

use serde_json::Value;

use crate::env_details::EnvDetails;
use crate::pad::Pad;
use crate::picture::Curve;
use crate::watch::connection::MAX_VIEWERS;
use crate::watch::heatmap::Heatmap;
use crate::watch::memory_search::{self, MemorySearch};
use crate::watch::request::{Look, Request};
use crate::watch::server_message::{self, Status, ViewHead};
use crate::watch::sound_queue::SoundQueue;
use crate::watch::statistics::Summary;
use crate::watch::swarm_channel::{SwarmReceiver, View, ViewerLink, ViewerRequest};
use crate::watch::tile::Shrink;

/// Swarm that viewers look at.
pub(crate) trait ViewSource {
    fn swarm(&self) -> &Swarm;

    /// Returns a number that grows with each change of a view.
    fn version(&self) -> u64;

    /// Returns true if the pictures show the present state.
    fn is_drawn(&self) -> bool;

    /// Waits until the swarm can be viewed.
    fn settle(&mut self) -> Result<(), SwarmError>;

    /// Handles a request of a viewer, who may hold the buttons of an env.
    fn handle(&mut self, holds: &mut Option<Pad>, request: Request) -> Result<(), SwarmError>;

    fn status(&self) -> Status;

    fn details(&self, env: usize) -> Result<EnvDetails, SwarmError>;

    /// Returns the envs of a range whose episodes are over.
    fn over(&self, envs: Range<usize>) -> Result<Vec<usize>, SwarmError>;

    /// Returns the curve by which colours are shown.
    fn curve(&self) -> Curve;

    fn sound(&self) -> Option<&SoundQueue>;

    fn summary(&self) -> Option<Summary>;

    fn heatmap(&self) -> Option<&Heatmap>;
}

struct Viewer {
    link: ViewerLink,
    look: Option<Look>,
    looks: u64,
    last: Option<(Look, u64)>,
    holds: Option<Pad>,
    /// Number of the next sample.
    heard: u64,
    /// Machine whose state the next view contains.
    saves: Option<usize>,
}

impl Viewer {
    fn new(link: ViewerLink) -> Self {
        Self { link, look: None, looks: 0, last: None, holds: None, heard: 0, saves: None }
    }

    /// Returns the look to be answered next; `None` while the last view is in transit to the
    /// browser.
    fn awaits(&self, version: u64) -> Option<Look> {
        let look = self.look.filter(|look| self.last != Some((*look, version)))?;
        (!self.link.is_served.load(Ordering::SeqCst)).then_some(look)
    }
}

/// All viewers of a swarm.
#[derive(Default)]
pub(crate) struct Viewers {
    viewers: Vec<Viewer>,
    search: MemorySearch,
    /// Number of requests that changed a view.
    changes: u64,
}

impl Viewers {
    pub(crate) fn is_empty(&self) -> bool {
        self.viewers.is_empty()
    }

    /// Returns true if a viewer waits for the next view; `version` is the source's present version.
    pub(crate) fn awaits_next(&self, version: u64) -> bool {
        let next = version + self.changes + 1;
        self.viewers.iter().any(|viewer| viewer.awaits(next).is_some())
    }

    /// Waits for a new viewer or a request, and adds the viewers that have come; returns false if
    /// no more can come.
    pub(crate) fn admit(&mut self, from: &SwarmReceiver, mut wait: Option<Duration>) -> bool {
        // Further arrivals are added next time, so that they don't keep the swarm from running.
        for _ in 0..MAX_VIEWERS {
            match from.wait(wait) {
                Ok(link) => self.viewers.extend(link.map(Viewer::new)),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
            wait = Some(Duration::ZERO);
        }
        true
    }

    /// Handles one request of each viewer, so that a viewer that floods the swarm gets no more time
    /// than others; returns true if there was a request.
    pub(crate) fn take_turns(&mut self, source: &mut impl ViewSource) -> Result<bool, SwarmError> {
        let (mut is_busy, mut index) = (false, 0);
        while index < self.viewers.len() {
            let link = &self.viewers[index].link;
            match link.requests.try_recv() {
                // The requests of a viewer that has left are dropped.
                Ok(asked) if !link.has_left() => {
                    self.handle(index, &asked, source)?;
                    // Viewers get their answers after each round of requests.
                    self.answer(source)?;
                    is_busy = true;
                    index += 1;
                }
                Err(TryRecvError::Empty) => index += 1,
                Ok(_) | Err(TryRecvError::Disconnected) => {
                    source.handle(&mut self.viewers[index].holds, Request::LetGo)?;
                    self.viewers.remove(index);
                }
            }
        }
        Ok(is_busy)
    }

    fn handle(
        &mut self,
        index: usize,
        asked: &ViewerRequest,
        source: &mut impl ViewSource,
    ) -> Result<(), SwarmError> {
        let (viewers, num_envs) = (self.viewers.len(), source.swarm().config().num_envs);
        let viewer = &mut self.viewers[index];
        match asked.request {
            Request::Look(look) => {
                let look = look.clipped(num_envs, viewers, source.swarm().rom().frame_model());
                (viewer.look, viewer.looks) = (Some(look), asked.looks);
                return Ok(());
            }
            Request::Save { env } => viewer.saves = Some(env).filter(|env| *env < num_envs),
            Request::Search(filter) => {
                source.settle()?;
                self.search.apply(source.swarm(), filter)?;
            }
            request => source.handle(&mut viewer.holds, request)?,
        }
        self.changes += 1;
        Ok(())
    }

    /// Sends a view to each viewer who waits for one.
    pub(crate) fn answer(&mut self, source: &mut impl ViewSource) -> Result<(), SwarmError> {
        if !source.is_drawn() {
            return Ok(());
        }
        let version = source.version() + self.changes;
        for viewer in &mut self.viewers {
            let Some(look) = viewer.awaits(version) else { continue };
            source.settle()?;
            let bytes = view(source, &self.search, look, viewer.heard, viewer.saves.take())?;
            viewer.heard = source.sound().map_or(0, SoundQueue::end);
            (viewer.look, viewer.last) = (None, Some((look, version)));
            viewer.link.is_served.store(true, Ordering::SeqCst);
            // If the viewer has left, its queue of requests has ended, too.
            let _ = viewer.link.views.send(View { look: viewer.looks, bytes });
        }
        Ok(())
    }
}

/// Writes a view, with the samples from a number on and a machine's state if they were requested.
fn view(
    source: &impl ViewSource,
    search: &MemorySearch,
    look: Look,
    heard: u64,
    saves: Option<usize>,
) -> Result<Vec<u8>, SwarmError> {
    let envs: Vec<usize> = (look.first..look.first + look.count).collect();
    let samples: Vec<[i16; 2]> = match source.sound().filter(|_| look.sound) {
        Some(sound) => sound.since(heard).collect(),
        None => Vec::new(),
    };
    let swarm = source.swarm();
    let state = saves.map(|env| swarm.save_state(env)).transpose()?.unwrap_or_default();
    let map = source.heatmap().filter(|_| look.map);
    let heat = map.map(Heatmap::picture);
    let mut view = server_message::view_head(&ViewHead {
        status: source.status(),
        look,
        model: swarm.rom().frame_model(),
        curve: source.curve(),
        samples: samples.len(),
        done: &source.over(look.first..look.first + look.count)?,
        chosen: look.chosen.map(|env| source.details(env)).transpose()?.as_ref(),
        summary: source.summary(),
        map: heat.as_ref(),
        place: map.zip(look.chosen).and_then(|(map, env)| map.place(env)),
        state_bytes: state.len(),
        memory: &look.chosen.map(|env| shown_memory(swarm, env, look.memory)).transpose()?,
        search: shown_search(swarm, search, look)?,
        watched: shown_number(swarm, look)?,
    });
    swarm.frames(&envs, |picture| look.shrink.append(picture, &mut view))?;
    if let Some(env) = look.chosen {
        swarm.frames(&[env], |picture| Shrink::WHOLE.append(picture, &mut view))?;
    }
    view.extend(heat.iter().flat_map(|map| &map.heat));
    view.extend(samples.into_iter().flatten().flat_map(i16::to_le_bytes));
    view.extend(state);
    Ok(view)
}

/// Number of an env's bytes in a view that names a place. The number for other views, which show
/// memory from C000 on, follows.
const PAGE_BYTES: u32 = 128;
const FIRST_BYTES: u32 = 32;

/// Reads the memory of an env for a view; empty for a place without memory.
fn shown_memory(swarm: &Swarm, env: usize, from: Option<u32>) -> Result<Vec<u8>, SwarmError> {
    let range = match from {
        Some(place) => place..place.saturating_add(PAGE_BYTES),
        None => 0xC000..0xC000 + FIRST_BYTES,
    };
    if memory_search::holds(swarm, &range) { swarm.read_memory(env, range) } else { Ok(Vec::new()) }
}

fn shown_search(
    swarm: &Swarm,
    search: &MemorySearch,
    look: Look,
) -> Result<Option<Value>, SwarmError> {
    look.search.then(|| search.describe(swarm, look.form, look.chosen)).transpose()
}

fn shown_number(swarm: &Swarm, look: Look) -> Result<Option<Value>, SwarmError> {
    let Some(place) = look.watched else { return Ok(None) };
    Ok(memory_search::numbers(swarm, &[place], look.form, look.chosen)?.pop())
}
