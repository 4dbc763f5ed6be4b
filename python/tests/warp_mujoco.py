"""A humanoid that falls, stepped by mujoco_warp (github.com/google-deepmind/mujoco_warp), unchanged.

Run by NVIDIA Warp and by gbxcule.warp; GBXCULE_MUJOCO is the folder that holds `mujoco` and `mujoco_warp`. The sums
of its solver differ in the last bits.
"""

import os
import pathlib
import sys

sys.path.append(os.environ["GBXCULE_MUJOCO"])

import mujoco  # type: ignore[import-not-found]  # noqa: E402
import mujoco_warp  # type: ignore[import-not-found]  # noqa: E402


class Example:
    def __init__(self) -> None:
        models = pathlib.Path(mujoco_warp.__file__).with_name("test_data")
        model = mujoco.MjModel.from_xml_path(str(models / "humanoid" / "humanoid.xml"))
        self.model = mujoco_warp.put_model(model)
        self.data = mujoco_warp.put_data(model, mujoco.MjData(model))

    def step(self) -> None:
        mujoco_warp.step(self.model, self.data)
        self.near_qpos, self.near_qvel, self.near_xpos = self.data.qpos, self.data.qvel, self.data.xpos
