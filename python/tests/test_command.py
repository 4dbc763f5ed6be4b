"""The command that the wheel installs gives the output of the program `gbxcule`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from gbxcule import _native

SCRIPT = Path(sys.executable).with_name("gbxcule")
DISAGREE = ["verify", "--ref-backend", "warp_vec_cpu", "--dut-backend", "stub_bad", "--rom", "ALU_LOOP", "--verify-steps", "4"]


def run(*command, cwd, **variables):
    return subprocess.run(
        [str(word) for word in command], cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True, timeout=300
    )


def test_the_script_and_the_module_are_the_command(tmp_path):
    for command in [[SCRIPT], [sys.executable, "-m", "gbxcule"]]:
        told = run(*command, "--version", cwd=tmp_path)
        assert (told.returncode, told.stdout) == (0, f"gbxcule {_native.version()}\n")
        wrong = run(*command, "no-such-verb", cwd=tmp_path)
        assert wrong.returncode == 2 and "no-such-verb" in wrong.stderr


def test_a_game_is_recorded_as_its_environment_plays_it(tmp_path):
    def record(rom, *options):
        told = run(SCRIPT, "record", "--rom", rom, "--num-envs", 2, "--steps", 6, "--out", "a.png", *options, cwd=tmp_path)
        assert told.returncode == 0, told.stderr
        return (tmp_path / "a.png").read_bytes()

    own = record("KEEP_OF_KEYS")
    row = ["--codec", "NOOP,UP,DOWN,LEFT,RIGHT,A", "--frames-per-step", 8, "--release-after-frames", 8]
    assert own == record("KEEP_OF_KEYS", *row) != record("KEEP_OF_KEYS", *row[:-1], 1)
    # Episodes of the built-in game begin after its title; a file of the same bytes stays on the
    # title with these buttons.
    (tmp_path / "game.gb").write_bytes(_native.built_in_rom("KEEP_OF_KEYS"))
    assert own != record("game.gb", *row)
    (tmp_path / "start.state").write_bytes(_native.game_starts("KEEP_OF_KEYS", "auto", "zero", 0, None)[0])
    assert own == record("game.gb", *row, "--state", "start.state") == record("KEEP_OF_KEYS", "--state", "start.state")


def test_a_game_for_the_color_says_so(tmp_path):
    for verb in (["record", "--out", "a.png"], ["bench"], ["verify", "--ref-backend", "warp_vec_interpreted"], ["demo"]):
        told = run(SCRIPT, *verb, "--rom", "AMBER_ROAD", "--model", "dmg", cwd=tmp_path)
        assert told.returncode == 2 and "AMBER_ROAD is a Color game: leave --model out" in told.stderr, told.stderr


def test_the_source_of_actions_has_one_name(tmp_path):
    told = run(SCRIPT, "watch", "--actions", "noop", cwd=tmp_path)
    assert told.returncode == 2 and "unexpected argument '--actions'" in told.stderr


def test_a_row_of_the_foundry_is_made_without_the_program(tmp_path):
    made = run(SCRIPT, "synth", "generate", "--count", "2", "--mode", "text", "--out", "rows", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "rows/data/train-000000.parquet").read_bytes().startswith(b"PAR1")


def test_a_mismatch_exits_with_1_and_its_script_repeats_it_by_this_command(tmp_path):
    found = run(SCRIPT, *DISAGREE, cwd=tmp_path)
    assert found.returncode == 1 and "MISMATCH" in found.stdout, found.stderr
    (script,) = tmp_path.rglob("repro.sh")
    assert f"here='{SCRIPT}'" in script.read_text()
    again = run(script, cwd=tmp_path)
    assert again.returncode == 0 and again.stdout.startswith("reproduced"), again.stderr


def test_a_package_without_the_script_repeats_a_mismatch_as_a_module(tmp_path):
    package = Path(_native.__file__).parent
    # An interpreter without a script beside it, as for a package that is only unpacked.
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    variables = {"PYTHONPATH": str(package.parent), "PYTHONHOME": ""}
    found = run(python, "-m", "gbxcule", *DISAGREE, cwd=tmp_path, **variables)
    assert found.returncode == 1 and "MISMATCH" in found.stdout, found.stderr
    (script,) = tmp_path.rglob("repro.sh")
    text = script.read_text()
    assert f"here='{python}'" in text and "words='-m gbxcule'" in text
    again = run(script, cwd=tmp_path, **variables)
    assert again.returncode == 0 and again.stdout.startswith("reproduced"), again.stderr
    other = run(script, cwd=tmp_path, GBXCULE="/no/such/gbxcule", **variables)
    assert other.returncode == 2 and "name it in GBXCULE" in other.stderr


def test_ctrl_c_ends_the_command_while_rust_works(tmp_path):
    lasting = [SCRIPT, "synth", "batch", "--count", "1000000", "--out", "rows"]
    child = subprocess.Popen([str(word) for word in lasting], cwd=tmp_path, stderr=subprocess.DEVNULL)
    while not (tmp_path / "rows/dataset.json").exists():
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=60) == -signal.SIGINT
