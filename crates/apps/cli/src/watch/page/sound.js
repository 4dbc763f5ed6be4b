// The machine's sound: samples come with the views and are played one piece after the other.

const RATE = 1048576 / 22;
// A piece that comes too late begins this much after the present, so that the next ones are in time.
const LEAD_S = 0.06;
// More than this ahead, pieces are left out: the machine runs faster than they can be heard.
const MAX_AHEAD_S = 0.3;

export class Sound {
  constructor() {
    this.context = null;
    this.next = 0;
  }

  /** Switches sound on or off. Browsers allow it in answer to a key or a click only. */
  set(on) {
    if (on) {
      this.context = new AudioContext();
      this.next = 0;
    } else if (this.context) {
      this.context.close();
      this.context = null;
    }
  }

  /** Left and right in turns, 16 bits each. */
  play(samples) {
    const count = samples.length >> 1;
    if (!this.context || count === 0) return;
    const now = this.context.currentTime;
    if (this.next < now) this.next = now + LEAD_S;
    if (this.next > now + MAX_AHEAD_S) return;
    const buffer = this.context.createBuffer(2, count, RATE);
    for (const side of [0, 1]) {
      const out = buffer.getChannelData(side);
      for (let at = 0; at < count; at++) out[at] = samples[2 * at + side] / 32768;
    }
    const source = this.context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.context.destination);
    source.start(this.next);
    this.next += count / RATE;
  }
}
