"""Files of the package, and types that type checkers know of it."""

import inspect
import re
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
        # Cargo reads the file at the package's root, where the package is built.
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


def public(thing):
    return {name for name in dir(thing) if name[0] != "_"}


ALL = """
import sys
import gbxcule

for path in sys.argv[1:]:
    found = gbxcule
    try:
        for name in path.split("."):
            found = getattr(found, name)
    except AttributeError as error:
        print(path, error)
"""


def test_names_on_the_pages_are_reached_after_one_import():
    # `python -m gbxcule.benchmark` and imports name modules that nobody reaches by attributes.
    named = re.compile(r"(?<!-m )(?<!from )(?<!import )\bgbxcule\.(?!h\b)([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)")
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    names = {path for page in pages for path in named.findall(page.read_text())}
    assert {"ray.RaySwarm", "adapter.sb3.SwarmVecEnv", "action_log.transitions", "warp.stand_in", "duel.DuelVectorEnv"} <= names
    told = subprocess.run([sys.executable, "-c", ALL, *sorted(names)], capture_output=True, text=True, timeout=300)
    assert told.returncode == 0, told.stderr
    # Only the missing library is named.
    assert all(re.fullmatch(r"\S+ gbxcule\.\S+ needs .*pip install .*", line) for line in told.stdout.splitlines()), told.stdout


def test_the_package_shows_its_public_names_alone():
    assert len(dir(gbxcule)) == len(set(dir(gbxcule)))
    assert {"make_vec", "kernel", "adapter", "ray", "action_log", "warp"} <= public(gbxcule)
    assert not public(gbxcule) & {"ast", "os", "sys", "files", "import_module", "Any", "lazy", "registration"}
    assert public(gbxcule.adapter) == {"pettingzoo", "pool", "puffer", "sb3"}
    assert "ray" not in gbxcule.__all__
    with pytest.raises(AttributeError, match="module 'gbxcule.adapter' has no attribute 'sb4'"):
        gbxcule.adapter.sb4  # noqa: B018


def test_an_environment_shows_its_public_names_alone():
    with gbxcule.make_vec() as env, env.watch() as view:
        assert not public(env) & {"beside_machines", "film", "pressed"}
        assert public(view) == {"url", "held", "close", "is_closed"}


def defaults(function):
    return {name: each.default for name, each in inspect.signature(function).parameters.items()}


def test_functions_that_pass_options_on_show_them_with_their_defaults():
    own = {name: default for name, default in defaults(gbxcule.SwarmVectorEnv).items() if name[0] != "_"}
    assert own["autoreset_mode"] == "NextStep" and own["obs"] == "mean" and own["start_steps"] == 1
    assert defaults(gbxcule.make_vec) == own
    assert defaults(gbxcule.make_vec_for_rank) == {**own, "rank": None}
    assert defaults(gbxcule.adapter.pool.SwarmPool) == {**own, "batch_size": None}
    single = {name: own[name] for name in own if name not in ("num_envs", "autoreset_mode", "copy", "link")}
    assert defaults(gbxcule.make) == defaults(gbxcule.SwarmEnv) == single
    text = inspect.getdoc(gbxcule.make_vec)
    page = (ROOT / "docs/python.md").read_text()
    for name, default in own.items():
        assert re.search(rf"(?<!\w){name}={re.escape(repr(default))}(?!\w)", text), name
        # On the page None is named once.
        shown = name if default is None else f'{name}={repr(default).replace(chr(39), chr(34))}'
        assert re.search(rf"(?<!\w){re.escape(shown)}(?!\w)", page), name


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
reveal_type(gbxcule.adapter.pool.SwarmPool(num_envs=4).num_envs)
"""


def test_type_checkers_know_the_options_and_the_action_space(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    file = tmp_path / "user.py"
    file.write_text(USER)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path), str(file)]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=600).stdout
    spaces = [line for line in printed.splitlines() if "Revealed type" in line]
    for line, space in zip(spaces, ["Discrete", "MultiBinary", "MultiDiscrete", "Discrete", "int"], strict=True):
        assert f"{space}" in line, printed
    assert printed.count("error:") == 2, printed
    assert "frames_per_stp" in printed and '"max_episode_steps"' in printed, printed
