// The search for a game's variables: filters over all addresses, one address that is watched, and the lines that read it.

import { addressText, hex, placeOf } from './memory.js';

const MAX_POINTS = 400;
const BANK = 0x10000;

const byId = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en');
const shown = (value) => (value === null || value === undefined ? '–' : String(value));

export class Finder {
  constructor(send, ask) {
    Object.assign(this, { send, ask });
    this.labels = new Map();
    this.watched = null;
    this.points = [];
    byId('finder').ontoggle = ask;
    byId('form').onchange = () => this.watch(this.watched);
    for (const button of document.querySelectorAll('[data-keep]')) button.onclick = () => this.filter(button.dataset.keep);
    byId('equal-to').onkeydown = ({ key }) => key === 'Enter' && this.filter('equal');
    byId('watched-at').onchange = ({ target }) => this.watch(placeOf(target.value, this.labels));
    for (const button of document.querySelectorAll('[data-copies]')) {
      button.onclick = () => copy(byId(button.dataset.copies), button);
    }
  }

  greet(hello) {
    this.rom = hello.rom;
    this.labels = new Map(hello.labels);
    byId('labels').replaceChildren(...hello.labels.map(([, name]) => new Option(name)));
    this.watch(null);
  }

  /** The part of a `look` that asks for the search. */
  inLook() {
    const isOpen = byId('finder').open;
    return { search: isOpen, watched: isOpen ? this.watched : null, form: byId('form').value };
  }

  filter(keep) {
    const env = this.chosen ?? null;
    this.send({
      type: 'search', keep, number: Number(byId('equal-to').value), form: byId('form').value, scope: byId('scope').value, env,
    });
    this.ask();
  }

  draw({ search, watched, step, frame, chosen }) {
    if (chosen && chosen.env !== this.chosen) this.points = [];
    this.chosen = chosen?.env;
    if (search) this.drawSearch(search);
    if (!watched || watched.place !== this.watched) return;
    const at = `${step}.${frame}`;
    if (at !== this.at) this.points.push(watched);
    this.at = at;
    if (this.points.length > MAX_POINTS) this.points.shift();
    byId('watched-value').textContent = `${shown(watched.value)}, all machines ${range(watched)}`;
    drawHistory(byId('history'), this.points);
  }

  drawSearch({ count, machines, filters, refused, found }) {
    const state = filters === 0 ? 'a new search' : `${filters} filter${filters === 1 ? '' : 's'}`;
    const addresses = `${number.format(count)} address${count === 1 ? '' : 'es'} left`;
    byId('search-state').textContent = refused ?? (machines ? `${addresses}, ${state}, ${number.format(machines)} machines` : '');
    const rows = filters === 0 ? [] : found;
    const body = byId('found');
    while (body.rows.length > rows.length) body.deleteRow(-1);
    while (body.rows.length < rows.length) this.addRow(body);
    rows.forEach((each, index) => {
      const row = body.rows[index];
      row.place = each.place;
      row.classList.toggle('watched', each.place === this.watched);
      const texts = [addressText(each.place), this.labels.get(each.place) ?? '', shown(each.before), shown(each.value), range(each)];
      texts.forEach((text, column) => { (column ? row.cells[column] : row.cells[0].firstChild).textContent = text; });
    });
  }

  addRow(body) {
    const row = body.insertRow();
    for (let column = 0; column < 5; column++) row.insertCell();
    const button = document.createElement('button');
    button.title = 'Watch this address';
    button.onclick = () => this.watch(row.place);
    row.cells[0].append(button);
  }

  watch(place) {
    this.watched = place;
    this.points = [];
    byId('watched').hidden = place === null;
    if (place !== null) {
      byId('watched-at').value = this.labels.get(place) ?? addressText(place);
      [byId('line-python').textContent, byId('line-program').textContent] = linesOf(place, this.labels.get(place), byId('form').value);
    }
    this.ask();
  }
}

/** The line for `make_vec`, and the one for a program, that read a number. */
export function linesOf(place, label, form) {
  const name = JSON.stringify(label ?? 'value');
  const python = label ? name : place < BANK ? `0x${hex(place, 4)}` : JSON.stringify(addressText(place));
  const options = [
    python, form.includes('word') && '2', form.endsWith('high') && 'big_endian=True', form.startsWith('bcd') && 'bcd=True',
  ];
  const written = options.filter(Boolean).join(', ');
  return [
    `reward=gbxcule.Change(${written}), info={${name}: gbxcule.Number(${written})}`,
    `value = ${programText(place, label, form)}`,
  ];
}

function programText(place, label, form) {
  const bank = place >= BANK ? `${(place >> 16) - 1}, ` : '';
  // Programs know a label from D000 on as one in its bank.
  const isNamed = label && (bank || (place & 0xf000) !== 0xd000);
  const written = (at) => `${bank}${isNamed && at === place ? JSON.stringify(label) : `0x${hex(at & 0xffff, 4)}`}`;
  const byte = (at) => `gb.read${bank ? '_bank' : ''}(machine, ${written(at)})`;
  const isDecimal = form.startsWith('bcd');
  if (form === 'word' && !bank) return `wp.float32(gb.read16(machine, ${written(place)}))`;
  const halves = (at) => `(wp.int32(${byte(at)} >> wp.uint8(4)) * 10 + wp.int32(${byte(at)} & wp.uint8(15)))`;
  const digits = (at) => (bank ? halves(at) : `gb.bcd(machine, ${written(at)})`);
  const one = (at) => `wp.float32(${isDecimal ? digits(at) : byte(at)})`;
  if (!form.includes('word')) return one(place);
  const [high, low] = form.endsWith('high') ? [place, place + 1] : [place + 1, place];
  return `${one(high)} * ${isDecimal ? '100.0' : '256.0'} + ${one(low)}`;
}

const range = ({ low, high }) => (low === high ? shown(low) : `${shown(low)}–${shown(high)}`);

/** The number of the enlarged machine as a line, over a band from the least to the greatest of all machines. */
function drawHistory(canvas, points) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((size) => Math.round(size * ratio));
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = canvas.getContext('2d');
  const [least, most] = [Math.min(...points.map(({ low }) => low)), Math.max(...points.map(({ high }) => high))];
  const x = (index) => (index / Math.max(1, points.length - 1)) * width;
  const y = (value) => height - ratio - ((value - least) / Math.max(1, most - least)) * (height - 2 * ratio);
  context.clearRect(0, 0, width, height);
  context.fillStyle = context.strokeStyle = getComputedStyle(canvas).color;
  context.globalAlpha = 0.2;
  context.beginPath();
  points.forEach(({ high }, index) => context.lineTo(x(index), y(high)));
  points.toReversed().forEach(({ low }, index) => context.lineTo(x(points.length - 1 - index), y(low)));
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = 1.5 * ratio;
  context.beginPath();
  points.forEach(({ value }, index) => value !== null && context.lineTo(x(index), y(value)));
  context.stroke();
  byId('history-range').textContent = `${shown(least)}–${shown(most)}`;
}

/** Copies an element's text; where the browser forbids it, the text is selected. */
async function copy(element, button) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1000);
  } catch {
    getSelection().selectAllChildren(element);
  }
}
