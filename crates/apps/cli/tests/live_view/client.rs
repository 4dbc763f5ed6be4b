//! Browser without a page: a plain WebSocket client.

use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::serving::Serving;

pub(crate) struct Client {
    pub(crate) socket: WebSocket<TcpStream>,
    pub(crate) hello: Value,
}

pub(crate) struct View {
    pub(crate) head: Value,
    pub(crate) pictures: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(serving: &Serving) -> Self {
        let stream = TcpStream::connect(&serving.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        let url = format!("ws://{}/socket{}", serving.address, serving.query);
        let (socket, _) = tungstenite::client(url, stream).expect("a handshake");
        let mut client = Self { socket, hello: Value::Null };
        client.hello = client.text();
        client
    }

    pub(crate) fn send(&mut self, request: &Value) {
        self.send_text(&request.to_string());
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        self.socket.send(Message::text(text)).expect("it listens");
    }

    /// Returns the next message of the server, and answers its pings meanwhile.
    fn message(&mut self) -> Message {
        loop {
            let message = self.socket.read().expect("a message");
            if !matches!(message, Message::Ping(_) | Message::Pong(_)) {
                return message;
            }
        }
    }

    pub(crate) fn text(&mut self) -> Value {
        match self.message() {
            Message::Text(text) => serde_json::from_str(&text).expect("JSON"),
            other => panic!("a text was expected, not {} bytes", other.len()),
        }
    }

    pub(crate) fn view(&mut self) -> View {
        let Message::Binary(bytes) = self.message() else {
            panic!("a view was expected");
        };
        let (length, rest) = bytes.split_at(4);
        let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        let head = serde_json::from_slice(&rest[..length]).expect("JSON");
        View { head, pictures: rest[length..].to_vec() }
    }

    pub(crate) fn look(
        &mut self,
        first: usize,
        count: usize,
        shrink: usize,
        chosen: Option<usize>,
    ) -> View {
        let look = json!({ "type": "look", "first": first, "count": count, "shrink": shrink, "chosen": chosen });
        self.send(&look);
        self.view()
    }
}
