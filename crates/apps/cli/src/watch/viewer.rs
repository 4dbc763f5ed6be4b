//! Serves one browser: passes its requests to the session, and the session's views back.
//!
//! While the browser waits for a view, this thread waits for the session and polls the socket.
//! Otherwise it waits for the browser and pings it from time to time. A browser that receives a
//! view slowly blocks only this thread, for a limited time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TrySendError, channel, sync_channel,
};
use std::time::{Duration, Instant};

use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Bytes, Error, Message, WebSocket};

use crate::watch::connection::Connection;
use crate::watch::deadline_stream::{DeadlineStream, is_timeout};
use crate::watch::request::{self, Request, Rights};
use crate::watch::server_message;
use crate::watch::swarm_channel::{SwarmSender, View, ViewerLink, ViewerRequest};

/// Greatest size of a request in bytes; real ones have about a hundred.
const MAX_REQUEST_BYTES: usize = 4096;

/// Greatest number of a browser's requests that wait for the swarm. A browser that sends more is
/// disconnected: otherwise the socket could hold a hundred thousand requests, on which the swarm
/// would work for a minute after the browser's end.
const MAX_REQUESTS_WAITING: usize = 1024;

/// Size of the frames in which views are sent, which limits the socket's buffer to a copy of one
/// frame instead of the whole view.
const SOCKET_FRAME_BYTES: usize = 64 << 10;

/// Time between two reads of the socket while the browser waits for a view.
const POLL_EVERY: Duration = Duration::from_millis(3);

/// Time after which a silent browser is pinged, and greatest time that it may stay silent. Browsers
/// answer pings without a script.
const PING_EVERY: Duration = Duration::from_secs(15);
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// Time limit of a browser for one message.
const TIMEOUT: Duration = Duration::from_secs(10);

/// First message to every viewer, and the rights of viewers.
pub(crate) struct FirstMessage {
    /// Text of the message.
    pub(crate) hello: String,
    pub(crate) rights: Rights,
}

/// Serves a browser until one side ends the connection.
pub(crate) fn serve(
    connection: &Connection,
    read_ahead: Vec<u8>,
    to_swarm: &SwarmSender,
    FirstMessage { hello, rights }: &FirstMessage,
) {
    connection.become_viewer();
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_REQUEST_BYTES))
        .max_frame_size(Some(MAX_REQUEST_BYTES));
    let stream = DeadlineStream::new(Arc::clone(&connection.stream), TIMEOUT);
    let socket = WebSocket::from_partially_read(stream, read_ahead, Role::Server, Some(config));
    let (requests, asked) = sync_channel(MAX_REQUESTS_WAITING);
    // The channel holds at most one view.
    let (sender, views) = channel();
    let is_served = Arc::new(AtomicBool::new(false));
    let link = ViewerLink { requests: asked, views: sender, is_served: Arc::clone(&is_served) };
    if !to_swarm.join(link) {
        return;
    }
    let mut browser = Browser {
        socket,
        views,
        requests,
        is_served,
        to_swarm,
        connection,
        rights: *rights,
        asked: 0,
        answered: 0,
        last_active: Instant::now(),
    };
    // Whichever side ends the connection, it is the ordinary end of this thread.
    let _ = browser.run(hello);
    // The session notices that the browser has left.
    drop(browser);
    to_swarm.wake();
}

struct Browser<'a> {
    socket: WebSocket<DeadlineStream>,
    views: Receiver<View>,
    requests: SyncSender<ViewerRequest>,
    is_served: Arc<AtomicBool>,
    to_swarm: &'a SwarmSender,
    connection: &'a Connection,
    rights: Rights,
    /// Number of looks that were passed on to the session. The session always answers the last
    /// look, and skips earlier looks if it is late.
    asked: u64,
    answered: u64,
    last_active: Instant,
}

impl Browser<'_> {
    fn run(&mut self, hello: &str) -> Result<(), Error> {
        self.send(Message::text(hello))?;
        loop {
            let is_owed = self.answered < self.asked;
            if is_owed {
                match self.views.recv_timeout(POLL_EVERY) {
                    Ok(view) => {
                        self.show(view)?;
                        continue;
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Err(Error::ConnectionClosed),
                }
            }
            self.listen(is_owed)?;
        }
    }

    fn show(&mut self, view: View) -> Result<(), Error> {
        self.answered = view.look;
        self.send_view(view.bytes.into())?;
        self.connection.record_activity();
        self.last_active = Instant::now();
        self.is_served.store(false, Ordering::SeqCst);
        self.to_swarm.wake();
        Ok(())
    }

    fn send_view(&mut self, mut rest: Bytes) -> Result<(), Error> {
        self.socket.get_mut().extend(TIMEOUT);
        let mut kind = Data::Binary;
        loop {
            let piece = rest.split_to(rest.len().min(SOCKET_FRAME_BYTES));
            let is_last = rest.is_empty();
            let frame = Frame::message(piece, OpCode::Data(kind), is_last);
            self.socket.send(Message::Frame(frame))?;
            if is_last {
                return Ok(());
            }
            kind = Data::Continue;
        }
    }

    fn send(&mut self, message: Message) -> Result<(), Error> {
        self.socket.get_mut().extend(TIMEOUT);
        self.socket.send(message)
    }

    /// Receives a message; waits for one only if no view is owed to the browser.
    fn listen(&mut self, is_owed: bool) -> Result<(), Error> {
        self.socket.get_mut().extend(PING_EVERY);
        self.socket.get_ref().set_nonblocking(is_owed)?;
        let message = self.socket.read();
        self.socket.get_ref().set_nonblocking(false)?;
        match message {
            Ok(message) => {
                self.connection.record_activity();
                self.last_active = Instant::now();
                self.receive(&message)
            }
            Err(Error::Io(error)) if is_timeout(&error) && is_owed => Ok(()),
            Err(Error::Io(error))
                if is_timeout(&error) && self.last_active.elapsed() < MAX_SILENCE =>
            {
                self.send(Message::Ping(Bytes::new()))
            }
            Err(error) => Err(error),
        }
    }

    fn receive(&mut self, message: &Message) -> Result<(), Error> {
        let request = match message {
            Message::Text(text) => request::parse(text),
            Message::Binary(_) => Err("requests are texts".to_owned()),
            _ => return Ok(()),
        };
        match request {
            Ok(request) if !request.is_allowed(self.rights) => {
                let refused = match self.rights {
                    Rights::Look => {
                        "a program steps this swarm: its viewers look, and save states; \
                         env.watch(take_over=True) lets them drive machines"
                    }
                    _ => "a program steps this swarm: its viewers neither run nor reset it",
                };
                self.send(Message::text(server_message::refusal(refused)))
            }
            Ok(request) => {
                let is_look = matches!(request, Request::Look(_));
                self.asked += u64::from(is_look);
                let asked = ViewerRequest { request, looks: self.asked };
                if let Err(TrySendError::Full(_)) = self.requests.try_send(asked) {
                    let refused = format!(
                        "{MAX_REQUESTS_WAITING} requests wait for the swarm, which is the most: \
                         connect again, and wait for a view now and then"
                    );
                    self.send(Message::text(server_message::refusal(&refused)))?;
                    return Err(Error::ConnectionClosed);
                }
                self.to_swarm.wake();
                Ok(())
            }
            Err(refused) => self.send(Message::text(server_message::refusal(&refused))),
        }
    }
}
