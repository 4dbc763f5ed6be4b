// All machines on one canvas: how large, which of them are in sight, and where a click went.
//
// Sizes are in device pixels. The canvas holds one pixel for each that the server sends, whose pictures are whole or
// shrunk to a half, a quarter or an eighth; the browser enlarges whole ones by whole numbers.

import { HEIGHT, WIDTH, unpack } from './screen.js';

/** The widths of a machine, in device pixels: those of the pictures that the server sends, half the smallest, and whole
 * multiples of the largest, so that all pixels of a machine have one size. */
const WIDTHS = [WIDTH / 16, WIDTH / 8, WIDTH / 4, WIDTH / 2, ...[1, 2, 3, 4, 5, 6].map((times) => WIDTH * times)];
/** Machines narrower than this are only shown if somebody asks for it; the swarm is scrolled instead. */
const NARROWEST_TO_FIT = WIDTH / 4;

/** Lies over a machine whose episode is over. */
const OVER = 'rgb(16 16 24 / 0.6)';

export class Mosaic {
  constructor({ swarm, sheet, canvas, ring, hover }) {
    Object.assign(this, { swarm, sheet, canvas, ring, hover });
    this.context = canvas.getContext('2d', { alpha: true });
    this.machines = 0;
    /** How wide a machine is shown; null fits all of them into the window. */
    this.wished = null;
    this.hovered = null;
    this.chosen = null;
  }

  set(machines) {
    this.machines = machines;
    this.layOut();
  }

  larger(by) {
    const next = WIDTHS.indexOf(this.grid.wide) + by;
    this.wished = WIDTHS[Math.min(Math.max(next, 0), WIDTHS.length - 1)];
    this.layOut();
  }

  fit() {
    this.wished = null;
    this.layOut();
  }

  layOut() {
    this.ratio = window.devicePixelRatio || 1;
    const style = getComputedStyle(this.swarm);
    const inner = (size, ...paddings) => (size - paddings.reduce((sum, name) => sum + parseFloat(style[name]), 0)) * this.ratio;
    const width = inner(this.swarm.clientWidth, 'paddingLeft', 'paddingRight');
    const height = inner(this.swarm.clientHeight, 'paddingTop', 'paddingBottom');
    const wide = this.wished ?? Math.max(fitting(this.machines, width, height, this.ratio), NARROWEST_TO_FIT);
    this.grid = makeGrid(widestWithin(Math.min(wide, width)), width, this.machines, this.ratio);
    this.sheet.style.width = `${this.grid.width / this.ratio}px`;
    this.sheet.style.height = `${(this.grid.rows * this.grid.rowHeight - this.grid.gap * this.grid.scale) / this.ratio}px`;
    this.canvas.style.imageRendering = this.grid.scale >= 1 ? 'pixelated' : 'auto';
    this.image = null;
    this.place(this.ring, this.chosen);
    this.place(this.hover, this.hovered);
  }

  /** The part of a `look` that says which machines are in sight. */
  inSight() {
    const { rowHeight, columns, rows, shrink } = this.grid;
    const top = Math.max(0, this.swarm.scrollTop - this.sheet.offsetTop) * this.ratio;
    const firstRow = Math.min(Math.floor(top / rowHeight), rows - 1);
    const rowsInSight = Math.ceil((this.swarm.clientHeight * this.ratio) / rowHeight) + 1;
    const first = Math.max(0, firstRow) * columns;
    return { first, count: Math.min(rowsInSight * columns, this.machines - first), shrink };
  }

  draw(view) {
    const { columns, tileWidth, tileHeight, gap, scale, rowHeight, shrink } = this.grid;
    // Asked for before the window changed: another view is on its way.
    if (view.shrink !== shrink || view.first % columns !== 0) return;
    const rows = Math.ceil(view.count / columns);
    const width = Math.min(columns, this.machines) * (tileWidth + gap) - gap;
    const height = Math.max(1, rows * (tileHeight + gap) - gap);
    if (!this.image || this.image.width !== width || this.image.height !== height || this.count !== view.count) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.canvas.style.width = `${(width * scale) / this.ratio}px`;
      this.canvas.style.height = `${(height * scale) / this.ratio}px`;
      this.image = this.context.createImageData(width, height);
      this.count = view.count;
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    for (let tile = 0; tile < view.count; tile++) {
      const x = (tile % columns) * (tileWidth + gap);
      const y = Math.floor(tile / columns) * (tileHeight + gap);
      unpack(view.tiles, tile * view.tileBytes, tileWidth, tileHeight, pixels, width, y * width + x, view.colors);
    }
    this.context.putImageData(this.image, 0, 0);
    this.context.fillStyle = OVER;
    for (const machine of view.done) {
      const tile = machine - view.first;
      const [x, y] = [(tile % columns) * (tileWidth + gap), Math.floor(tile / columns) * (tileHeight + gap)];
      this.context.fillRect(x, y, tileWidth, tileHeight);
    }
    this.canvas.style.top = `${((view.first / columns) * rowHeight) / this.ratio}px`;
  }

  /** The machine at a point of the window, or null. */
  at(clientX, clientY) {
    const { tileWidth, gap, scale, rowHeight, columns } = this.grid;
    const box = this.sheet.getBoundingClientRect();
    const [x, y] = [(clientX - box.left) * this.ratio, (clientY - box.top) * this.ratio];
    const column = Math.floor(x / ((tileWidth + gap) * scale));
    const row = Math.floor(y / rowHeight);
    const machine = row * columns + column;
    const inside = x >= 0 && y >= 0 && column < columns && machine < this.machines;
    return inside ? machine : null;
  }

  point(machine) {
    this.hovered = machine;
    this.place(this.hover, machine);
  }

  choose(machine) {
    this.chosen = machine;
    this.place(this.ring, machine);
  }

  /** Scroll so that the chosen machine is in sight. */
  reveal() {
    if (this.chosen !== null) this.ring.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  place(ring, machine) {
    ring.hidden = machine === null;
    if (machine === null) return;
    const { columns, tileWidth, tileHeight, gap, scale, rowHeight } = this.grid;
    const px = (value) => `${value / this.ratio}px`;
    ring.style.left = px((machine % columns) * (tileWidth + gap) * scale);
    ring.style.top = px(Math.floor(machine / columns) * rowHeight);
    ring.style.width = px(tileWidth * scale);
    ring.style.height = px(tileHeight * scale);
  }
}

/** The largest of the widths that are no larger than this, or the smallest. */
const widestWithin = (wide) => WIDTHS.findLast((width) => width <= wide) ?? WIDTHS[0];

/** The gap between machines of that width. */
const gapOf = (wide, ratio) => (wide < 100 * ratio ? 2 : 6) * ratio;

/** How wide machines may be so that all of them are in sight. */
function fitting(machines, width, height, ratio) {
  let widest = 0;
  for (let columns = 1; columns <= machines; columns++) {
    const rows = Math.ceil(machines / columns);
    const gap = gapOf(width / columns, ratio);
    const byWidth = (width - (columns - 1) * gap) / columns;
    const byHeight = (((height - (rows - 1) * gap) / rows) * WIDTH) / HEIGHT;
    widest = Math.max(widest, Math.min(byWidth, byHeight));
  }
  return Math.floor(widest);
}

function makeGrid(wide, width, machines, ratio) {
  const shrink = [8, 4, 2].find((divisor) => WIDTH / divisor >= wide) ?? 1;
  const [tileWidth, tileHeight] = [WIDTH / shrink, HEIGHT / shrink];
  const scale = wide / tileWidth;
  const gap = Math.max(1, Math.round(gapOf(wide, ratio) / scale));
  // The gap's rounding may not cost a column that was meant to fit.
  const columns = Math.max(1, Math.min(machines, Math.floor((width + gap * scale) / ((tileWidth + gap) * scale) + 0.02)));
  return {
    wide, shrink, scale, tileWidth, tileHeight, gap, columns,
    rows: Math.ceil(machines / columns),
    rowHeight: (tileHeight + gap) * scale,
    width: (columns * (tileWidth + gap) - gap) * scale,
  };
}
