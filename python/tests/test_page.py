"""Pages for a new user: each page's Python runs, block by block, in a folder that has the repository's files.

A block that can't run says why in a line above: `<!-- not run: REASON -->`. Tests of the compiler run the blocks about
the dialect, `docs/dialect` and `docs/programs.md`.
"""

import re
import subprocess
import sys
from typing import NamedTuple

import pytest
from conftest import ROOT

FENCE = re.compile(r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?```python\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    reason: str | None
    text: str


def blocks(page):
    """The Python of a page."""
    return [Block(fence["reason"], fence["text"]) for fence in FENCE.finditer(page.read_text(encoding="utf-8"))]


def pages():
    """Pages whose Python no test of the compiler runs."""
    found = [ROOT / "README.md", ROOT / "crates/apps/python/README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "games").glob("*/README.md")]
    return sorted(page for page in found if page.name != "programs.md" and "```python" in page.read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "runs").mkdir()
    command = [sys.executable, "-m", "gbxcule", "assemble", "examples/own_game/catch.asm", "--out", "runs/catch.gb"]
    subprocess.run(command, cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_run_as_it_says(folder, page):
    texts = [block.text for block in blocks(page) if block.reason is None]
    script = folder / "page.py"
    script.write_text("\n".join(texts))
    done = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


def test_every_block_of_python_is_found():
    for page in pages():
        assert len(blocks(page)) == page.read_text(encoding="utf-8").count("```python"), page


def test_the_examples_for_a_device_run_as_their_page_says(folder, on_stand_ins):
    # Runs from the section on kernels on, because the blocks for a device use its kernel. Torch
    # does not know the stand-in for a device.
    page = blocks(ROOT / "docs/python.md")
    first = next(number for number, block in enumerate(page) if "gbxcule.kernel" in block.text)
    chosen = [block.text for number, block in enumerate(page) if number >= first or block.reason]
    assert sum('device="cuda"' in text for text in chosen) == 2
    text = "\n".join(chosen)
    # Thousands of machines and steps need a real device.
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
env = gbxcule.make_vec("PEARL_DRIFT", 3, reward="examples/programs/careful.py", device={device!r})
_, info = env.reset(seed=0)
for step in range(4):
    rows = info["action_mask"]
    assert rows.dtype == "int8" and rows.shape == (3, 9), rows
    print(rows.tolist())
    for place, x in enumerate([16, 17, 24]):
        env.write_memory(place, "SubX", bytes([x]))
    *_, info = env.step([8, 8, 8])
"""


def test_the_mask_of_the_example_is_equal_on_a_device(folder, on_stand_ins):
    outputs = []
    for device in ("cpu", "cuda"):
        script = folder / f"{device}.py"
        script.write_text(MASKED.format(folder=str(folder), device=device))
        done = on_stand_ins(script)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1] and "[1, 1, 0, 1, 1, 1, 1, 0, 1]" in outputs[0], outputs
    # At the left edge.
    assert "[1, 1, 0, 1, 1, 0, 1, 0, 1]" in outputs[0], outputs
