"""Several processes are one swarm."""

import os
import subprocess
import sys
from pathlib import Path

import gbxcule
import numpy as np
import pytest
from gbxcule.rank import Rank

PROCESS = """
import sys
import gbxcule, numpy as np
env = gbxcule.make_vec_for_rank(num_envs=5, obs="gray", frames_per_step=4, release_after_frames=2)
env.reset(seed=3)
for step in range(6):
    actions = (np.array(env.envs) * 5 + step) % 9
    obs, *_ = env.step(actions)
np.save(sys.argv[1], obs)
"""


def test_two_processes_play_the_games_of_one_swarm(tmp_path):
    processes = []
    for rank in range(2):
        environment = os.environ | {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)}
        command = [sys.executable, "-c", PROCESS, str(tmp_path / f"{rank}.npy")]
        processes.append(subprocess.Popen(command, env=environment))
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    together = np.concatenate([np.load(tmp_path / f"{rank}.npy") for rank in range(2)])
    env = gbxcule.make_vec(num_envs=5, obs="gray", frames_per_step=4, release_after_frames=2)
    env.reset(seed=3)
    for step in range(6):
        obs, *_ = env.step((np.arange(5) * 5 + step) % 9)
    assert np.array_equal(together, obs)


def test_shares_cover_all_envs_once():
    for total in (1, 2, 7, 64):
        for world in (1, 2, 3, 5):
            shares = [Rank(rank, world).share(total) for rank in range(world)]
            assert [env for share in shares for env in share] == list(range(total))
            assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, Rank()),
        ({"RANK": "2", "WORLD_SIZE": "4", "LOCAL_RANK": "1"}, Rank(2, 4, 1)),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "1"}, Rank(1, 2, 1)),
        ({"MV2_COMM_WORLD_RANK": "1", "MV2_COMM_WORLD_SIZE": "2", "MV2_COMM_WORLD_LOCAL_RANK": "0"}, Rank(1, 2, 0)),
        ({"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1"}, Rank(1, 2, 1)),
        ({"PMI_RANK": "3", "PMI_SIZE": "4"}, Rank(3, 4, 0)),
        ({"SLURM_PROCID": "1", "SLURM_NTASKS": "3", "SLURM_STEP_NUM_TASKS": "3", "SLURM_LOCALID": "0"}, Rank(1, 3, 0)),
        # `srun` of two tasks in a job of four.
        ({"SLURM_PROCID": "1", "SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": "2", "SLURM_LOCALID": "1"}, Rank(1, 2, 1)),
        # `mpirun` whose proxies were started by `srun`, one a node.
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "PMI_RANK": "2", "PMI_SIZE": "4"}, Rank(2, 4, 0)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_LOCALID": "0"}, Rank()),
    ],
)
def test_ranks_are_read_as_launchers_set_them(environment, expected):
    assert Rank.from_environment(environment) == expected


def test_a_script_that_srun_did_not_start_is_alone_and_is_told():
    batch = {"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_LOCALID": "0"}
    with pytest.warns(UserWarning, match="Slurm gave this job 4 tasks, and srun did not start this process"):
        assert Rank.from_environment(batch) == Rank()


def test_too_few_envs_and_impossible_ranks_are_refused():
    with pytest.raises(ValueError, match="too few for 3 processes"):
        gbxcule.make_vec_for_rank(num_envs=2, rank=Rank(0, 3))
    with pytest.raises(ValueError, match="the ranks of 3 processes are 0 to 2, found 3"):
        Rank(3, 3)


def test_ray_actors_play_the_games_of_one_swarm(tmp_path):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    from gbxcule.ray import RaySwarm

    ray.init(num_cpus=2, resources={"emulator": 2}, include_dashboard=False, log_to_driver=False)
    try:
        options = {"obs": "mean", "frames_per_step": 4, "release_after_frames": 2}
        swarm = RaySwarm(num_envs=5, num_actors=2, actor_options={"num_cpus": 1, "resources": {"emulator": 1}}, **options)
        env = gbxcule.make_vec(num_envs=5, **options)
        expected, _ = env.reset(seed=9)
        found, _ = swarm.reset(seed=9)

        def step(number):
            actions = (np.arange(5) + number) % 9
            played = [each.step(actions) for each in (swarm, env)]
            assert np.array_equal(played[0][0], played[1][0])
            assert np.array_equal(played[0][1], played[1][1])

        assert np.array_equal(found, expected)
        for number in range(5):
            step(number)
        # An actor is lost; all actors continue from the checkpoint.
        paths = swarm.checkpoint(tmp_path / "five")
        env.checkpoint(tmp_path / "one.ckpt")
        step(5)
        ray.kill(swarm.actors[1])
        with pytest.raises(ray.exceptions.RayActorError):
            swarm.step(np.zeros(5, int))
        swarm.restore(paths)
        env = gbxcule.restore(tmp_path / "one.ckpt")
        for number in range(5, 9):
            step(number)
        swarm.close()
        with pytest.raises(TypeError, match="actor_options are Ray's"):
            RaySwarm(actor_options=2)
    finally:
        ray.shutdown()


DIES_ONCE = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv.pop(1))
import ppo_torchrun
update, mark = ppo_torchrun.Learner.update, Path(sys.argv.pop(1))
def dies_once(self, left):
    if self.updates == 3 and os.environ["RANK"] == "1" and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    update(self, left)
ppo_torchrun.Learner.update = dies_once
ppo_torchrun.main()
"""


def test_a_torchrun_job_goes_on_to_the_same_weights_after_a_process_was_killed(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    script, examples = tmp_path / "job.py", Path(__file__).parents[2] / "examples" / "scale"
    script.write_text(DIES_ONCE)

    def run(out, mark, processes=2, updates=5):
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), "--max-restarts", "1"]
        command += [str(script), str(examples), str(mark), "--out", str(out), "--envs", "12", "--updates", str(updates), "--every", "2"]
        subprocess.run(command, check=True, timeout=600)

    untouched = tmp_path / "mark"
    untouched.touch()
    # A shared store, in which Gloo would find the addresses of dead processes, is refused.
    with pytest.raises(subprocess.CalledProcessError):
        run(tmp_path / "shared", untouched)
    monkeypatch.setenv("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "1")
    run(tmp_path / "whole", untouched)
    run(tmp_path / "killed", tmp_path / "killed.mark")
    assert (tmp_path / "killed.mark").exists()
    for rank in range(2):
        whole, killed = (torch.load(tmp_path / name / "update-5" / f"{rank}.pt") for name in ("whole", "killed"))
        assert all(torch.equal(whole["agent"][name], killed["agent"][name]) for name in whole["agent"])
        assert torch.equal(whole["seen"], killed["seen"]) and torch.equal(whole["random"], killed["random"])
    # Three processes continue from the checkpoints of two.
    run(tmp_path / "whole", untouched, processes=3, updates=7)
    assert len(list((tmp_path / "whole" / "update-7").glob("*.ckpt"))) == 3


def test_ranks_go_on_from_a_seed_of_numpys_too():
    first = gbxcule.make_vec_for_rank(num_envs=2, rank=Rank(0, 2))
    second = gbxcule.make_vec_for_rank(num_envs=2, rank=Rank(1, 2))
    (one, _), (other, _) = first.reset(seed=np.int64(3)), second.reset(seed=np.int64(3))
    (expected, _) = gbxcule.make_vec(num_envs=2).reset(seed=3)
    assert np.array_equal(np.concatenate([one, other]), expected)


def test_ranks_that_are_no_numbers_are_named():
    with pytest.raises(ValueError, match="RANK is a whole number, found `one`"):
        Rank.from_environment({"RANK": "one", "WORLD_SIZE": "2"})


def test_a_checkpoint_keeps_its_part_of_the_swarm(tmp_path):
    env = gbxcule.make_vec_for_rank(num_envs=4, rank=Rank(1, 2), obs=gbxcule.Ram("Random"))
    env.reset(seed=3)
    env.checkpoint(tmp_path / "part.ckpt")
    again = gbxcule.restore(tmp_path / "part.ckpt")
    assert again.envs == env.envs == range(2, 4)
    assert np.array_equal(again.reset(seed=3)[0], env.reset(seed=3)[0])


def test_a_part_is_restored_by_its_own_rank(tmp_path, monkeypatch):
    env = gbxcule.make_vec_for_rank(num_envs=7, rank=Rank(1, 3), obs=gbxcule.Ram("Random"))
    env.reset(seed=3)
    env.checkpoint(tmp_path / "part.ckpt")
    for rank, world_size in [(0, 2), (0, 3), (1, 2), (1, 4)]:
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", str(world_size))
        message = f"holds the envs 2 to 3, the part of rank 1 of 3 processes, and this process is rank {rank} of {world_size}"
        with pytest.raises(ValueError, match=message):
            gbxcule.restore(tmp_path / "part.ckpt")
    monkeypatch.setenv("WORLD_SIZE", "3")
    monkeypatch.setenv("RANK", "1")
    again = gbxcule.restore(tmp_path / "part.ckpt")
    assert (again.envs, again.rank) == (range(2, 4), Rank(1, 3))
    assert np.array_equal(again.step([0, 1])[0], env.step([0, 1])[0])


TASK = """
import gbxcule as gb
import warp as wp
SCRATCH = 1
OBS_DIM = 2
WEIGHTS = 1
@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), weights: wp.array(dtype=wp.float32)) -> wp.float32:
    scratch[0] += weights[0]
    return scratch[0]
@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = scratch[0]
    obs[1] = wp.float32(gb.read16(machine, "Random"))
"""
OPTIONS = {"obs": {"features": TASK, "screen": "gray", "sound": "audio"}, "reward": TASK, "weights": [0.5], "sticky": 0.25,
           "frame_stack": 2, "resize": 36, "max_episode_steps": 9, "noop_max": 3, "info": {"score": gbxcule.Number("Score", 2)}}


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize(("before", "after"), [(3, 2), (2, 3), (1, 4), (3, 1)])
def test_parts_of_a_job_go_on_in_a_job_of_another_size(before, after, mode, tmp_path):
    total, options = 8, OPTIONS | {"autoreset_mode": mode}
    whole = gbxcule.make_vec("EMBER_LEAP", total, **options)
    parts = [gbxcule.make_vec_for_rank("EMBER_LEAP", total, rank=Rank(rank, before), **options) for rank in range(before)]
    for env in (whole, *parts):
        env.reset(seed=6)
    rng = np.random.default_rng(1)

    def step(envs):
        actions = rng.integers(len(whole.action_names), size=total)
        expected = whole.step(actions)
        found = [env.step(actions[env.envs.start : env.envs.stop]) for env in envs]
        for place in range(1, 4):
            assert np.array_equal(np.concatenate([each[place] for each in found]), expected[place])
        for name, rows in expected[0].items():
            assert np.array_equal(np.concatenate([each[0][name] for each in found]), rows), name
        assert np.array_equal(np.concatenate([each[4]["score"] for each in found]), expected[4]["score"])

    for _ in range(13):
        step(parts)
    paths = [tmp_path / f"{rank}.ckpt" for rank in range(before)]
    for env, path in zip(parts, paths, strict=True):
        env.checkpoint(path)
    again = [gbxcule.restore(paths[::-1], rank=Rank(rank, after), threads=1) for rank in range(after)]
    assert [env.envs for env in again] == [Rank(rank, after).share(total) for rank in range(after)]
    assert [env.rank for env in again] == [Rank(rank, after) for rank in range(after)]
    for _ in range(13):
        step(again)


def test_parts_that_are_missing_or_of_another_job_are_named(tmp_path):
    for rank in range(3):
        env = gbxcule.make_vec_for_rank(num_envs=6, rank=Rank(rank, 3))
        env.checkpoint(tmp_path / f"{rank}.ckpt")
    gbxcule.make_vec_for_rank(num_envs=6, rank=Rank(2, 3), frames_per_step=4).checkpoint(tmp_path / "other.ckpt")
    paths = [tmp_path / f"{rank}.ckpt" for rank in range(3)]
    with pytest.raises(ValueError, match=r"hold each env once, from env 0 on, found .*0.ckpt \(0 to 1\), .*2.ckpt \(4 to 5\)"):
        gbxcule.restore([paths[0], paths[2]])
    with pytest.raises(ValueError, match="their ROMs, options or starts differ"):
        gbxcule.restore([*paths[:2], tmp_path / "other.ckpt"])
    with pytest.raises(ValueError, match="6 envs are too few for 7 processes"):
        gbxcule.restore(paths, rank=Rank(0, 7))
    with pytest.raises(TypeError, match="a list of the paths of all parts of a job"):
        gbxcule.restore(7)
    assert gbxcule.restore(paths).num_envs == 6


def test_processes_of_any_launcher_play_what_one_process_does():
    (expected, _) = gbxcule.make_vec(num_envs=5, obs=gbxcule.Ram("Random:0xC00E")).reset(seed=4)
    found = []
    for rank in range(3):
        env = gbxcule.make_vec_for_rank(num_envs=5, rank=Rank(rank, 3), obs=gbxcule.Ram("Random:0xC00E"))
        found.append(env.reset(seed=4)[0])
    assert np.array_equal(np.concatenate(found), expected)
