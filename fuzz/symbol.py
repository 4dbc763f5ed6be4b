"""Random `.sym` texts and places: read, or refused with a sentence, in a time that grows with the text.

    PYTHONPATH=python python fuzz/symbol.py SECONDS FOLDER [SEED]

Texts are changes of the `.sym` files in FOLDER, such as those of `gbxcule roms --out FOLDER`. Needs NumPy."""

import random
import sys
import time
from pathlib import Path

from gbxcule.symbol import code_of, parse_symbols, range_of

PIECES = (":", ";", "\n", "\r", "\0", "\u2028", "00:", "FFFFFFFFFFFFFFFFFFFF:0000 x", "-1:C000 y", "00:C000", "\t", "é", "::")
LONGEST = 1 << 20
"""Characters of a text."""


def changed(text: str, draw: random.Random) -> str:
    for _ in range(draw.randint(1, 12)):
        at, length = draw.randrange(len(text) + 1), draw.choice((0, 1, 3, 40, 4000))
        match draw.randrange(4):
            case 0:
                text = text[:at] + draw.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + length :]
            case 2:
                text = text[:at] + text[at : at + length] * draw.choice((2, 3, 50)) + text[at:]
            case _:
                text = text[:at] + chr(draw.choice((draw.randrange(128), draw.randrange(0xD800)))) + text[at + 1 :]
    return text[:LONGEST]


def refused(work: object, *arguments: object) -> bool:
    try:
        work(*arguments)  # type: ignore[operator]
    except (ValueError, TypeError) as error:
        assert str(error), "a refusal without a sentence"
        return True
    return False


def main() -> None:
    seconds, folder, seed = float(sys.argv[1]), Path(sys.argv[2]), int((sys.argv[3:] or ["0"])[0])
    draw, texts = random.Random(seed), [path.read_text() for path in sorted(folder.glob("*.sym"))]
    end, inputs, refusals = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        text = changed(draw.choice(texts), draw)
        symbols = parse_symbols(text)
        for label, address in symbols.items():
            assert label and 0 <= address <= 0xFFFF and 0 <= address.bank <= 0xFFFF, (label, address)
        labels = list(symbols) or ["wNone"]
        for _ in range(8):
            place = changed(draw.choice((draw.choice(labels), "C000:C010", "01:4150", "$C000")), draw)[:80]
            refusals += refused(range_of, place, symbols) + refused(code_of, place, symbols)
            refusals += refused(range_of, (draw.choice(labels), draw.randint(-9, 70000)), symbols)
        inputs += 1
    print(f"{inputs} texts with 24 places each, {refusals} places refused, none failed")


if __name__ == "__main__":
    main()
