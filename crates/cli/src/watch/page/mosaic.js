// All machines on one canvas: how large, which of them are in sight, and where a click went.
//
// Sizes are in device pixels. A machine is shown at a whole multiple of its pixels, or shrunk by the server to a half, a
// quarter or an eighth; the canvas holds one pixel for each of the machine's and the browser enlarges it without blur.

import { HEIGHT, WIDTH, unpack } from './screen.js';

/** Device pixels for one pixel of a machine. */
const ZOOMS = [1 / 8, 1 / 4, 1 / 2, 1, 2, 3, 4, 5, 6];
/** Nobody sees anything in machines smaller than this, unless they ask for it. */
const SMALLEST_TO_FIT = 40;

export class Mosaic {
  constructor({ swarm, sheet, canvas, ring, hover }) {
    Object.assign(this, { swarm, sheet, canvas, ring, hover });
    this.context = canvas.getContext('2d', { alpha: true });
    this.machines = 0;
    this.zoom = null;
    this.hovered = null;
    this.chosen = null;
  }

  /** How many machines there are; null for `zoom` fits them into the window. */
  set(machines, zoom = this.zoom) {
    this.machines = machines;
    this.zoom = zoom;
    this.layOut();
  }

  larger(by) {
    const at = ZOOMS.indexOf(this.grid.zoom) + by;
    this.set(this.machines, ZOOMS[Math.min(Math.max(at, 0), ZOOMS.length - 1)]);
  }

  layOut() {
    const ratio = window.devicePixelRatio || 1;
    const style = getComputedStyle(this.swarm);
    const width = (this.swarm.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)) * ratio;
    const height = (this.swarm.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom)) * ratio;
    const fits = (grid) => grid.rows * grid.rowHeight - grid.gap * grid.scale <= height;
    const grids = ZOOMS.map((zoom) => makeGrid(zoom, width, this.machines, ratio));
    const usable = grids.filter((grid) => grid.width <= width && grid.tileWidth * grid.scale >= SMALLEST_TO_FIT);
    const fitting = usable.filter(fits).at(-1) ?? usable[0] ?? grids[0];
    this.grid = grids.find((grid) => grid.zoom === this.zoom) ?? fitting;
    this.ratio = ratio;
    this.sheet.style.width = `${this.grid.width / ratio}px`;
    this.sheet.style.height = `${(this.grid.rows * this.grid.rowHeight - this.grid.gap * this.grid.scale) / ratio}px`;
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
      unpack(view.tiles, tile * view.tileBytes, tileWidth, tileHeight, pixels, width, y * width + x);
    }
    this.context.putImageData(this.image, 0, 0);
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

function makeGrid(zoom, width, machines, ratio) {
  const shrink = zoom < 1 ? 1 / zoom : 1;
  const scale = zoom < 1 ? 1 : zoom;
  const [tileWidth, tileHeight] = [WIDTH / shrink, HEIGHT / shrink];
  // About six pixels of the page between large machines, two between small ones.
  const wanted = (tileWidth * scale < 100 * ratio ? 2 : 6) * ratio;
  const gap = Math.max(1, Math.round(wanted / scale));
  const columns = Math.max(1, Math.min(machines, Math.floor((width + gap * scale) / ((tileWidth + gap) * scale))));
  const rows = Math.ceil(machines / columns);
  return {
    zoom, shrink, scale, tileWidth, tileHeight, gap, columns, rows,
    rowHeight: (tileHeight + gap) * scale,
    width: (columns * (tileWidth + gap) - gap) * scale,
  };
}
