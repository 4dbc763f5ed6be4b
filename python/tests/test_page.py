"""Pages as a new user reads them: their Python is run, block by block, in a folder with a game, its symbols and a task."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT
from gbxcule import _native

# The labels that the pages give the game's places; PEARL_DRIFT has all of them under other names.
LABELS = """
00:c000 wScore
00:c002 wEnd
00:c002 wLives
00:c003 wGameOver
00:c006 wXCoord
00:c007 wYCoord
00:0207 EnterMap
00:025d Menu
"""

TASK = """
import gbxcule as gb
import warp as wp

SCRATCH = 4
OBS_DIM = 2

@wp.func
def caught(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[3] += 1.0

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    return wp.float32(gb.read16(machine, 0xC000))

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.read(machine, 0xC006)) / 255.0
"""


def blocks(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def masking_program():
    """The program of the page about programs that has an `action_mask`."""
    (found,) = (block for block in blocks("docs/programs.md") if "def action_mask(" in block)
    return f"import gbxcule as gb\nimport warp as wp\n\n{found}"


def needs_a_device(block):
    return 'device="cuda' in block


@pytest.fixture
def folder(tmp_path):
    # 128 KiB with an MBC5, so that there are banks.
    rom = bytearray(_native.built_in_rom("PEARL_DRIFT").ljust(0x20000, b"\xff"))
    rom[0x147], rom[0x148] = 0x19, 2
    rom[0x14D] = (-sum(rom[0x134:0x14D]) - 0x19) & 0xFF
    (tmp_path / "game.gb").write_bytes(rom)
    (tmp_path / "game.sym").write_text(LABELS)
    (tmp_path / "task.py").write_text(TASK)
    (tmp_path / "mask.py").write_text(masking_program())
    return tmp_path


def run(folder, *texts):
    script = folder / "page.py"
    script.write_text("\n".join(texts))
    done = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/games.md", "docs/watch.md", "docs/warp.md"])
def test_what_a_page_says_is_what_happens(folder, page):
    found = [block for block in blocks(page) if not needs_a_device(block)]
    assert found
    run(folder, *found)


def test_what_the_page_says_of_a_device_is_what_happens(folder, on_stand_ins):
    # From the kernels on: those for a device use one of them. Torch has no part in what stands in
    # for a device.
    page = blocks("docs/python.md")
    first = next(number for number, block in enumerate(page) if "gbxcule.kernel" in block)
    chosen = [block for number, block in enumerate(page) if number >= first or needs_a_device(block)]
    assert sum(map(needs_a_device, chosen)) == 2
    text = "\n".join(chosen)
    # Thousands of machines, and of steps, take a device that is one.
    for word, here in [
        ("torch.from_dlpack(array)", "array"), ("torch.cuda.current_stream()", "None"), ("range(1000)", "range(3)"), ("8192", "4"),
    ]:  # fmt: skip
        text = text.replace(word, here)
    left_out = ("saxpy.launch(1000, 2.0, t", "    over = ")
    kept = [line for line in text.splitlines() if "torch" not in line and not line.startswith(left_out)]
    script = folder / "page.py"
    policy = "def policy(seen): return gbxcule.kernel.array([0] * 4, 'int64', device='cuda')"
    script.write_text("\n".join(["import os", f"os.chdir({str(folder)!r})", "import gbxcule", "import gbxcule.kernel", policy, *kept]))
    done = on_stand_ins(script)
    assert done.returncode == 0, done.stderr


MASKED = """
import os

import gbxcule

os.chdir({folder!r})
env = gbxcule.make_vec("game.gb", 3, reward="mask.py", device={device!r})
_, info = env.reset(seed=0)
for step in range(4):
    rows = info["action_mask"]
    assert rows.dtype == "int8" and rows.shape == (3, 9), rows
    print(rows.tolist())
    for place, left in enumerate([0, 7, 8]):
        env.write_memory(place, 0xC006, bytes([left]))
    *_, info = env.step([8, 8, 8])
"""


def test_the_mask_of_the_page_is_equal_on_a_device(folder, on_stand_ins):
    said = []
    for device in ("cpu", "cuda"):
        script = folder / f"{device}.py"
        script.write_text(MASKED.format(folder=str(folder), device=device))
        done = on_stand_ins(script)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[0] == said[1] and "[1, 1, 0, 1, 1, 1, 1, 0, 1]" in said[0], said
    # At the left edge.
    assert "[1, 1, 0, 1, 1, 0, 1, 0, 1]" in said[0], said
