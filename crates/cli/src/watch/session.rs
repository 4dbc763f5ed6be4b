//! The swarm's side of the view: runs at its own pace, handles requests between steps, one of each
//! viewer in turn, and answers every `look` with the newest picture.
//!
//! At full speed, steps are run whole and drawn only if a viewer is waiting; at the speed of
//! real machines they are run in pieces of a frame or more, each of them drawn, so that motion is
//! smooth. Neither changes what happens.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use gbxcule_swarm::SwarmError;

use crate::driver::{Driver, REAL_FRAMES_PER_S};
use crate::watch::ahead::Ahead;
use crate::watch::connection::MOST_VIEWERS;
use crate::watch::protocol::{self, Mode, Status};
use crate::watch::request::{Look, Request};
use crate::watch::sound_queue::SoundQueue;
use crate::watch::swarm_channel::{SwarmReceiver, View, ViewerLink, ViewerRequest};

/// Paced pieces are made as long as it takes to have no more of them than this in a second.
const MOST_PIECES_PER_S: f64 = 60.0;

/// Behind its pace by more than this, the swarm forgets what it has missed.
const LONGEST_LAG: Duration = Duration::from_millis(200);

/// Over what time frames are counted.
const METER_WINDOW: Duration = Duration::from_millis(500);

/// A step that takes longer is drawn even if no viewer waits yet: one will before the step is over.
const LONG_STEP: Duration = Duration::from_millis(8);

/// Settings at the beginning of a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) speed: f64,
    pub(crate) running: bool,
    pub(crate) mode: Mode,
}

struct Viewer {
    link: ViewerLink,
    look: Option<Look>,
    looks: u64,
    last: Option<(Look, u64)>,
    holds: Option<usize>,
    /// The sample that comes next.
    heard: u64,
    /// The machine whose state the next view brings along.
    saves: Option<usize>,
}

impl Viewer {
    fn new(link: ViewerLink) -> Self {
        Self { link, look: None, looks: 0, last: None, holds: None, heard: 0, saves: None }
    }

    /// Returns the look to be answered next: none while the last view is on its way to the browser.
    fn awaits(&self, version: u64) -> Option<Look> {
        let look = self.look.filter(|look| self.last != Some((*look, version)))?;
        (!self.link.is_served.load(Ordering::SeqCst)).then_some(look)
    }
}

/// A swarm with its viewers.
pub(crate) struct Session {
    driver: Driver,
    viewers: Vec<Viewer>,
    running: bool,
    speed: f64,
    due: Instant,
    /// The pictures are of the present moment.
    is_drawn: bool,
    ahead: Ahead,
    /// Counts whatever makes a view differ from the one before.
    version: u64,
    meter: Meter,
    sound: SoundQueue,
}

impl Session {
    pub(crate) fn new(driver: Driver, start: Start) -> Self {
        let now = Instant::now();
        Self {
            driver,
            viewers: Vec::new(),
            running: start.running,
            speed: start.speed,
            due: now,
            is_drawn: true,
            ahead: Ahead::default(),
            version: 0,
            meter: Meter { since: now, frames: 0, rate: 0.0 },
            sound: SoundQueue::default(),
        }
    }

    /// Runs until the server has ended and no viewer is left.
    pub(crate) fn run(mut self, from_viewers: &SwarmReceiver) -> Result<(), SwarmError> {
        loop {
            self.answer()?;
            let is_busy = self.take_turns()?;
            let wait = match (is_busy, self.running) {
                (true, _) => Some(Duration::ZERO),
                (false, true) => Some(self.time_left()),
                (false, false) => None,
            };
            if !self.admit_viewers(from_viewers, wait) {
                return Ok(());
            }
            if self.running && self.time_left().is_zero() {
                self.tick()?;
            }
        }
    }

    /// Waits for a new viewer or a request, and takes in the viewers that have come; returns false
    /// if there can be none any more.
    fn admit_viewers(&mut self, from_viewers: &SwarmReceiver, mut wait: Option<Duration>) -> bool {
        // More than these come next time: the swarm is not kept from running by arrivals.
        for _ in 0..MOST_VIEWERS {
            match from_viewers.wait(wait) {
                Ok(link) => self.viewers.extend(link.map(Viewer::new)),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
            wait = Some(Duration::ZERO);
        }
        true
    }

    /// Handles one request of each viewer, so that one who sends many gets no more than
    /// the others; returns true if there was any.
    fn take_turns(&mut self) -> Result<bool, SwarmError> {
        let (mut is_busy, mut index) = (false, 0);
        while index < self.viewers.len() {
            match self.viewers[index].link.requests.try_recv() {
                Ok(asked) => {
                    self.handle(index, &asked)?;
                    // Each viewer waits for one request of each other viewer at most.
                    self.answer()?;
                    is_busy = true;
                    index += 1;
                }
                Err(TryRecvError::Empty) => index += 1,
                Err(TryRecvError::Disconnected) => {
                    self.let_go(index)?;
                    self.viewers.remove(index);
                }
            }
        }
        Ok(is_busy)
    }

    fn time_left(&self) -> Duration {
        if self.speed == 0.0 {
            return Duration::ZERO;
        }
        self.due.saturating_duration_since(Instant::now())
    }

    /// One piece of running: a whole step, or some frames of one.
    fn tick(&mut self) -> Result<(), SwarmError> {
        let begin = Instant::now();
        if self.speed == 0.0 {
            let waiting =
                self.viewers.iter().any(|viewer| viewer.awaits(self.version + 1).is_some());
            let draw = waiting || (self.ahead.piece_took() > LONG_STEP && !self.viewers.is_empty());
            let frames = self.driver.finish_step(draw)?;
            self.record_frames(frames, draw);
        } else {
            let frames = self.driver.advance(piece_frames(self.speed), true)?;
            self.record_frames(frames, true);
            self.due += time_of(frames, self.speed);
            if self.due + LONGEST_LAG < begin {
                self.due = begin;
            }
        }
        if self.ahead.ask(begin.elapsed()) { self.settle() } else { Ok(()) }
    }

    /// Wait for what a device was only asked for, and see how long a piece took.
    fn settle(&mut self) -> Result<(), SwarmError> {
        if self.ahead.is_waiting() {
            let begin = Instant::now();
            self.driver.sync()?;
            self.ahead.settle(begin.elapsed());
        }
        Ok(())
    }

    fn record_frames(&mut self, frames: u32, drawn: bool) {
        self.is_drawn = drawn;
        self.version += 1;
        self.sound.push(self.driver.new_samples());
        self.meter.count(u64::from(frames) * self.driver.num_envs() as u64);
    }

    fn handle(&mut self, index: usize, asked: &ViewerRequest) -> Result<(), SwarmError> {
        match asked.request {
            Request::Look(look) => {
                let look = look.clipped(self.driver.num_envs(), self.viewers.len());
                let viewer = &mut self.viewers[index];
                (viewer.look, viewer.looks) = (Some(look), asked.looks);
            }
            request => {
                self.change(index, request)?;
                self.version += 1;
            }
        }
        Ok(())
    }

    fn change(&mut self, index: usize, request: Request) -> Result<(), SwarmError> {
        match request {
            Request::Run => self.set_running(true),
            Request::Pause => self.pause()?,
            Request::Step => {
                let frames = self.driver.finish_step(true)?;
                self.record_frames(frames, true);
                self.set_running(false);
            }
            Request::Speed { times } => self.set_speed(times),
            Request::Reset => {
                self.driver.reset()?;
                self.is_drawn = true;
            }
            Request::Hold { env, buttons } => {
                let before = self.viewers[index].holds.replace(env);
                if let Some(before) = before.filter(|before| *before != env) {
                    self.driver.hold(before, None)?;
                }
                self.driver.hold(env, Some(buttons))?;
            }
            Request::LetGo => self.let_go(index)?,
            Request::Save { env } => {
                self.viewers[index].saves = Some(env).filter(|env| *env < self.driver.num_envs());
            }
            Request::Look(_) => {}
        }
        Ok(())
    }

    fn let_go(&mut self, index: usize) -> Result<(), SwarmError> {
        let held = self.viewers[index].holds.take();
        held.map_or(Ok(()), |env| self.driver.hold(env, None))
    }

    /// Sets the speed. The next piece comes sooner at a higher speed, but never at once: asking
    /// often makes nothing faster.
    fn set_speed(&mut self, times: f64) {
        let now = Instant::now();
        self.due = if self.speed == 0.0 || times == 0.0 {
            now
        } else {
            self.due.min(now + time_of(piece_frames(times), times))
        };
        self.speed = times;
    }

    fn set_running(&mut self, running: bool) {
        if running && self.running {
            return;
        }
        self.running = running;
        self.due = Instant::now();
        self.meter.restart();
    }

    /// Stop where there is a picture of it.
    fn pause(&mut self) -> Result<(), SwarmError> {
        if !self.is_drawn {
            let frames = self.driver.finish_step(true)?;
            self.record_frames(frames, true);
        }
        self.set_running(false);
        Ok(())
    }

    fn answer(&mut self) -> Result<(), SwarmError> {
        if !self.is_drawn {
            return Ok(());
        }
        for index in 0..self.viewers.len() {
            let Some(look) = self.viewers[index].awaits(self.version) else { continue };
            self.settle()?;
            let Viewer { heard, saves, .. } = &mut self.viewers[index];
            let (heard, saves) = (*heard, saves.take());
            let bytes = self.view(look, heard, saves)?;
            let viewer = &mut self.viewers[index];
            viewer.heard = self.sound.end();
            (viewer.look, viewer.last) = (None, Some((look, self.version)));
            viewer.link.is_served.store(true, Ordering::SeqCst);
            // A viewer that is gone is found by the end of its requests.
            let _ = viewer.link.views.send(View { look: viewer.looks, bytes });
        }
        Ok(())
    }

    /// A view, with the samples from a number on if they are asked for, and with a machine's state.
    fn view(&self, look: Look, heard: u64, saves: Option<usize>) -> Result<Vec<u8>, SwarmError> {
        let status = Status {
            step: self.driver.step(),
            frame: self.driver.frame(),
            running: self.running,
            speed: self.speed,
            frames_per_s: if self.running { self.meter.rate } else { 0.0 },
        };
        let details = look.chosen.map(|env| self.driver.details(env)).transpose()?;
        let envs = look.first..look.first + look.count;
        let done = self.driver.over(envs.clone())?;
        let samples = self.sound.since(if look.sound { heard } else { self.sound.end() });
        let state = saves.map(|env| self.driver.state(env)).transpose()?.unwrap_or_default();
        let details = details.as_ref();
        let mut view =
            protocol::view_head(status, look, samples.len(), &done, details, state.len());
        let envs: Vec<usize> = envs.collect();
        self.driver.pictures(&envs, |picture| look.shrink.append(&*picture.shades(), &mut view))?;
        if let Some(env) = look.chosen {
            self.driver.pictures(&[env], |picture| view.extend_from_slice(&*picture.shades()))?;
        }
        view.extend(samples.flatten().flat_map(i16::to_le_bytes));
        view.extend(state);
        Ok(view)
    }
}

/// Frames that are run at once at a speed.
fn piece_frames(speed: f64) -> u32 {
    // At most a thousand times real speed: some thousand frames.
    (REAL_FRAMES_PER_S * speed / MOST_PIECES_PER_S).ceil().max(1.0) as u32
}

/// The time that frames take at a speed, which `request::check_speed` keeps from being too small to
/// divide by.
fn time_of(frames: u32, speed: f64) -> Duration {
    Duration::from_secs_f64(f64::from(frames) / (REAL_FRAMES_PER_S * speed))
}

/// Frames of all machines a second, over the last while.
struct Meter {
    since: Instant,
    frames: u64,
    rate: f64,
}

impl Meter {
    fn count(&mut self, frames: u64) {
        self.frames += frames;
        let time = self.since.elapsed();
        if time >= METER_WINDOW {
            self.rate = self.frames as f64 / time.as_secs_f64();
            (self.since, self.frames) = (Instant::now(), 0);
        }
    }

    fn restart(&mut self) {
        (self.since, self.frames, self.rate) = (Instant::now(), 0, 0.0);
    }
}
