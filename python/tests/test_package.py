"""Files of the package, and types that type checkers know of it."""

import inspect
import shutil
import subprocess
import sys
import tarfile

import gbxcule
import pytest
from conftest import ROOT
from gbxcule import option


def test_the_source_package_has_the_flags_that_make_the_machine_fast(tmp_path):
    maturin = shutil.which("maturin", path=f"{sys.prefix}/bin")
    if maturin is None or shutil.which("cargo") is None:
        pytest.skip("maturin or cargo is not installed")
    subprocess.run([maturin, "sdist", "--out", str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (package,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(package) as files:
        (config,) = [name for name in files.getnames() if name.endswith("/.cargo/config.toml")]
        # Cargo reads it where the package is built: at its root.
        assert config.count("/") == 2
        assert files.extractfile(config).read() == (ROOT / ".cargo/config.toml").read_bytes()


def keywords(function):
    parameters = inspect.signature(function).parameters.values()
    return {each.name: each.annotation for each in parameters if each.kind is each.KEYWORD_ONLY and each.name[0] != "_"}


def annotations(options):
    return {name: getattr(each, "__forward_arg__", each) for name, each in inspect.get_annotations(options).items()}


def test_the_typed_options_are_those_that_an_environment_takes():
    taken = keywords(gbxcule.SwarmVectorEnv.__init__)
    typed = annotations(option.Options)
    assert typed == taken
    discrete = annotations(option.DiscreteOptions)
    assert discrete.keys() == typed.keys()
    assert {name for name in typed if discrete[name] != typed[name]} == {"actions"}
    single = annotations(option.SingleOptions)
    assert single.keys() == typed.keys() - {"autoreset_mode", "copy", "link"}


USER = """
import gbxcule

env = gbxcule.make_vec("ALU_LOOP", 3, frames_per_step=4, obs="gray")
number: int = int(env.single_action_space.n)
reveal_type(env.single_action_space)
reveal_type(gbxcule.make_vec(actions=gbxcule.Buttons("A")).single_action_space)
reveal_type(gbxcule.make_vec(actions=gbxcule.Choices(["A"], ["B"])).single_action_space)
reveal_type(gbxcule.make_vec(actions=[["A", "RIGHT"], gbxcule.Press("A", frames=3)]).single_action_space)
gbxcule.make_vec(frames_per_stp=4)
gbxcule.make(max_episode_steps="4")
"""


def test_type_checkers_know_the_options_and_the_action_space(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    file = tmp_path / "user.py"
    file.write_text(USER)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path), str(file)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=600).stdout
    spaces = [line for line in said.splitlines() if "Revealed type" in line]
    for line, space in zip(spaces, ["Discrete", "MultiBinary", "MultiDiscrete", "Discrete"], strict=True):
        assert f".{space}" in line, said
    assert said.count("error:") == 2, said
    assert "frames_per_stp" in said and '"max_episode_steps"' in said, said
