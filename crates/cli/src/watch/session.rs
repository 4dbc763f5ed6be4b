//! The swarm's side of the view: runs at its own pace, obeys requests between steps, and answers every `look` with the
//! newest picture.
//!
//! As fast as it goes, steps are run whole and drawn only if somebody is waiting; at the speed of real machines they are
//! run in pieces of a frame or more, each of them drawn, so that motion is smooth. Neither changes what happens.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use gbxcule_swarm::SwarmError;

use crate::driver::{Driver, REAL_FRAMES_PER_S};
use crate::watch::ahead::Ahead;
use crate::watch::protocol::{self, Look, Mode, Request, Status};

/// Paced pieces are made as long as it takes to have no more of them than this in a second.
const MOST_PIECES_PER_S: f64 = 60.0;

/// Behind its pace by more than this, the swarm forgets what it has missed.
const MOST_DEBT: Duration = Duration::from_millis(200);

/// Over what time frames are counted.
const METER_WINDOW: Duration = Duration::from_millis(500);

/// A step that takes longer is drawn even if nobody waits yet: somebody will before it is over.
const LONG_STEP: Duration = Duration::from_millis(8);

/// What viewers' threads say to the swarm.
pub(crate) enum Command {
    Join {
        viewer: u64,
        views: Sender<View>,
    },
    /// `looks` counts the looks of this viewer, this request included.
    Ask {
        viewer: u64,
        request: Request,
        looks: u64,
    },
    Leave {
        viewer: u64,
    },
}

/// The answer to the look of that number.
pub(crate) struct View {
    pub(crate) look: u64,
    pub(crate) bytes: Vec<u8>,
}

/// How a session begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) speed: f64,
    pub(crate) running: bool,
    pub(crate) mode: Mode,
}

struct Seat {
    viewer: u64,
    views: Sender<View>,
    look: Option<Look>,
    looks: u64,
    last: Option<(Look, u64)>,
    holds: Option<usize>,
}

/// A swarm with people around it.
pub(crate) struct Session {
    driver: Driver,
    seats: Vec<Seat>,
    running: bool,
    speed: f64,
    due: Instant,
    /// The pictures are of the present moment.
    is_drawn: bool,
    ahead: Ahead,
    /// Counts whatever makes a view differ from the one before.
    version: u64,
    meter: Meter,
}

impl Session {
    pub(crate) fn new(driver: Driver, start: Start) -> Self {
        let now = Instant::now();
        Self {
            driver,
            seats: Vec::new(),
            running: start.running,
            speed: start.speed,
            due: now,
            is_drawn: true,
            ahead: Ahead::default(),
            version: 0,
            meter: Meter { since: now, frames: 0, rate: 0.0 },
        }
    }

    /// Run until nobody can ask for anything any more.
    pub(crate) fn run(mut self, commands: &Receiver<Command>) -> Result<(), SwarmError> {
        loop {
            self.answer()?;
            let command = if self.running {
                commands.recv_timeout(self.time_left())
            } else {
                commands.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            match command {
                Ok(command) => {
                    self.obey(command)?;
                    while let Ok(command) = commands.try_recv() {
                        self.obey(command)?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.tick()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
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
            let waiting = self.seats.iter().any(|seat| seat.look.is_some());
            let draw = waiting || (self.ahead.piece_took() > LONG_STEP && !self.seats.is_empty());
            let frames = self.driver.finish_step(draw)?;
            self.moved(frames, draw);
        } else {
            let most = (REAL_FRAMES_PER_S * self.speed / MOST_PIECES_PER_S).ceil().max(1.0);
            // At most a thousand times real speed: some thousand frames.
            let frames = self.driver.advance(most as u32, true)?;
            self.moved(frames, true);
            let share = f64::from(frames) / (REAL_FRAMES_PER_S * self.speed);
            self.due += Duration::from_secs_f64(share);
            if self.due + MOST_DEBT < begin {
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

    fn moved(&mut self, frames: u32, drawn: bool) {
        self.is_drawn = drawn;
        self.version += 1;
        self.meter.count(u64::from(frames) * self.driver.num_envs() as u64);
    }

    fn obey(&mut self, command: Command) -> Result<(), SwarmError> {
        match command {
            Command::Join { viewer, views } => {
                let seat = Seat { viewer, views, look: None, looks: 0, last: None, holds: None };
                self.seats.push(seat);
            }
            Command::Leave { viewer } => {
                self.let_go(viewer)?;
                self.seats.retain(|seat| seat.viewer != viewer);
            }
            Command::Ask { viewer, request: Request::Look(look), looks } => {
                let look = look.clipped(self.driver.num_envs());
                if let Some(seat) = self.seats.iter_mut().find(|seat| seat.viewer == viewer) {
                    (seat.look, seat.looks) = (Some(look), looks);
                }
            }
            Command::Ask { viewer, request, .. } => {
                self.change(viewer, request)?;
                self.version += 1;
            }
        }
        Ok(())
    }

    fn change(&mut self, viewer: u64, request: Request) -> Result<(), SwarmError> {
        match request {
            Request::Run => self.set_running(true),
            Request::Pause => self.pause()?,
            Request::Step => {
                let frames = self.driver.finish_step(true)?;
                self.moved(frames, true);
                self.set_running(false);
            }
            Request::Speed { times } => {
                self.speed = times;
                self.due = Instant::now();
            }
            Request::Reset => {
                self.driver.reset()?;
                self.is_drawn = true;
            }
            Request::Hold { env, buttons } => {
                let seat = self.seats.iter_mut().find(|seat| seat.viewer == viewer);
                let before = seat.and_then(|seat| seat.holds.replace(env));
                if let Some(before) = before.filter(|before| *before != env) {
                    self.driver.hold(before, None)?;
                }
                self.driver.hold(env, Some(buttons))?;
            }
            Request::LetGo => self.let_go(viewer)?,
            Request::Look(_) => {}
        }
        Ok(())
    }

    fn let_go(&mut self, viewer: u64) -> Result<(), SwarmError> {
        let seat = self.seats.iter_mut().find(|seat| seat.viewer == viewer);
        let held = seat.and_then(|seat| seat.holds.take());
        held.map_or(Ok(()), |env| self.driver.hold(env, None))
    }

    fn set_running(&mut self, running: bool) {
        self.running = running;
        self.due = Instant::now();
        self.meter.restart();
    }

    /// Stop where there is a picture of it.
    fn pause(&mut self) -> Result<(), SwarmError> {
        if !self.is_drawn {
            let frames = self.driver.finish_step(true)?;
            self.moved(frames, true);
        }
        self.set_running(false);
        Ok(())
    }

    fn answer(&mut self) -> Result<(), SwarmError> {
        if !self.is_drawn {
            return Ok(());
        }
        for index in 0..self.seats.len() {
            let seat = &self.seats[index];
            let Some(look) = seat.look.filter(|look| seat.last != Some((*look, self.version)))
            else {
                continue;
            };
            self.settle()?;
            let bytes = self.view(look)?;
            let seat = &mut self.seats[index];
            (seat.look, seat.last) = (None, Some((look, self.version)));
            // A viewer that is gone will say so itself.
            let _ = seat.views.send(View { look: seat.looks, bytes });
        }
        Ok(())
    }

    fn view(&self, look: Look) -> Result<Vec<u8>, SwarmError> {
        let status = Status {
            step: self.driver.step(),
            frame: self.driver.frame(),
            running: self.running,
            speed: self.speed,
            frames_per_s: if self.running { self.meter.rate } else { 0.0 },
        };
        let closely = look.chosen.map(|env| self.driver.look_closely(env)).transpose()?;
        let envs = look.first..look.first + look.count;
        let done = self.driver.over(envs.clone())?;
        let mut view = protocol::view_head(status, look, &done, closely.as_ref());
        let envs: Vec<usize> = envs.collect();
        self.driver.pictures(&envs, |picture| look.shrink.append(picture, &mut view))?;
        if let Some(env) = look.chosen {
            self.driver.pictures(&[env], |picture| view.extend_from_slice(picture))?;
        }
        Ok(view)
    }
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
