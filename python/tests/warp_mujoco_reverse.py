"""Reverses of the kernels that mujoco_warp's smooth step launches on a humanoid: one line for each refused kernel.

    GBXCULE_MUJOCO=FOLDER python python/tests/warp_mujoco_reverse.py

GBXCULE_MUJOCO is the folder that holds `mujoco` and `mujoco_warp`.
"""

import os
import pathlib
import sys
from typing import Any

import gbxcule.warp
from gbxcule.warp import in_place
from gbxcule.warp.program import Launch

wp = gbxcule.warp.stand_in()
sys.path.append(os.environ["GBXCULE_MUJOCO"])

import mujoco  # type: ignore[import-not-found]  # noqa: E402
import mujoco_warp  # type: ignore[import-not-found]  # noqa: E402

STEPS = ("kinematics", "com_pos", "camlight", "crb", "factor_m", "transmission", "fwd_velocity", "fwd_actuation",
         "fwd_acceleration")  # fmt: skip


def verdict(launch: Launch) -> str:
    """Return "right away", "with copies", or the first line of the refusal and its place."""
    compiled, _ = launch.bound()
    grid = [int(extent) for extent in (launch.dim if isinstance(launch.dim, tuple | list) else [launch.dim])]
    if in_place.copies_for(compiled, grid, list(launch._memories())) is not None:
        return "with copies"
    try:
        _ = compiled.read_by_reverse
    except gbxcule.warp.CompileError as error:
        lines = str(error).splitlines()
        return " ".join(line.strip() for line in lines if line.startswith("error") or "-->" in line)
    return "right away"


def main() -> None:
    models = pathlib.Path(mujoco_warp.__file__).with_name("test_data")
    model = mujoco.MjModel.from_xml_path(str(models / "humanoid" / "humanoid.xml"))
    verdicts: dict[str, str] = {}
    run = Launch.launch

    def recorded(launch: Launch, stream: Any = None) -> None:
        verdicts.setdefault(launch.kernel.key, verdict(launch))
        run(launch, stream)

    m = mujoco_warp.put_model(model)
    d = mujoco_warp.put_data(model, mujoco.MjData(model))
    Launch.launch = recorded  # type: ignore[method-assign]
    for name in STEPS:
        getattr(mujoco_warp, name)(m, d)
    found = list(verdicts.values())
    print(f"{len(found)} kernels: {found.count('right away')} have a reverse, {found.count('with copies')} need copies")
    for kernel, reason in verdicts.items():
        if reason not in ("right away", "with copies"):
            print(f"{kernel}: {reason}")


main()
