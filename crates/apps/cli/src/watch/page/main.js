// The page: controls on one side, views on the other. A view is asked for when the last one is on the screen, so the
// browser sets its own pace; while the tab is hidden it asks for nothing.

import { Charts } from './charts.js';
import { Finder } from './finder.js';
import { connect } from './link.js';
import { Machine } from './machine.js';
import { Memory } from './memory.js';
import { Mosaic } from './mosaic.js';
import { Pad } from './buttons.js';
import { choosePalette } from './screen.js';
import { Sound } from './sound.js';

const REAL_FRAMES_PER_S = 4194304 / 70224;

const byId = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

const state = { hello: null, running: true, chosen: null, hands: false, asked: false, view: null, heard: false, speed: null };

const swarm = byId('swarm');
const mosaic = new Mosaic({
  swarm, sheet: byId('sheet'), canvas: byId('mosaic'), ring: byId('ring'), hover: byId('hover'),
});
const machine = new Machine();
const sound = new Sound();
const charts = new Charts((env) => choose(env));
const pad = new Pad(byId('pad'), byId('machine'), byId('cross'), (buttons) => send({ type: 'hold', ...held(), buttons }));
const memory = new Memory((request) => send(request), askSoon);
const finder = new Finder((request) => send(request), askSoon);
const send = connect({ hello: greet, view: show, lost: lose });

function greet(hello) {
  const isPlay = hello.mode === 'play';
  state.hello = hello;
  byId('lost').hidden = true;
  document.body.dataset.mode = hello.mode;
  document.title = `${hello.rom} · gbxcule`;
  byId('rom').textContent = hello.rom;
  byId('sound').hidden = !hello.sound;
  byId('loading').textContent = hello.mode === 'train' ? 'The picture comes with the next step…' : 'Loading the first picture…';
  byId('hands').hidden = !hello.hands;
  charts.greet(hello);
  memory.greet(hello);
  finder.greet(hello);
  const place = hello.device === 'cpu' ? '' : ` on ${hello.device}`;
  byId('machines').textContent = number.format(hello.num_envs) + place;
  byId('mosaic').setAttribute('aria-label', `${hello.num_envs} machines playing ${hello.rom}`);
  if (isPlay) {
    choose(Math.min(player(), hello.num_envs - 1));
    takeControls(true);
  } else {
    choose(state.chosen !== null && state.chosen < hello.num_envs ? state.chosen : null);
    takeControls(false);
  }
  mosaic.set(hello.num_envs);
  ask();
}

/** The page's player, from 0 on: a pair's second machine, or the further controllers of a Super Game Boy. */
const player = () => Math.max(0, Number(new URLSearchParams(location.search).get('player') ?? 1) - 1 || 0);

/** The env and the controller that the page's player holds. */
const held = () => ({ env: state.chosen, controller: state.hello.num_envs === 1 ? player() : 0 });

const title = (env) => (state.hello.mode === 'play' ? `Player ${env + 1}` : `Machine ${env}`);

function lose() {
  byId('lost').hidden = false;
  takeControls(false);
}

function ask() {
  if (!state.hello) return;
  const sight = state.hello.mode === 'play' ? { first: 0, count: 0, shrink: 1 } : mosaic.inSight();
  send({ type: 'look', ...sight, chosen: state.chosen, sound: state.heard, map: state.hello.map, memory: memory.place, ...finder.inLook() });
}

/** Ask again before the next picture of the browser, once however often this is called. */
function askSoon() {
  if (state.asked) return;
  state.asked = true;
  requestAnimationFrame(() => {
    state.asked = false;
    ask();
  });
}

function show(view) {
  state.view = view;
  byId('loading').hidden = true;
  state.running = view.running;
  if (view.count > 0) mosaic.draw(view);
  // A Color has colours of its own.
  byId('palette').hidden = Boolean(view.colors);
  sound.play(view.samples);
  charts.draw(view);
  if (view.chosen && view.chosen.env === state.chosen) {
    machine.draw(view);
    if (byId('insides').open) memory.draw(view.chosen);
  }
  finder.draw(view);
  byId('run').textContent = view.running ? 'Pause' : 'Run';
  // Nothing has been counted in the first moments.
  const isCounted = view.running && view.frames_per_s > 0;
  byId('rate').textContent = isCounted ? number.format(view.frames_per_s) : view.running ? '…' : 'paused';
  byId('times').textContent = isCounted ? `${number.format(view.frames_per_s / REAL_FRAMES_PER_S)}×` : '–';
  byId('step-count').textContent = number.format(view.step);
  for (const choice of document.getElementsByName('speed')) choice.checked = Number(choice.value) === view.speed;
  if (view.state) download(view.state, `${state.hello.rom}-${view.step}.state`);
  askSoon();
}

function download(bytes, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function choose(env) {
  if (state.hands && env !== state.chosen) takeControls(false);
  state.chosen = env;
  byId('machine').hidden = env === null;
  document.body.classList.toggle('enlarged', env !== null);
  if (env !== null) byId('name').textContent = state.hello.num_envs === 1 ? state.hello.rom : title(env);
  mosaic.layOut();
  mosaic.choose(env);
  mosaic.reveal();
  byId('said').textContent = env === null ? '' : `machine ${env} is enlarged`;
  askSoon();
}

function takeControls(on) {
  const changes = on !== state.hands;
  state.hands = on;
  byId('hands').textContent = on ? 'Let go' : 'Take the controls';
  byId('hands').setAttribute('aria-pressed', String(on));
  pad.set(on);
  if (!changes) return;
  if (on) {
    send({ type: 'hold', ...held(), buttons: 0 });
    if (state.hello.mode === 'watch') {
      // All machines are stepped together: they go at the speed of hands as long as one of them does.
      state.speed = state.view?.speed ?? 0;
      send({ type: 'speed', times: 1 });
    }
    // Enter and Space are the game's from here on, not the button's.
    document.activeElement?.blur();
  } else {
    send({ type: 'let_go' });
    if (state.speed !== null && state.view?.speed === 1) send({ type: 'speed', times: state.speed });
    state.speed = null;
  }
}

function chooseBy(offset) {
  const last = state.hello.num_envs - 1;
  choose(Math.min(Math.max((state.chosen ?? -offset) + offset, 0), last));
}

function listen(on) {
  state.heard = on;
  sound.set(on);
  byId('sound').textContent = on ? 'Silence' : 'Sound';
  byId('sound').setAttribute('aria-pressed', String(on));
  askSoon();
}

const runOrPause = () => send({ type: state.running ? 'pause' : 'run' });
const resize = (change) => {
  change();
  mosaic.reveal();
  askSoon();
};

byId('run').onclick = runOrPause;
byId('step').onclick = () => send({ type: 'step' });
byId('sound').onclick = () => listen(!state.heard);
byId('reset').onclick = () => send({ type: 'reset' });
byId('speed').onchange = (event) => send({ type: 'speed', times: Number(event.target.value) });
byId('smaller').onclick = () => resize(() => mosaic.larger(-1));
byId('larger').onclick = () => resize(() => mosaic.larger(1));
byId('fit').onclick = () => resize(() => mosaic.fit());
byId('previous').onclick = () => chooseBy(-1);
byId('next').onclick = () => chooseBy(1);
byId('close').onclick = () => choose(null);
byId('save').onclick = () => {
  send({ type: 'save', env: state.chosen });
  askSoon();
};
byId('hands').onclick = () => takeControls(!state.hands);

swarm.onclick = (event) => {
  const env = mosaic.at(event.clientX, event.clientY);
  if (env !== null) choose(env);
};
swarm.onpointermove = (event) => mosaic.point(event.pointerType === 'mouse' ? mosaic.at(event.clientX, event.clientY) : null);
swarm.onpointerleave = () => mosaic.point(null);
swarm.onscroll = askSoon;
new ResizeObserver(() => {
  mosaic.layOut();
  askSoon();
}).observe(swarm);

window.addEventListener('keydown', (event) => {
  // Text is written, not played.
  if (event.target.closest('input:not([type="radio"])')) return;
  const onControl = event.target.closest('button, select, input, summary');
  // Keys that work the focused control stay with it.
  if (onControl && ['Enter', ' ', 'Shift', 'Tab'].includes(event.key)) return;
  if (event.target.closest('select, input') && event.key.startsWith('Arrow')) return;
  if (pad.key(event, true) || shortcut(event)) event.preventDefault();
});
window.addEventListener('keyup', (event) => pad.key(event, false));

function shortcut({ key, target, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey || altKey || !state.hello) return false;
  const isTrained = state.hello.mode === 'train';
  if (isTrained && [' ', '.'].includes(key)) return false;
  if (key === ' ') return runOrPause(), true;
  if (key === '.') return send({ type: 'step' }), true;
  if (state.hello.mode === 'play') return false;
  if (key === '+' || key === '=') return resize(() => mosaic.larger(1)), true;
  if (key === '-') return resize(() => mosaic.larger(-1)), true;
  if (key === '0') return resize(() => mosaic.fit()), true;
  if (key === 'Escape') return choose(null), swarm.focus(), true;
  // Nothing has the focus at first.
  if (target !== swarm && target !== document.body) return false;
  const columns = mosaic.grid.columns;
  const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  if (key in moves) return chooseBy(moves[key]), true;
  if (key === 'Enter') return choose(state.chosen ?? 0), byId(state.hello.hands ? 'hands' : 'close').focus(), true;
  return false;
}

/** A setting that the browser remembers. */
function remember(id, apply) {
  const select = byId(id);
  const kept = localStorage.getItem(`gbxcule ${id}`);
  if ([...select.options].some((option) => option.value === kept)) select.value = kept;
  select.onchange = () => {
    localStorage.setItem(`gbxcule ${id}`, select.value);
    apply(select.value);
  };
  apply(select.value);
}

remember('palette', (name) => {
  choosePalette(name);
  if (state.view?.count) mosaic.draw(state.view);
  machine.redraw();
});
remember('theme', (name) => {
  document.documentElement.dataset.theme = name;
});
