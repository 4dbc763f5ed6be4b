// Keyboard, touch and mouse to the joypad's bits, right, left, up, down, A, B, SELECT, START from bit 0.

const BITS = { right: 1, left: 2, up: 4, down: 8, a: 16, b: 32, select: 64, start: 128 };
const KEYS = {
  ArrowRight: 'right', ArrowLeft: 'left', ArrowUp: 'up', ArrowDown: 'down',
  x: 'a', X: 'a', z: 'b', Z: 'b', y: 'b', Y: 'b', Enter: 'start', Backspace: 'select', Shift: 'select',
};
/** How far from its middle, in parts of its size, the cross begins to steer. */
const DEAD = 0.12;
/** How long a button is pressed that was clicked by other means than a pointer. */
const CLICK_MS = 120;

export class Pad {
  /** Buttons in `element`, pointers on `surface`; calls `changed` with the bits when they change and the hands are on. */
  constructor(element, surface, cross, changed) {
    Object.assign(this, { element, surface, cross, changed });
    this.on = false;
    this.keys = new Map();
    this.pointers = new Map();
    this.bits = 0;
    this.listen();
  }

  set(on) {
    this.on = on;
    this.element.hidden = !on;
    this.drop();
  }

  drop() {
    this.keys.clear();
    this.pointers.clear();
    this.update();
  }

  /** Did the key belong to the pad? */
  key(event, down) {
    const name = KEYS[event.key];
    if (!this.on || !name || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (down) this.keys.set(event.code, BITS[name]);
    else this.keys.delete(event.code);
    this.update();
    return true;
  }

  listen() {
    const follow = (event) => {
      event.preventDefault();
      this.pointers.set(event.pointerId, this.under(event));
      this.update();
    };
    this.surface.addEventListener('pointerdown', (event) => {
      if (!this.on || !event.target.closest('[data-button], .cross')) return;
      this.surface.setPointerCapture(event.pointerId);
      follow(event);
    });
    this.surface.addEventListener('pointermove', (event) => {
      if (this.pointers.has(event.pointerId)) follow(event);
    });
    for (const end of ['pointerup', 'pointercancel']) {
      this.surface.addEventListener(end, (event) => {
        this.pointers.delete(event.pointerId);
        this.update();
      });
    }
    this.element.addEventListener('contextmenu', (event) => event.preventDefault());
    this.element.addEventListener('click', (event) => {
      const name = event.target.closest('[data-button]')?.dataset.button;
      // A click without a pointer: a screen reader, or a key on the focused button.
      if (!name || event.detail !== 0) return;
      this.keys.set(`click ${name}`, BITS[name]);
      this.update();
      setTimeout(() => {
        this.keys.delete(`click ${name}`);
        this.update();
      }, CLICK_MS);
    });
    window.addEventListener('blur', () => this.drop());
  }

  /** Returns the buttons under a pointer: the cross by direction, so that a thumb may roll over it, others by place. */
  under(event) {
    const box = this.cross.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width - 0.5;
    const y = (event.clientY - box.top) / box.height - 0.5;
    if (Math.abs(x) < 0.6 && Math.abs(y) < 0.6) {
      // Within about 22 degrees of an axis only that axis steers.
      const [far, wide] = [Math.abs(x), Math.abs(y)];
      let bits = 0;
      if (far > DEAD && far > wide * 0.42) bits |= x > 0 ? BITS.right : BITS.left;
      if (wide > DEAD && wide > far * 0.42) bits |= y > 0 ? BITS.down : BITS.up;
      return bits;
    }
    const button = document.elementFromPoint(event.clientX, event.clientY)?.closest('[data-button]');
    return button ? BITS[button.dataset.button] : 0;
  }

  update() {
    let bits = 0;
    for (const pressed of this.keys.values()) bits |= pressed;
    for (const pressed of this.pointers.values()) bits |= pressed;
    for (const button of this.element.querySelectorAll('[data-button]')) {
      button.classList.toggle('pressed', (bits & BITS[button.dataset.button]) !== 0);
    }
    if (bits === this.bits) return;
    this.bits = bits;
    if (this.on) this.changed(bits);
  }
}

/** The names of the pressed buttons. */
export function buttonNames(bits) {
  return Object.keys(BITS).filter((name) => bits & BITS[name]).map((name) => name.toUpperCase()).join(' + ');
}
