//! Runs a swarm for its viewers at a set speed, and handles the viewers' requests between steps.
//!
//! At full speed, steps are run whole and drawn only if a viewer waits. At the speed of real
//! machines they are run in pieces of a frame or more, and each piece is drawn, so that motion is
//! smooth. Both give the same result.

use std::ops::Range;
use std::time::{Duration, Instant};

use gbxcule_runtime::Device;
use gbxcule_swarm::{Swarm, SwarmError};

use crate::driver::{Driver, StepOutcome};
use crate::env_details::EnvDetails;
use crate::film::REAL_FRAMES_PER_S;
use crate::pad::Pad;
use crate::picture::Curve;
use crate::watch::battery_file::BatteryFile;
use crate::watch::game_level::Levels;
use crate::watch::game_record::GameRecord;
use crate::watch::heatmap::{Coordinates, Heatmap};
use crate::watch::meter::Meter;
use crate::watch::queued_pieces::QueuedPieces;
use crate::watch::request::Request;
use crate::watch::server_message::{Mode, Status};
use crate::watch::sound_queue::SoundQueue;
use crate::watch::statistics::{Statistics, Summary};
use crate::watch::swarm_channel::SwarmReceiver;
use crate::watch::viewers::{ViewSource, Viewers};

/// Greatest number of pieces per second, which determines the frames of a piece.
const MAX_PIECES_PER_S: f64 = 60.0;

/// Greatest lag behind the set speed that the swarm makes up for.
const MAX_LAG: Duration = Duration::from_millis(200);

/// Least duration of a step that is drawn even if no viewer waits yet, because a viewer probably
/// asks before its end.
const MIN_LONG_STEP: Duration = Duration::from_millis(8);

/// Settings at the beginning of a session.
pub(crate) struct Start {
    pub(crate) speed: f64,
    pub(crate) running: bool,
    pub(crate) mode: Mode,
    pub(crate) curve: Curve,
    /// Coordinates for the map of the machines' positions.
    pub(crate) heatmap: Option<Coordinates>,
    /// File of the first machine's battery.
    pub(crate) battery: Option<BatteryFile>,
    /// Record of games.
    pub(crate) record: Option<GameRecord>,
    /// Levels that resets begin; `None` if each game begins as the first one did.
    pub(crate) levels: Option<Levels>,
}

/// A swarm with its viewers.
pub(crate) struct Session {
    viewers: Viewers,
    runner: Runner,
}

impl Session {
    pub(crate) fn new(driver: Driver, start: Start) -> Self {
        Self { viewers: Viewers::default(), runner: Runner::new(driver, start) }
    }

    /// Runs until the server has ended and no viewer remains.
    pub(crate) fn run(mut self, from_viewers: &SwarmReceiver) -> Result<(), SwarmError> {
        let Self { viewers, runner } = &mut self;
        loop {
            viewers.answer(runner)?;
            let is_busy = viewers.take_turns(runner)?;
            let wait = match (is_busy, runner.running) {
                (true, _) => Some(Duration::ZERO),
                (false, true) => Some(runner.time_left()),
                (false, false) => None,
            };
            if !viewers.admit(from_viewers, wait) {
                return Ok(());
            }
            if runner.running && runner.time_left().is_zero() {
                runner.tick(viewers)?;
            }
        }
    }
}

/// Swarm that runs at a speed.
struct Runner {
    driver: Driver,
    curve: Curve,
    running: bool,
    speed: f64,
    due: Instant,
    /// True if the pictures show the present state.
    is_drawn: bool,
    ahead: QueuedPieces,
    /// Number of pieces of steps that were run.
    pieces: u64,
    meter: Meter,
    sound: SoundQueue,
    statistics: Statistics,
    heatmap: Option<Heatmap>,
    battery: Option<BatteryFile>,
    record: Option<GameRecord>,
    levels: Option<Levels>,
}

impl Runner {
    fn new(driver: Driver, start: Start) -> Self {
        Self {
            driver,
            curve: start.curve,
            running: start.running,
            speed: start.speed,
            due: Instant::now(),
            is_drawn: true,
            ahead: QueuedPieces::default(),
            pieces: 0,
            meter: Meter::default(),
            sound: SoundQueue::default(),
            statistics: Statistics::default(),
            heatmap: start.heatmap.as_ref().map(Heatmap::new),
            battery: start.battery,
            record: start.record,
            levels: start.levels,
        }
    }

    fn time_left(&self) -> Duration {
        if self.speed == 0.0 {
            return Duration::ZERO;
        }
        self.due.saturating_duration_since(Instant::now())
    }

    /// Runs one piece: a whole step, or some frames of one.
    fn tick(&mut self, viewers: &Viewers) -> Result<(), SwarmError> {
        let begin = Instant::now();
        if self.speed == 0.0 {
            let draw = viewers.awaits_next(self.pieces)
                || (self.ahead.piece_took() > MIN_LONG_STEP && !viewers.is_empty());
            self.finish_step(draw)?;
        } else {
            let frames = self.advance(piece_frames(self.speed), true)?;
            self.due += time_of(frames, self.speed);
            if self.due + MAX_LAG < begin {
                self.due = begin;
            }
        }
        if self.ahead.must_wait_after(begin.elapsed()) {
            self.settle()?;
        }
        self.write_battery()
    }

    fn write_battery(&mut self) -> Result<(), SwarmError> {
        self.battery.as_mut().map_or(Ok(()), |battery| battery.write_if_due(&self.driver))
    }

    /// Stops running, and writes battery and record, which are otherwise written only while the
    /// swarm runs.
    fn stop(&mut self) -> Result<(), SwarmError> {
        self.set_running(false);
        if let Some(record) = &mut self.record {
            record.write();
        }
        self.battery.as_mut().map_or(Ok(()), |battery| battery.write_if_changed(&self.driver))
    }

    /// Resets all machines. The battery's memory survives, as it survives the power switch.
    fn reset(&mut self) -> Result<(), SwarmError> {
        let battery = self.battery.is_some().then(|| self.driver.battery()).transpose()?;
        let levels = match &mut self.levels {
            Some(levels) => levels.begin(&mut self.driver)?,
            None => {
                self.driver.reset()?;
                vec![None; self.driver.num_envs()]
            }
        };
        if let Some(record) = &mut self.record {
            record.begin(&levels);
        }
        battery.map_or(Ok(()), |file| self.driver.insert_battery(&file))?;
        self.statistics.begin(|_| true);
        self.is_drawn = true;
        Ok(())
    }

    fn finish_step(&mut self, draw: bool) -> Result<(), SwarmError> {
        let frames = self.driver.config().schedule.frames_per_step();
        self.advance(frames, draw).map(drop)
    }

    /// Runs up to `frames` frames, but not past the end of the step, and draws the last one if
    /// `draw` is true; returns their number.
    fn advance(&mut self, frames: u32, draw: bool) -> Result<u32, SwarmError> {
        let frames = match &mut self.record {
            None => self.driver.advance(frames, draw)?,
            Some(record) => {
                let frames = frames.min(self.driver.frames_left());
                // A game may end in each frame.
                for left in (0..frames).rev() {
                    self.driver.advance(1, draw && left == 0)?;
                    record.record_frame(&self.driver)?;
                }
                frames
            }
        };
        self.is_drawn = draw;
        self.pieces += 1;
        self.sound.push(self.driver.new_samples());
        self.meter.count(u64::from(frames) * self.driver.num_envs() as u64);
        self.count_step()?;
        Ok(frames)
    }

    /// Counts rewards, ends and places if the driver has finished a step.
    fn count_step(&mut self) -> Result<(), SwarmError> {
        if self.driver.frames_done() != 0 {
            return Ok(());
        }
        if let Some(StepOutcome { rewards, over }) = self.driver.outcome()? {
            // A finished episode is reported as over until the first step of the next one.
            self.statistics.count(&rewards, &over, |env| over[env]);
        }
        // A device's memory is read only after a wait.
        if self.driver.device() == Device::Cpu { self.count_places() } else { Ok(()) }
    }

    fn count_places(&mut self) -> Result<(), SwarmError> {
        self.heatmap.as_mut().map_or(Ok(()), |map| map.count_places(self.driver.swarm()))
    }

    /// Sets the speed. The next piece comes sooner at a higher speed, but never at once, so that
    /// frequent requests don't make the swarm faster.
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
        self.meter = Meter::default();
    }

    /// Pauses, and draws the present state.
    fn pause(&mut self) -> Result<(), SwarmError> {
        if !self.is_drawn {
            self.finish_step(true)?;
        }
        self.stop()
    }

    fn let_go(&mut self, holds: &mut Option<Pad>) -> Result<(), SwarmError> {
        holds.take().map_or(Ok(()), |pad| self.driver.hold(pad, None))
    }
}

impl ViewSource for Runner {
    fn swarm(&self) -> &Swarm {
        self.driver.swarm()
    }

    fn version(&self) -> u64 {
        self.pieces
    }

    fn is_drawn(&self) -> bool {
        self.is_drawn
    }

    /// Waits for work that was queued on a device, and measures how long a piece took.
    fn settle(&mut self) -> Result<(), SwarmError> {
        if self.ahead.is_waiting() {
            let begin = Instant::now();
            self.driver.sync()?;
            self.ahead.settle(begin.elapsed());
            if self.driver.device() != Device::Cpu {
                self.count_places()?;
            }
        }
        Ok(())
    }

    fn handle(&mut self, holds: &mut Option<Pad>, request: Request) -> Result<(), SwarmError> {
        match request {
            Request::Run => self.set_running(true),
            Request::Pause => self.pause()?,
            Request::Step => {
                self.finish_step(true)?;
                self.stop()?;
            }
            Request::Speed { times } => self.set_speed(times),
            Request::Reset => self.reset()?,
            Request::Hold { pad, buttons } => {
                let before = holds.replace(pad);
                if let Some(before) = before.filter(|before| *before != pad) {
                    self.driver.hold(before, None)?;
                }
                self.driver.hold(pad, Some(buttons))?;
            }
            Request::LetGo => self.let_go(holds)?,
            Request::Poke { env, place, byte } => {
                if let Some(record) = &mut self.record {
                    record.end(env);
                }
                self.driver.poke(env, place, byte)?;
            }
            Request::Look(_) | Request::Save { .. } | Request::Search(_) => {}
        }
        Ok(())
    }

    fn status(&self) -> Status {
        Status {
            step: self.driver.steps_done(),
            frame: self.driver.frames_done(),
            running: self.running,
            speed: self.speed,
            frames_per_s: if self.running { self.meter.rate() } else { 0.0 },
        }
    }

    fn details(&self, env: usize) -> Result<EnvDetails, SwarmError> {
        self.driver.details(env)
    }

    fn over(&self, envs: Range<usize>) -> Result<Vec<usize>, SwarmError> {
        self.driver.over(envs)
    }

    fn curve(&self) -> Curve {
        self.curve
    }

    fn sound(&self) -> Option<&SoundQueue> {
        Some(&self.sound)
    }

    fn summary(&self) -> Option<Summary> {
        self.statistics.summary()
    }

    fn heatmap(&self) -> Option<&Heatmap> {
        self.heatmap.as_ref()
    }
}

/// Returns the number of frames that are run at once at a speed.
fn piece_frames(speed: f64) -> u32 {
    // At the greatest speed, a thousand times a real machine's, a piece has about a thousand
    // frames.
    (REAL_FRAMES_PER_S * speed / MAX_PIECES_PER_S).ceil().max(1.0) as u32
}

/// Returns the time that frames take at a speed. `request::check_speed` makes sure that the speed
/// is not too small to divide by.
fn time_of(frames: u32, speed: f64) -> Duration {
    Duration::from_secs_f64(f64::from(frames) / (REAL_FRAMES_PER_S * speed))
}
