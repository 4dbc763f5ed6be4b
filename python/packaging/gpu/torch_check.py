"""Does PyTorch see what a step left on the device, without a copy and on a side stream? How long does a step take?

`--small` tries the same with the stand-in for the driver, where PyTorch has no device.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

import gbxcule

FRAMES = 24
GAME = "PEARL_DRIFT"


def timed(name: str, act: object, count: int, envs: int) -> None:
    """Prints the time of an act."""
    begun = time.perf_counter()
    for at in range(count):
        act(at)  # type: ignore[operator]
    step_s = (time.perf_counter() - begun) / count
    print(json.dumps({"what": name, "envs": envs, "ms": 1e3 * step_s, "frames_per_s": FRAMES * envs / step_s}), flush=True)


def check(torch: object, env: object, actions: object) -> None:
    """The arrays that PyTorch takes are the memory that the step writes, on the default stream and on another."""
    arrays = env.device_arrays
    found, reward, *_ = env.step(actions[0])
    view, again = (torch.from_dlpack(arrays["observations"]) for _ in range(2))
    assert view.data_ptr() == again.data_ptr(), "a copy was made"
    assert np.array_equal(view.cpu().numpy(), found), "PyTorch sees other observations"
    assert np.array_equal(torch.from_dlpack(arrays["rewards"]).cpu().numpy(), reward), "other rewards"
    env.step(actions[1])
    fresh = torch.from_dlpack(arrays["observations"])
    assert fresh.data_ptr() == view.data_ptr(), "the step wrote elsewhere"
    print("zero copy: the same memory, equal values", flush=True)
    current = torch.cuda.current_device()
    with torch.cuda.stream(torch.cuda.Stream()):
        for row in actions[2:8]:
            found = env.step(row)[0]
            assert np.array_equal(torch.from_dlpack(arrays["observations"]).cpu().numpy(), found), "on a side stream"
    assert torch.cuda.current_device() == current, "PyTorch's device was changed"
    print("side stream: equal", flush=True)


def main() -> None:
    """Checks, then measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true")
    small = parser.parse_args().small
    envs, count = (8, 2) if small else (4096, 50)
    torch = None
    if not small:
        import torch

        torch.zeros(1, device="cuda")
    env = gbxcule.make_vec(GAME, envs, obs=GAME, reward=GAME, device="cuda")
    env.reset(seed=1)
    actions = np.random.default_rng(0).integers(0, env.single_action_space.n, (64, envs))
    print({name: (array.shape, array.dtype) for name, array in env.device_arrays.items()}, flush=True)
    if torch is not None:
        check(torch, env, actions)
    for row in actions[:4]:
        env.step(row)
    timed("env.step", lambda at: env.step(actions[at % 64]), count, envs)
    print("done")


if __name__ == "__main__":
    main()
