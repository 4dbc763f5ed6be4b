// A page of one machine's memory. A click on a byte changes it, where viewers may.

const LOW = 0xc000;
const PAGE_BYTES = 128;
const BYTES_IN_A_ROW = 16;

const byId = (id) => document.getElementById(id);

export const hex = (value, digits) => value.toString(16).toUpperCase().padStart(digits, '0');

/** A place as people write it: C000, or 02:D123 in a bank. */
export const addressText = (place) => (place < 0x10000 ? '' : `${hex((place >> 16) - 1, 2)}:`) + hex(place & 0xffff, 4);

/** The place of a text or label, or null. */
export function placeOf(text, labels) {
  for (const [place, name] of labels) if (name === text.trim()) return place;
  const match = /^(?:([0-9a-f]{1,3}):)?(?:0x|\$)?([0-9a-f]{1,4})$/i.exec(text.trim());
  if (!match) return null;
  return (match[1] === undefined ? 0 : (parseInt(match[1], 16) + 1) * 0x10000) + parseInt(match[2], 16);
}

export class Memory {
  constructor(send, ask) {
    Object.assign(this, { send, ask });
    this.place = LOW;
    this.labels = new Map();
    this.bytes = [];
    byId('memory-at').onchange = ({ target }) => this.go(placeOf(target.value, this.labels) ?? this.place);
    byId('memory-back').onclick = () => this.go(this.place - PAGE_BYTES);
    byId('memory-on').onclick = () => this.go(this.place + PAGE_BYTES);
    byId('memory').onclick = ({ target }) => this.mayEdit && target.closest('td') && this.edit(this.bytes.indexOf(target.closest('td')));
  }

  greet(hello) {
    this.mayEdit = hello.hands;
    this.labels = new Map(hello.labels);
    this.go(this.place);
  }

  /** Shows the page that begins in a row. */
  go(place) {
    const [bank, address] = [place - (place & 0xffff), place & 0xffff];
    const row = address - (address % BYTES_IN_A_ROW);
    this.place = Math.max(0, bank + Math.min(row, 0x10000 - PAGE_BYTES));
    this.stopEditing();
    byId('memory-at').value = addressText(this.place);
    this.addRows();
    this.ask();
  }

  addRows() {
    byId('memory').replaceChildren();
    this.bytes = [];
    for (let low = this.place; low < this.place + PAGE_BYTES; low += BYTES_IN_A_ROW) {
      const row = byId('memory').insertRow();
      const address = document.createElement('th');
      address.scope = 'row';
      address.textContent = addressText(low);
      row.append(address);
      for (let at = low; at < low + BYTES_IN_A_ROW; at++) {
        const cell = row.insertCell();
        cell.title = this.labels.get(at) ?? addressText(at);
        cell.classList.toggle('labelled', this.labels.has(at));
        this.bytes.push(cell);
      }
    }
  }

  draw({ env, memory, memory_from: from }) {
    // Asked for before the page was turned: another view is on its way.
    if (from !== this.place) return;
    if (env !== this.env) this.stopEditing();
    this.env = env;
    this.bytes.forEach((cell, at) => {
      if (at === this.edited) return;
      const text = at < memory.length ? hex(memory[at], 2) : '';
      cell.classList.toggle('changed', cell.textContent !== text);
      cell.classList.toggle('zero', memory[at] === 0);
      cell.textContent = text;
    });
  }

  edit(at) {
    this.stopEditing();
    if (at < 0 || at >= this.bytes.length) return;
    this.edited = at;
    const input = document.createElement('input');
    Object.assign(input, { value: this.bytes[at].textContent, maxLength: 2, ariaLabel: `Byte at ${addressText(this.place + at)}` });
    input.onkeydown = ({ key }) => {
      if (key === 'Enter' && this.poke(at, input.value)) this.edit(at + 1);
      else if (key === 'Escape') this.stopEditing();
    };
    input.onblur = () => this.edited === at && this.stopEditing();
    this.bytes[at].replaceChildren(input);
    input.select();
  }

  poke(at, text) {
    if (!/^[0-9a-f]{1,2}$/i.test(text)) return false;
    this.send({ type: 'poke', env: this.env, place: this.place + at, byte: parseInt(text, 16) });
    this.ask();
    return true;
  }

  stopEditing() {
    const cell = this.bytes[this.edited];
    this.edited = undefined;
    if (cell) cell.textContent = '';
    this.ask();
  }
}
