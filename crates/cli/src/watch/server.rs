//! One port for the page and the view: each connection gets a thread, which answers one request or becomes a viewer.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use tungstenite::handshake::derive_accept_key;

use crate::watch::http::{Head, answer};
use crate::watch::session::Command;
use crate::watch::{page, viewer};

/// Requests that may wait for the swarm; a browser that sends more waits itself.
const COMMANDS_WAITING: usize = 256;

/// A browser that says nothing, or takes nothing, for this long is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// A port that listens.
pub(crate) struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    pub(crate) fn bind(host: IpAddr, port: u16) -> anyhow::Result<Self> {
        let listener = match TcpListener::bind((host, port)) {
            Ok(listener) => listener,
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                bail!("port {port} of {host} is taken; --port 0 takes a free one")
            }
            Err(error) => {
                return Err(error).with_context(|| format!("listening on {host}, port {port}"));
            }
        };
        let address = listener.local_addr().context("asking for the port")?;
        Ok(Self { listener, address })
    }

    /// What to type into a browser.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Accept browsers from now on; what they ask for comes out of the channel.
    pub(crate) fn start(self, hello: String) -> io::Result<Receiver<Command>> {
        let (sender, receiver) = sync_channel(COMMANDS_WAITING);
        let hello: Arc<str> = hello.into();
        thread::Builder::new().name("accept".to_owned()).spawn(move || {
            let viewers = Arc::new(AtomicU64::new(0));
            for stream in self.listener.incoming() {
                // A connection that fails is the browser's to open again.
                let Ok(stream) = stream else { continue };
                let (sender, hello) = (sender.clone(), Arc::clone(&hello));
                let viewers = Arc::clone(&viewers);
                let thread = thread::Builder::new().name("viewer".to_owned());
                // Without a thread the connection closes; the next one may have more luck.
                let _ = thread.spawn(move || {
                    let _ = serve(stream, &sender, &hello, &viewers);
                });
            }
        })?;
        Ok(receiver)
    }
}

fn serve(
    mut stream: TcpStream,
    commands: &SyncSender<Command>,
    hello: &str,
    viewers: &AtomicU64,
) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let head = Head::read(&mut stream)?;
    if !head.is_ours() {
        let body = b"this page is opened by address, or as localhost";
        return answer(&mut stream, "403 Forbidden", "text/plain", body);
    }
    if head.method != "GET" {
        return answer(&mut stream, "405 Method Not Allowed", "text/plain", b"only GET");
    }
    if head.path == "/socket" {
        let Some(key) = head.websocket_key() else {
            let body = b"a WebSocket is expected here";
            return answer(&mut stream, "426 Upgrade Required", "text/plain", body);
        };
        let accepted = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {}\r\n\r\n",
            derive_accept_key(key.as_bytes()),
        );
        stream.write_all(accepted.as_bytes())?;
        let id = viewers.fetch_add(1, Ordering::Relaxed);
        return viewer::serve(stream, head.rest, id, commands, hello);
    }
    match page::file(&head.path) {
        Some((content_type, text)) => answer(&mut stream, "200 OK", content_type, text.as_bytes()),
        None => answer(&mut stream, "404 Not Found", "text/plain", b"there is only /"),
    }
}
