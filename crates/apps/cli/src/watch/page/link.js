// The WebSocket: requests out, views in, and a new connection when the old one is lost.
// Messages are described in server_message.rs. Where the page needs a token, its own address has it.

const AGAIN_MS = 1000;

/** Calls `hello`, `view`, `lost`; returns a function that sends a request. */
export function connect({ hello, view, lost }) {
  let socket;
  const open = () => {
    socket = new WebSocket(`ws://${location.host}/socket${location.search}`);
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }) => {
      if (typeof data !== 'string') return view(parseView(data));
      const message = JSON.parse(data);
      if (message.type === 'hello') hello(message);
      else console.warn(message.message);
    };
    socket.onclose = () => {
      lost();
      setTimeout(open, AGAIN_MS);
    };
  };
  open();
  return (request) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(request));
  };
}

function parseView(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  // Two bits a pixel; machines of the Color have sixteen.
  const screenBytes = head.colors ? 46080 : 5760;
  const tileBytes = screenBytes / (head.shrink * head.shrink);
  const start = 4 + length;
  const tiles = new Uint8Array(buffer, start, head.count * tileBytes);
  const screen = head.chosen ? new Uint8Array(buffer, start + tiles.length, screenBytes) : null;
  const heatStart = start + tiles.length + (screen?.length ?? 0);
  const heat = head.map ? new Uint8Array(buffer, heatStart, head.map.columns * head.map.rows) : null;
  const state = head.state_bytes ? new Uint8Array(buffer, buffer.byteLength - head.state_bytes) : null;
  const end = buffer.byteLength - head.state_bytes;
  const samples = new Int16Array(buffer.slice(end - head.sound * 4, end));
  return { ...head, tileBytes, tiles, screen, heat, samples, state };
}
