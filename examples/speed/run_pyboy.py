"""PyBoy for speed.py: run_pyboy.py ROM [drawn]. Its input and answers are those of the example `frames`."""

import sys
import time

from pyboy import PyBoy

BUTTONS = ["right", "left", "up", "down", "a", "b", "select", "start"]


def main() -> None:
    drawn = sys.argv[2:] == ["drawn"]
    pyboy = PyBoy(sys.argv[1], window="null", sound_emulated=False, log_level="CRITICAL")
    pyboy.set_emulation_speed(0)
    held = 0
    for line in sys.stdin:
        numbers = [int(word) for word in line.split()]
        begun = time.thread_time()
        for frames, buttons in zip(numbers[::2], numbers[1::2]):
            for position, name in enumerate(BUTTONS):
                if (buttons ^ held) >> position & 1:
                    (pyboy.button_press if buttons >> position & 1 else pyboy.button_release)(name)
            held = buttons
            if drawn:
                for _ in range(frames):
                    pyboy.tick(1, render=True)
            else:
                pyboy.tick(frames, render=False)
        print(time.thread_time() - begun, flush=True)


if __name__ == "__main__":
    main()
