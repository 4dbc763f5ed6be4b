//! Serves the page and the view on one port. Each connection gets a thread, which answers one
//! request or serves a viewer.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, bail};
use tungstenite::handshake::derive_accept_key;

use crate::watch::connection::{Connection, Connections};
use crate::watch::deadline_stream::DeadlineStream;
use crate::watch::http::{Head, answer};
use crate::watch::page;
use crate::watch::swarm_channel::{SwarmReceiver, SwarmSender, swarm_channel};
use crate::watch::viewer::{self, FirstMessage};

/// Time limit of a request, and of its answer, from the first byte to the last.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Greatest number of threads for connections: one for each open connection, and as many for
/// connections that are about to end.
const MAX_THREADS: usize = 256;

/// Pause after the system refused a connection.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// A port that listens.
pub(crate) struct Server {
    listener: TcpListener,
    address: SocketAddr,
    /// Secret that a browser on another computer must send.
    token: Option<String>,
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
        let is_private = host.to_canonical().is_loopback();
        let token = (!is_private).then(new_token).transpose()?;
        Ok(Self { listener, address, token })
    }

    /// Returns the address to type into a browser.
    pub(crate) fn url(&self) -> String {
        let token = self.token.as_ref().map(|token| format!("?token={token}"));
        format!("http://{}/{}", self.address, token.unwrap_or_default())
    }

    /// Returns the address of the page of a second player.
    pub(crate) fn other_players_url(&self) -> String {
        let url = self.url();
        let separator = if self.token.is_some() { '&' } else { '?' };
        format!("{url}{separator}player=2")
    }

    /// Accepts browsers from now on; their requests come through the channel.
    pub(crate) fn start(self, welcome: FirstMessage) -> io::Result<(SwarmReceiver, RunningServer)> {
        let (to_swarm, from_viewers) = swarm_channel();
        let is_closed = Arc::<AtomicBool>::default();
        let shared = Arc::new(Shared { to_swarm, welcome, token: self.token });
        let (listener, closed) = (self.listener, Arc::clone(&is_closed));
        let thread = thread::Builder::new()
            .name("accept".to_owned())
            .spawn(move || accept(&listener, &shared, &closed))?;
        Ok((from_viewers, RunningServer { address: self.address, is_closed, thread }))
    }
}

/// Server that accepts browsers until it is closed, or the process ends.
pub(crate) struct RunningServer {
    address: SocketAddr,
    is_closed: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl RunningServer {
    /// Ends all connections and frees the port.
    pub(crate) fn close(self) {
        self.is_closed.store(true, Ordering::SeqCst);
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        // The connection wakes the accepting thread; if that fails, the thread is not waited for.
        if TcpStream::connect_timeout(&address, TIMEOUT).is_ok() {
            let _ = self.thread.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>, is_closed: &AtomicBool) {
    let connections = Arc::new(Connections::default());
    loop {
        let accepted = listener.accept();
        if is_closed.load(Ordering::SeqCst) {
            connections.end_all();
            return;
        }
        let stream = match accepted {
            Ok((stream, _)) => stream,
            // The browser has closed the connection.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            // The usual reason is a lack of file descriptors: retrying at once would keep a core
            // busy.
            Err(_) => {
                connections.end_one();
                thread::sleep(ACCEPT_RETRY);
                continue;
            }
        };
        if Arc::strong_count(shared) > MAX_THREADS {
            continue;
        }
        let (connection, shared) = (connections.admit(stream), Arc::clone(shared));
        let thread = thread::Builder::new().name("viewer".to_owned());
        // Without a thread the connection closes; the next attempt may succeed.
        let _ = thread.spawn(move || {
            // The browser may open a failed connection again.
            let _ = serve(&connection, &shared);
        });
    }
}

/// Creates a secret of 128 random bits.
fn new_token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).context("asking the system for random bytes")?;
    Ok(gbxcule_files::hex(&bytes))
}

/// State that all connections share.
struct Shared {
    to_swarm: SwarmSender,
    welcome: FirstMessage,
    token: Option<String>,
}

impl Shared {
    /// Returns the reason why a request is refused, if it is.
    fn refusal(&self, head: &Head) -> Option<&'static str> {
        // The scripts are public; the page that loads the scripts, and the swarm, are not.
        let is_public = !matches!(head.path.as_str(), "/" | "/socket");
        match &self.token {
            _ if !head.is_same_origin() => {
                Some("another site may not open this page: type its address")
            }
            Some(token) if !is_public && !head.has_token(token) => {
                Some("open the whole address that gbxcule printed, with its token")
            }
            None if !head.is_by_address() => {
                Some("open this page by its IP address, or as localhost")
            }
            _ => None,
        }
    }
}

fn serve(connection: &Connection, shared: &Shared) -> io::Result<()> {
    connection.stream.set_nodelay(true)?;
    let mut stream = DeadlineStream::new(Arc::clone(&connection.stream), TIMEOUT);
    let head = Head::read(&mut stream)?;
    stream.extend(TIMEOUT);
    if let Some(why) = shared.refusal(&head) {
        return answer(&mut stream, "403 Forbidden", "text/plain", why.as_bytes());
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
        viewer::serve(connection, head.rest, &shared.to_swarm, &shared.welcome);
        return Ok(());
    }
    match page::file(&head.path) {
        Some((content_type, text)) => answer(&mut stream, "200 OK", content_type, text.as_bytes()),
        None => answer(&mut stream, "404 Not Found", "text/plain", b"there is only /"),
    }
}
