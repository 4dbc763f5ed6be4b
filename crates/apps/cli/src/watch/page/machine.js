// One machine, large: its screen, what it does, what the programs say of it, and its registers.

import { buttonNames } from './buttons.js';
import { hex } from './memory.js';
import { show } from './screen.js';

const REGISTERS = ['a', 'f', 'b', 'c', 'd', 'e', 'h', 'l', 'sp', 'pc'];
const FLAGS = ['Z', 'N', 'H', 'C'];
const REWARDS = 120;

const digits = (reward) => (reward === null ? 'none' : reward.toFixed(3));
const byId = (id) => document.getElementById(id);

export class Machine {
  constructor() {
    this.screen = byId('screen').getContext('2d');
    this.spark = byId('spark');
    this.rewards = [];
    this.env = null;
    this.packed = null;
    this.cells = {};
    for (const name of REGISTERS) this.cells[name] = addRegister(name);
    this.flags = FLAGS.map(addFlag);
  }

  draw({ chosen, screen, step, colors }) {
    if (chosen.env !== this.env || step < this.step) this.rewards = [];
    this.env = chosen.env;
    this.packed = screen;
    this.colors = colors;
    this.redraw();
    const buttons = buttonNames(chosen.buttons);
    byId('action').textContent = chosen.held ? buttons || 'your hands' : (chosen.action ?? 'NOOP');
    byId('action').classList.toggle('lit', chosen.buttons !== 0);
    if (byId('insides').open) {
      this.drawRegisters(chosen.registers);
      drawObservation(chosen);
    }
    byId('return').textContent = digits(chosen.episode_return);
    byId('over').hidden = !chosen.done;
    if (step !== this.step) this.drawReward(chosen.reward);
    this.step = step;
  }

  redraw() {
    if (this.packed) show(this.screen, this.packed, this.colors);
  }

  drawRegisters(registers) {
    for (const name of REGISTERS) {
      this.cells[name].textContent = hex(registers[name], name.length === 2 ? 4 : 2);
    }
    this.flags.forEach((flag, index) => flag.classList.toggle('lit', ((registers.f >> (7 - index)) & 1) === 1));
  }

  drawReward(reward) {
    byId('reward').textContent = digits(reward);
    if (reward === null) return;
    this.rewards.push(reward);
    if (this.rewards.length > REWARDS) this.rewards.shift();
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.spark.clientWidth * ratio, this.spark.clientHeight * ratio];
    if (this.spark.width !== Math.round(width) || this.spark.height !== Math.round(height)) {
      this.spark.width = Math.round(width);
      this.spark.height = Math.round(height);
    }
    const context = this.spark.getContext('2d');
    context.clearRect(0, 0, width, height);
    const [low, high] = [Math.min(0, ...this.rewards), Math.max(1e-9, ...this.rewards)];
    const bar = width / REWARDS;
    context.fillStyle = getComputedStyle(this.spark).color;
    this.rewards.forEach((value, index) => {
      const tall = Math.max(ratio, ((value - low) / (high - low)) * height);
      context.fillRect((REWARDS - this.rewards.length + index) * bar, height - tall, Math.max(1, bar - ratio), tall);
    });
  }
}

function drawObservation({ observation, obs_dim: count }) {
  byId('observation').hidden = observation === null;
  if (observation === null) return;
  // Numbers that are none come as null.
  const numbers = observation.map((value) => (value === null ? 'nan' : String(Number(value.toPrecision(4)))));
  byId('observation').textContent = `observation ${numbers.join(' ')}${count > numbers.length ? ` … ${count}` : ''}`;
}

function addRegister(name) {
  const [group, term, value] = ['div', 'dt', 'dd'].map((tag) => document.createElement(tag));
  term.textContent = name.toUpperCase();
  group.append(term, value);
  byId('registers').append(group);
  return value;
}

function addFlag(name) {
  const flag = document.createElement('span');
  flag.textContent = name;
  byId('flags').append(flag);
  return flag;
}
