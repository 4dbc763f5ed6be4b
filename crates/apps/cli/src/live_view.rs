//! Live view of a swarm that other code, such as a learner in Python, steps.
//!
//! Data flow: step -> `stepped` -> viewers. Only data that a viewer sees are copied, and only
//! between two steps. Viewers take at most a twentieth of the time: after a view that took one
//! millisecond, the next view waits twenty. Viewers change nothing, unless the learner lets them
//! drive machines: while a viewer drives one, the swarm runs at the speed of a real machine.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use gbxcule_runtime::Device;
use gbxcule_swarm::{Swarm, SwarmError};

use crate::env_details::{EnvDetails, StepDetails};
use crate::film::REAL_FRAMES_PER_S;
use crate::pad::Pad;
use crate::picture::Curve;
use crate::watch::game_level;
use crate::watch::game_record::{GameRecord, Kept};
use crate::watch::heatmap::Heatmap;
use crate::watch::memory_search;
use crate::watch::meter::Meter;
use crate::watch::request::{Request, Rights};
use crate::watch::server::{RunningServer, Server};
use crate::watch::server_message::{Mode, Status, SwarmDescription};
use crate::watch::sound_queue::SoundQueue;
use crate::watch::statistics::{Statistics, Summary};
use crate::watch::swarm_channel::SwarmReceiver;
use crate::watch::viewer::FirstMessage;
use crate::watch::viewers::{ViewSource, Viewers};

pub use crate::watch::heatmap::{Coordinate, Coordinates};

/// Factor of the pause after a view over the time that the view took.
const PAUSE_TIMES: u32 = 20;

/// Settings of the live view: its address and contents.
#[derive(Debug, Clone)]
pub struct LiveViewOptions {
    /// Name of the ROM, for the page.
    pub rom: String,
    /// Address to listen on. Other computers can connect only if it is not 127.0.0.1, and then need
    /// the token.
    pub host: IpAddr,
    /// Port; 0 takes a free one.
    pub port: u16,
    /// Coordinates for the map of the machines' positions.
    pub heatmap: Option<Coordinates>,
    /// True if viewers may drive machines and change their memory.
    pub take_over: bool,
    /// Labels of the ROM, as the text of a `.sym` file, for the search of memory.
    pub symbols: String,
    /// File that keeps the games in which a viewer takes the controls.
    pub record: Option<RecordOptions>,
}

/// The file of recorded games, and which games they are.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// The file; games that it has are kept.
    pub path: PathBuf,
    /// Variant of the game.
    pub variant: Option<String>,
    /// Difficulty of the game.
    pub difficulty: Option<String>,
}

impl RecordOptions {
    fn open(&self, rom: &str, swarm: &Swarm) -> anyhow::Result<GameRecord> {
        let header = game_level::header(rom, self.variant.clone(), self.difficulty.clone())?;
        let opened = GameRecord::open(&self.path, &header, None, Kept::Driven, swarm.config());
        opened.with_context(|| self.path.display().to_string())
    }
}

impl Default for LiveViewOptions {
    fn default() -> Self {
        Self {
            rom: String::new(),
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            heatmap: None,
            take_over: false,
            symbols: String::new(),
            record: None,
        }
    }
}

/// A finished step, as the learner sees it.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    /// An action for each env.
    pub actions: &'a [u8],
    /// A reward for each env.
    pub rewards: &'a [f32],
    /// Envs whose episodes ended.
    pub over: &'a [bool],
    /// Envs that were reset in this step, so that the step's reward belongs to no episode.
    pub between: &'a [bool],
}

/// Page of a swarm, served until this value is dropped.
pub struct LiveView {
    url: String,
    /// The serving process; forks of it leave the connections alone.
    process: u32,
    /// Server; `None` after the page was closed.
    server: Option<RunningServer>,
    from_viewers: SwarmReceiver,
    viewers: Viewers,
    shown: Shown,
    /// Time before which no viewer is served.
    served_next: Instant,
}

/// State of the view besides the swarm.
struct Shown {
    actions: Vec<u8>,
    rewards: Vec<f32>,
    over: Vec<bool>,
    /// Buttons that viewers hold; `None` for an env that no viewer drives.
    held: Vec<Option<u8>>,
    /// Time of the last step.
    stepped: Instant,
    steps: u64,
    /// Number of steps and resets.
    changes: u64,
    is_drawn: bool,
    meter: Meter,
    statistics: Statistics,
    heatmap: Option<Heatmap>,
    record: Option<GameRecord>,
}

impl LiveView {
    /// Serves the view of a swarm.
    ///
    /// # Errors
    /// The port is taken, or the system gives none.
    pub fn serve(swarm: &Swarm, options: &LiveViewOptions) -> anyhow::Result<Self> {
        let config = swarm.config();
        let hello = SwarmDescription {
            mode: Mode::Train,
            rom: &options.rom,
            num_envs: config.num_envs,
            device: swarm.device(),
            schedule: config.schedule,
            codec: &config.codec,
            actions: "a learner".to_owned(),
            seed: swarm.seed(),
            sound: false,
            has_map: options.heatmap.is_some(),
            hands: options.take_over,
            labels: &memory_search::labels(&options.symbols, swarm.rom()),
        };
        let record = options.record.as_ref().map(|record| record.open(&options.rom, swarm));
        let record = record.transpose()?;
        let server = Server::bind(options.host, options.port)?;
        let url = server.url();
        let rights = if options.take_over { Rights::Control } else { Rights::Look };
        let welcome = FirstMessage { hello: hello.text(), rights };
        let (from_viewers, server) = server.start(welcome).context("starting a thread")?;
        let shown = Shown {
            actions: vec![0; config.num_envs],
            rewards: vec![0.0; config.num_envs],
            over: vec![false; config.num_envs],
            held: vec![None; config.num_envs],
            stepped: Instant::now(),
            steps: 0,
            changes: 0,
            is_drawn: config.draw_last,
            meter: Meter::default(),
            statistics: Statistics::default(),
            heatmap: options.heatmap.as_ref().map(Heatmap::new),
            record,
        };
        Ok(Self {
            url,
            process: std::process::id(),
            server: Some(server),
            from_viewers,
            viewers: Viewers::default(),
            shown,
            served_next: Instant::now(),
        })
    }

    /// Returns the address to open in a browser.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns true if the next step should draw its last frame, because a viewer waits for it.
    pub fn wants_picture(&self) -> bool {
        Instant::now() >= self.served_next && self.viewers.awaits_next(self.shown.changes)
    }

    /// Returns the envs that viewers drive.
    pub fn held(&self) -> Vec<usize> {
        let held = self.shown.held.iter().enumerate();
        held.filter(|(_, buttons)| buttons.is_some()).map(|(env, _)| env).collect()
    }

    /// Gives all envs back to the actions, and ends the page.
    ///
    /// # Errors
    /// The device failed.
    pub fn close(self, swarm: &mut Swarm) -> Result<(), SwarmError> {
        self.held().into_iter().try_for_each(|env| swarm.hold_buttons(env, None))
    }

    /// Shows a step that the swarm has made, with its last frame if that was drawn. While a viewer
    /// drives an env, steps take as long as those of a real machine.
    ///
    /// # Errors
    /// The device failed.
    pub fn stepped(
        &mut self,
        swarm: &mut Swarm,
        outcome: Outcome<'_>,
        is_drawn: bool,
    ) -> Result<(), SwarmError> {
        let shown = &mut self.shown;
        if let Some(record) = &mut shown.record {
            record.record_step(swarm, &outcome, &shown.held)?;
        }
        let Outcome { actions, rewards, over, between } = outcome;
        shown.actions.copy_from_slice(actions);
        shown.rewards.copy_from_slice(rewards);
        shown.over.copy_from_slice(over);
        shown.statistics.count(rewards, over, |env| between[env]);
        shown.is_drawn = is_drawn || swarm.config().draw_last;
        shown.steps += 1;
        shown.changes += 1;
        let frames = u64::from(swarm.config().schedule.frames_per_step());
        shown.meter.count(frames * actions.len() as u64);
        // A device's memory is read only for viewers.
        if swarm.device() == Device::Cpu {
            shown.count_places(swarm)?;
        }
        if shown.held.iter().any(Option::is_some) {
            let step = f64::from(swarm.config().schedule.frames_per_step()) / REAL_FRAMES_PER_S;
            std::thread::sleep(
                Duration::from_secs_f64(step).saturating_sub(shown.stepped.elapsed()),
            );
            // While a viewer drives, viewers are served after every step.
            self.served_next = Instant::now();
        }
        self.shown.stepped = Instant::now();
        self.serve_viewers(swarm)
    }

    /// Records that new episodes have begun in some envs.
    ///
    /// # Errors
    /// The device failed.
    pub fn began(&mut self, swarm: &mut Swarm, mask: &[bool]) -> Result<(), SwarmError> {
        let shown = &mut self.shown;
        shown.statistics.begin(|env| mask[env]);
        shown.over.iter_mut().zip(mask).for_each(|(over, begins)| *over &= !begins);
        shown.is_drawn = swarm.config().draw_last;
        shown.changes += 1;
        self.serve_viewers(swarm)
    }

    /// Begins a recorded game in each marked env, in the env's level.
    pub fn begin_games(&mut self, mask: &[bool], levels: &[u32]) {
        let Some(record) = &mut self.shown.record else { return };
        for env in (0..mask.len()).filter(|&env| mask[env]) {
            record.begin_one(env, Some(levels[env]));
        }
    }

    /// Ends the recorded games of the marked envs, whose states were changed: a replay would not
    /// repeat that.
    pub fn end_games(&mut self, mask: &[bool]) {
        let Some(record) = &mut self.shown.record else { return };
        (0..mask.len()).filter(|&env| mask[env]).for_each(|env| record.end(env));
    }

    fn serve_viewers(&mut self, swarm: &mut Swarm) -> Result<(), SwarmError> {
        let begin = Instant::now();
        if begin < self.served_next {
            return Ok(());
        }
        // The server ends with this view, so new viewers may come at any time.
        self.viewers.admit(&self.from_viewers, Some(Duration::ZERO));
        if self.viewers.is_empty() {
            return Ok(());
        }
        if swarm.device() != Device::Cpu {
            self.shown.count_places(swarm)?;
        }
        let mut seen = LearnerView { swarm, shown: &mut self.shown };
        self.viewers.take_turns(&mut seen)?;
        self.viewers.answer(&mut seen)?;
        self.served_next = Instant::now() + begin.elapsed() * PAUSE_TIMES;
        Ok(())
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        if self.process == std::process::id()
            && let Some(record) = &mut self.shown.record
        {
            record.write();
        }
        match self.server.take() {
            Some(server) if self.process == std::process::id() => server.close(),
            // The server's thread stayed in the parent process. Dropping its handle would detach
            // the thread with the same number in this process.
            server => std::mem::forget(server),
        }
    }
}

impl Shown {
    fn count_places(&mut self, swarm: &Swarm) -> Result<(), SwarmError> {
        self.heatmap.as_mut().map_or(Ok(()), |map| map.count_places(swarm))
    }
}

impl LearnerView<'_> {
    fn hold(&mut self, env: usize, buttons: Option<u8>) -> Result<(), SwarmError> {
        self.shown.held[env] = buttons;
        self.swarm.hold_buttons(env, buttons)
    }
}

/// Swarm between two steps.
struct LearnerView<'a> {
    swarm: &'a mut Swarm,
    shown: &'a mut Shown,
}

impl ViewSource for LearnerView<'_> {
    fn swarm(&self) -> &Swarm {
        self.swarm
    }

    fn version(&self) -> u64 {
        self.shown.changes
    }

    fn is_drawn(&self) -> bool {
        self.shown.is_drawn
    }

    fn settle(&mut self) -> Result<(), SwarmError> {
        Ok(())
    }

    fn handle(&mut self, holds: &mut Option<Pad>, request: Request) -> Result<(), SwarmError> {
        let hold = match request {
            Request::Hold { pad, buttons } if pad.env < self.shown.held.len() => {
                Some((pad, buttons))
            }
            Request::LetGo => None,
            Request::Poke { env, place, byte } => {
                if let Some(record) = &mut self.shown.record {
                    record.end(env);
                }
                return memory_search::poke(self.swarm, env, place, byte);
            }
            _ => return Ok(()),
        };
        if let Some(before) =
            holds.take().filter(|before| hold.is_none_or(|(pad, _)| pad.env != before.env))
        {
            self.hold(before.env, None)?;
        }
        let Some((pad, buttons)) = hold else { return Ok(()) };
        *holds = Some(pad);
        self.hold(pad.env, Some(buttons))
    }

    fn status(&self) -> Status {
        let rate = self.shown.meter.rate();
        Status { step: self.shown.steps, frame: 0, running: true, speed: 0.0, frames_per_s: rate }
    }

    fn details(&self, env: usize) -> Result<EnvDetails, SwarmError> {
        let Self { swarm, shown } = self;
        let config = swarm.config();
        let action = config.codec.actions.get(usize::from(shown.actions[env]));
        let frames = config.schedule.frames_per_step();
        let pressed = action.filter(|action| action.frames_held(config.schedule) >= frames);
        let held = shown.held[env];
        let step = StepDetails {
            reward: Some(shown.rewards[env]),
            episode_return: Some(shown.statistics.return_of(env)),
            is_done: Some(shown.over[env]),
            action: action
                .filter(|_| shown.steps > 0 && held.is_none())
                .map(|action| action.name.to_string()),
            buttons: held.unwrap_or_else(|| pressed.map_or(0, |action| action.buttons)),
            held: held.is_some(),
        };
        EnvDetails::of(swarm, env, step)
    }

    fn over(&self, envs: Range<usize>) -> Result<Vec<usize>, SwarmError> {
        Ok(envs.filter(|env| self.shown.over[*env]).collect())
    }

    fn curve(&self) -> Curve {
        Curve::default()
    }

    fn sound(&self) -> Option<&SoundQueue> {
        None
    }

    fn summary(&self) -> Option<Summary> {
        self.shown.statistics.summary()
    }

    fn heatmap(&self) -> Option<&Heatmap> {
        self.shown.heatmap.as_ref()
    }
}
