//! One browser: its requests go to the session, the session's views go back to it.
//!
//! While the browser is owed a view this thread waits for the session and looks at the socket in between; else it waits for
//! the browser. A view that the browser takes slowly blocks this thread and nobody else.

use std::io;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel};
use std::time::Duration;

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use crate::watch::protocol::{self, Request};
use crate::watch::session::{Command, View};

/// Requests have some hundred bytes.
const MOST_REQUEST_BYTES: usize = 4096;

/// How often the socket is looked at while a view is owed.
const GLANCE: Duration = Duration::from_millis(3);

/// Serve a browser until one side goes away.
pub(crate) fn serve(
    stream: TcpStream,
    read_ahead: Vec<u8>,
    id: u64,
    commands: &SyncSender<Command>,
    hello: &str,
) -> io::Result<()> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MOST_REQUEST_BYTES))
        .max_frame_size(Some(MOST_REQUEST_BYTES));
    stream.set_read_timeout(None)?;
    let socket = WebSocket::from_partially_read(stream, read_ahead, Role::Server, Some(config));
    // Holds no more than the looks that the socket was read for in the time of a glance or two.
    let (sender, views) = channel();
    if commands.send(Command::Join { viewer: id, views: sender }).is_err() {
        return Ok(());
    }
    let mut viewer = Viewer { socket, views, id, commands, asked: 0, answered: 0 };
    // The connection's end is the ordinary end of this thread, whichever side made it.
    let _ = viewer.talk(hello);
    let _ = commands.send(Command::Leave { viewer: id });
    Ok(())
}

struct Viewer<'a> {
    socket: WebSocket<TcpStream>,
    views: Receiver<View>,
    id: u64,
    commands: &'a SyncSender<Command>,
    /// Looks passed on. The session answers the last of them for certain, and an earlier one only if it was quick.
    asked: u64,
    answered: u64,
}

impl Viewer<'_> {
    fn talk(&mut self, hello: &str) -> Result<(), Error> {
        self.socket.send(Message::text(hello))?;
        loop {
            let is_owed = self.answered < self.asked;
            if is_owed {
                match self.views.recv_timeout(GLANCE) {
                    Ok(view) => {
                        self.answered = view.look;
                        self.socket.send(Message::binary(view.bytes))?;
                        continue;
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Err(Error::ConnectionClosed),
                }
            }
            self.socket.get_ref().set_nonblocking(is_owed)?;
            let message = self.socket.read();
            self.socket.get_ref().set_nonblocking(false)?;
            match message {
                Ok(message) => self.take(&message)?,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, message: &Message) -> Result<(), Error> {
        let request = match message {
            Message::Text(text) => protocol::parse(text),
            Message::Binary(_) => Err("requests are texts".to_owned()),
            _ => return Ok(()),
        };
        match request {
            Ok(request) => {
                let is_look = matches!(request, Request::Look(_));
                self.asked += u64::from(is_look);
                let command = Command::Ask { viewer: self.id, request, looks: self.asked };
                self.commands.send(command).map_err(|_| Error::ConnectionClosed)
            }
            Err(refused) => self.socket.send(Message::text(protocol::refusal(&refused))),
        }
    }
}
