"""Frames a second of one machine on one core, beside PyBoy, libmgba and SameBoy, all in turns.

    make speed

Each emulator is a process that runs frames on request and answers with seconds of processor time. All play by the same
buttons, in slices of a tenth of a second one after the other, so other work of the computer slows all of them alike. A
row has the medians of the slices. SameBoy is left out without the folder of its source, libmgba without
Debian's package `libmgba-dev`.
"""

import argparse
import datetime
import json
import pathlib
import random
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
PROJECT = HERE.parent.parent
FRAMES = PROJECT / "target" / "release" / "examples" / "frames"
LOOPS = ["ALU_LOOP", "MEM_RWB", "JOY_DIVERGE_PERSIST"]
GAMES = ["PEARL_DRIFT", "LAST_BEACON", "EMBER_LEAP", "LANTERN_WING", "AMBER_ROAD"]
MODES = ["undrawn", "drawn", "played"]
#: Patterns of buttons before the first slice, for programs to reach their titles.
WARM_UP = 25
#: Frames of a pattern: one of eight buttons or none is held for the first of them.
PATTERN, HELD = 24, 8
#: Seconds of a slice, in which a fast emulator runs more frames than a slow one.
SLICE = 0.1
#: Sources of SameBoy that a machine doesn't need, and the flags that switch them off.
SAMEBOY_TOOLS = ["cheats.c", "cheat_search.c", "debugger.c", "rewind.c", "sm83_disassembler.c", "symbol_hash.c"]
SAMEBOY_FLAGS = """-D_GNU_SOURCE -DGB_INTERNAL -DGB_VERSION="" -DGB_DISABLE_DEBUGGER -DGB_DISABLE_CHEATS
    -DGB_DISABLE_CHEAT_SEARCH -DGB_DISABLE_REWIND -Dunrolled= -Dnounroll= -lm""".split()


class Emulator:
    """A process that runs one program."""

    def __init__(self, name: str, program: list, rom: pathlib.Path, drawn: bool) -> None:
        self.name = name
        arguments = [name] if program == [FRAMES] else []
        if program == [FRAMES] and rom.read_bytes()[0x143] & 0x80:
            program = [FRAMES.with_name("frames_color")]
        self.process = subprocess.Popen(
            [*program, rom, *arguments, *["drawn"] * drawn],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )

    def seconds(self, pairs: list) -> float:
        """Run frames with buttons; return the seconds that they took."""
        self.process.stdin.write(" ".join(f"{frames} {buttons}" for frames, buttons in pairs) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.name} ended with {self.process.wait()}: {self.process.args}")
        return float(answer)

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def compiled(name: str, arguments: list) -> list | None:
    """The program of a C file beside this one; `None` if it can't be compiled."""
    program = PROJECT / "runs" / "speed" / name
    program.parent.mkdir(parents=True, exist_ok=True)
    command = ["cc", "-O3", "-w", "-o", program, HERE / f"{name}.c", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"left out, as {name}.c can't be compiled: {done.stderr.splitlines()[0]}", file=sys.stderr)
        return None
    return [program]


def programs(sameboy: pathlib.Path | None) -> dict:
    """The emulators' programs by name."""
    commands = {"interpreter": [FRAMES], "blocks": [FRAMES], "PyBoy": [sys.executable, HERE / "run_pyboy.py"]}
    commands["libmgba"] = compiled("run_mgba", ["-lmgba"])
    if sameboy:
        sources = [path for path in (sameboy / "Core").glob("*.c") if path.name not in SAMEBOY_TOOLS]
        commands["SameBoy"] = compiled("run_sameboy", [f"-I{sameboy}", *sources, *SAMEBOY_FLAGS])
    return {name: program for name, program in commands.items() if program}


def measure(emulators: list, played: bool, slices: int) -> dict:
    """Frames a second of each emulator: the median and the quartiles of the slices."""
    draws = {emulator: random.Random(0) for emulator in emulators}

    def seconds(emulator: Emulator, patterns: int) -> float:
        if not played:
            return emulator.seconds([(PATTERN * patterns, 0)])
        draw = draws[emulator]
        held = [1 << draw.randrange(8) if draw.randrange(9) else 0 for _ in range(patterns)]
        return emulator.seconds([pair for buttons in held for pair in [(HELD, buttons), (PATTERN - HELD, 0)]])

    patterns, rates = {}, {emulator.name: [] for emulator in emulators}
    for emulator in emulators:
        seconds(emulator, WARM_UP)
        patterns[emulator] = max(1, round(SLICE / seconds(emulator, WARM_UP) * WARM_UP))
    for _ in range(slices):
        for emulator in emulators:
            frames = PATTERN * patterns[emulator]
            rates[emulator.name].append(frames / seconds(emulator, patterns[emulator]))
    return {name: statistics.quantiles(values) for name, values in rates.items()}


def table(rows: list, names: list) -> str:
    """The rows as Markdown."""
    head = ["program", "mode", *names, "ratio to PyBoy"]
    lines = []
    for row in rows:
        rates = {name: quartiles[1] for name, quartiles in row["rates"].items()}
        ratio = max(rates["interpreter"], rates["blocks"]) / rates["PyBoy"]
        numbers = [f"{rates[name]:,.0f}" if name in rates else "" for name in names]
        lines.append([row["program"], row["mode"], *numbers, f"{ratio:.1f}"])
    rule = "|---|---|" + "---:|" * (len(head) - 2)
    text = [f"| {' | '.join(line)} |" for line in [head, *lines]]
    return "\n".join([text[0], rule, *text[1:]])


def chart(rows: list, names: list, title: str) -> str:
    """Bars of frames a second of each played game, as SVG."""
    shown = ["gbxcule", *[name for name in names if name not in ("interpreter", "blocks")]]
    colors = dict(zip(shown, ["#1f6f54", "#d08a2e", "#7d8794", "#b9c0c9"]))
    parts, y, width = [], 40, 420
    for row in [row for row in rows if row["mode"] == "played" and row["program"] not in LOOPS]:
        rates = {name: quartiles[1] for name, quartiles in row["rates"].items()}
        rates["gbxcule"] = max(rates["interpreter"], rates["blocks"])
        parts.append(f'<text x="170" y="{y + 14}" text-anchor="end" class="name">{row["program"]}</text>')
        for name in [name for name in shown if name in rates]:
            length = max(1, rates[name] / rates["gbxcule"] * width)
            parts.append(f'<rect x="180" y="{y}" width="{length:.0f}" height="10" fill="{colors[name]}"/>')
            parts.append(f'<text x="{186 + length:.0f}" y="{y + 9}">{name} {rates[name]:,.0f}</text>')
            y += 13
        y += 12
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {y}" font-family="sans-serif" font-size="10" '
        'fill="#4d5560"><style>.name{font-size:12px}</style>'
        f'<rect width="760" height="{y}" fill="#fff"/><text x="20" y="22" font-size="14">{title}</text>'
        + "".join(parts) + "</svg>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--roms", type=pathlib.Path, default=PROJECT / "runs" / "roms", help="folder of the ROMs")
    parser.add_argument("--sameboy", type=pathlib.Path, help="folder of SameBoy's source")
    parser.add_argument("--programs", default=",".join(LOOPS + GAMES), help="names in the folder, or paths, by commas")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--slices", type=int, default=31)
    parser.add_argument("--out", type=pathlib.Path, default=PROJECT / "runs" / "speed" / "speed.json")
    parser.add_argument("--chart", type=pathlib.Path, default=PROJECT / "runs" / "speed" / "speed.svg")
    arguments = parser.parse_args()
    found, rows = programs(arguments.sameboy), []
    for program in arguments.programs.split(","):
        rom = arguments.roms / f"{program}.gb"
        rom = rom if rom.exists() else pathlib.Path(program)
        for mode in arguments.modes.split(","):
            print(f"{rom.stem}, {mode}", file=sys.stderr)
            emulators = [Emulator(name, words, rom, mode == "drawn") for name, words in found.items()]
            rates = measure(emulators, mode == "played", arguments.slices)
            [emulator.end() for emulator in emulators]
            rows.append({"program": rom.stem, "mode": mode, "rates": rates})
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=PROJECT)
    day = datetime.date.today().isoformat()
    result = {"day": day, "commit": commit.stdout.strip(), "slices": arguments.slices, "rows": rows}
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    title = "Frames a second of one machine on one core, played by random buttons, nothing drawn"
    arguments.chart.write_text(chart(rows, list(found), title))
    print(f"{table(rows, list(found))}\n\n{day}, commit {result['commit']}")


if __name__ == "__main__":
    main()
