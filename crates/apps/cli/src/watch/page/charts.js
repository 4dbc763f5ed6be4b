// Results of all machines: statistics of their episodes, and a map of where they were.

const MAX_POINTS = 240;
const UNIT = 4;

const byId = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const shown = (value) => (value === null ? '–' : number.format(value));

export class Charts {
  constructor(choose) {
    this.means = [];
    this.count = 0;
    this.leader = null;
    byId('leader').onclick = () => choose(this.leader);
    byId('map').onclick = () => byId('map').classList.toggle('large');
  }

  greet(hello) {
    this.means = [];
    this.count = 0;
    this.hasMap = hello.map;
    byId('map').hidden = !hello.map;
    byId('charts').hidden = true;
  }

  draw({ episodes, map, heat }) {
    byId('charts').hidden = !episodes && !map;
    byId('episodes').hidden = !episodes;
    if (episodes) this.drawEpisodes(episodes);
    if (map) drawMap(map, heat);
  }

  drawEpisodes(episodes) {
    byId('episode-count').textContent = number.format(episodes.count);
    byId('mean-return').textContent = shown(episodes.mean_return);
    byId('mean-steps').textContent = shown(episodes.mean_steps);
    byId('best-return').textContent = shown(episodes.best_return);
    this.leader = episodes.leader;
    byId('leader').textContent = `${episodes.leader} (${shown(episodes.leader_return)})`;
    if (episodes.count === this.count || episodes.mean_return === null) return;
    this.count = episodes.count;
    this.means.push(episodes.mean_return);
    // All of it stays in sight: half of the points are left out.
    if (this.means.length > MAX_POINTS) this.means = this.means.filter((_, index) => index % 2 === 0);
    drawLine(byId('curve'), this.means);
  }
}

/** The context of a canvas that has as many pixels as it takes on the screen. */
function contextOf(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((size) => Math.round(size * ratio));
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  return [canvas.getContext('2d'), ratio];
}

function drawLine(canvas, values) {
  const [context, ratio] = contextOf(canvas);
  const { width, height } = canvas;
  const [low, high] = [Math.min(0, ...values), Math.max(1e-9, ...values)];
  context.clearRect(0, 0, width, height);
  context.strokeStyle = getComputedStyle(canvas).color;
  context.lineWidth = 1.5 * ratio;
  context.beginPath();
  values.forEach((value, index) => {
    const x = (index / Math.max(1, values.length - 1)) * width;
    context.lineTo(x, height - ratio - ((value - low) / (high - low)) * (height - 2 * ratio));
  });
  context.stroke();
}

function drawMap({ left, top, columns, rows, cell, most, place }, heat) {
  const canvas = byId('heat');
  canvas.width = Math.max(1, columns) * UNIT;
  canvas.height = Math.max(1, rows) * UNIT;
  const context = canvas.getContext('2d');
  context.fillStyle = getComputedStyle(canvas).color;
  heat.forEach((visits, at) => {
    if (visits === 0) return;
    context.globalAlpha = 0.15 + (0.85 * visits) / 255;
    context.fillRect((at % columns) * UNIT, Math.floor(at / columns) * UNIT, UNIT, UNIT);
  });
  context.globalAlpha = 1;
  if (place) {
    context.strokeStyle = getComputedStyle(byId('map')).color;
    context.strokeRect((place[0] - left) * UNIT - 0.5, (place[1] - top) * UNIT - 0.5, UNIT + 1, UNIT + 1);
  }
  const from = (first, count) => `${first * cell}–${(first + count) * cell - 1}`;
  byId('map-size').textContent = `${from(left, columns)} × ${from(top, rows)}, ${number.format(most)} at most`;
}
