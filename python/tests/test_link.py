"""Pairs of machines with a cable, and PettingZoo's interface to them."""

import importlib.util

import gbxcule
import numpy as np
import pytest

SMALL = {"frames_per_step": 4, "release_after_frames": 2}
PING_PONG = "LINK_PING_PONG"


def test_the_ball_comes_and_goes():
    catches = {"catches": gbxcule.Number(0xC001)}
    env = gbxcule.make_vec(PING_PONG, num_envs=4, link="pairs", actions=[[], ["A"]], info=catches, **SMALL)
    env.reset(seed=3)
    for _ in range(12):
        *_, infos = env.step(np.array([1, 0, 0, 0]))
    assert (infos["catches"][:2] >= 16).all() and (infos["catches"][2:] == 0).all()


def test_episodes_of_a_pair_end_together():
    env = gbxcule.make_vec(
        PING_PONG, num_envs=4, link="pairs", actions=[[], ["A"]], done=gbxcule.Number(0xC001), **SMALL
    )
    env.reset(seed=3)
    for _ in range(6):
        _, _, terminated, truncated, _ = env.step(np.array([1, 0, 0, 0]))
        if terminated.any():
            break
    assert ((terminated | truncated) == [True, True, False, False]).all()
    with pytest.raises(ValueError, match="episodes of a pair begin together: the mask marks env 2"):
        env.reset(options={"reset_mask": np.array([False, False, True, False])})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 3, "link": "pairs"}, "pairs need an even number of machines, found 3"),
        ({"num_envs": 2, "link": "ring"}, "no link `ring`; there are open, pairs"),
        ({"num_envs": 2, "link": "pairs", "audio": True}, "machines with a cable have no sound"),
    ],
)
def test_options_that_pairs_cannot_have_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        gbxcule.make_vec(**options)


@pytest.mark.skipif(importlib.util.find_spec("pettingzoo") is None, reason="PettingZoo is not installed")
@pytest.mark.parametrize("obs", ["mean", {"screen": "gray", "ram": gbxcule.Ram(0xC000)}])
def test_a_pair_passes_petting_zoos_own_test(obs):
    from gbxcule.adapter.pettingzoo import PairEnv
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    parallel_api_test(PairEnv(obs=obs, max_episode_steps=20, **SMALL), num_cycles=100)
    parallel_seed_test(lambda: PairEnv(max_episode_steps=20, **SMALL))


@pytest.mark.skipif(importlib.util.find_spec("pettingzoo") is None, reason="PettingZoo is not installed")
def test_two_agents_play_a_game_to_its_end():
    from gbxcule.adapter.pettingzoo import AGENTS, PairEnv

    numbers = {
        "score": gbxcule.Number("Score"),
        "rivals": gbxcule.Number("Lives"),
        "result": gbxcule.Number("Level"),
        "taken": gbxcule.Number("Taken"),
        "rest": gbxcule.Number("Rest"),
        "place": gbxcule.Number("PlayerX", 2),
        "pearl": gbxcule.Number("Pearls", 2),
    }
    buttons = ["NOOP", "UP", "DOWN", "LEFT", "RIGHT", "A"]
    env = PairEnv(
        "PEARL_HEIST",
        actions=",".join(buttons),
        frames_per_step=2,
        info=numbers,
    )

    def toward_pearl(info):
        (pearl_y, pearl_x), (y, x) = divmod(int(info["pearl"]), 256), divmod(int(info["place"]), 256)
        if abs(pearl_x - 4 - x) > 2:
            return "RIGHT" if pearl_x - 4 > x else "LEFT"
        return "DOWN" if pearl_y > y else "UP"

    # The first player calls and launches eels, the second player only gathers, at half the speed.
    _, infos = env.reset(seed=5)
    total = dict.fromkeys(AGENTS, 0.0)
    steps = 0
    while env.agents:
        first, second = (infos[agent] for agent in AGENTS)
        choice = {
            AGENTS[0]: "A" if first["rest"] == 0 and steps % 2 == 0 else toward_pearl(first),
            AGENTS[1]: toward_pearl(second) if steps % 2 else "NOOP",
        }
        _, rewards, terminated, truncated, infos = env.step({agent: buttons.index(choice[agent]) for agent in choice})
        for agent in AGENTS:
            total[agent] += rewards[agent]
        steps += 1
        assert steps < 2500
    first, second = (infos[agent] for agent in AGENTS)
    assert all(terminated[agent] or truncated[agent] for agent in AGENTS)
    assert first["score"] >= 20 > second["score"]
    assert (first["result"], second["result"]) == (1, 2)
    assert (first["rivals"], second["rivals"]) == (second["score"], first["score"])
    assert first["taken"] > 0 and second["taken"] == 0
    assert total == {agent: float(infos[agent]["score"]) for agent in AGENTS}


@pytest.mark.skipif(importlib.util.find_spec("pettingzoo") is None, reason="PettingZoo is not installed")
def test_a_pair_has_the_reward_the_end_and_the_buttons_of_its_game():
    from gbxcule.adapter.pettingzoo import PairEnv

    env = PairEnv("PEARL_HEIST")
    _, infos = env.reset(seed=1)
    assert env.action_space("player_0").n == 7 and infos["player_0"] == {"score": 0, "rivals": 0, "result": 0}
    rng, earned, steps = np.random.default_rng(0), 0.0, 0
    while env.agents:
        _, rewards, terminations, truncations, infos = env.step({agent: int(rng.integers(7)) for agent in env.agents})
        earned, steps = earned + sum(map(abs, rewards.values())), steps + 1
    assert earned > 0 and any(terminations.values()) and infos["player_0"]["result"] in (1, 2, 3)
    # Nobody calls: the title lasts as long as an episode may.
    env.reset(seed=1)
    steps = 0
    while env.agents:
        _, _, terminations, truncations, _ = env.step(dict.fromkeys(env.agents, 0))
        steps += 1
    assert steps == 4500 and all(truncations.values()) and not any(terminations.values())


def test_the_program_of_a_game_for_two_pays_each_its_own_pearls():
    numbers = {"score": gbxcule.Number("Score", 2), "rivals": gbxcule.Number("Lives")}
    with gbxcule.make_vec(
        "PEARL_HEIST", num_envs=4, link="pairs", actions="NOOP,UP,DOWN,LEFT,RIGHT,A,B", frames_per_step=4,
        release_after_frames=4, reward="PEARL_HEIST", obs="PEARL_HEIST", info=numbers, autoreset_mode="Disabled",
        chance=gbxcule.Number("Random", 2),
    ) as env:
        _, infos = env.reset(seed=2)
        before, gathered = infos["score"].astype(int), 0
        actions = np.random.default_rng(2).integers(7, size=(1200, 4))
        for action in actions:
            observed, rewards, terminated, truncated, infos = env.step(action)
            if terminated.any() or truncated.any():
                break
            score = infos["score"].astype(int)
            assert rewards.tolist() == (score - before).tolist()
            assert observed[:, 3].tolist() == (score.astype(np.float32) / np.float32(20)).tolist()
            gathered += int((score > before).sum())
            before = score
        assert gathered > 3


@pytest.mark.skipif(importlib.util.find_spec("pettingzoo") is None, reason="PettingZoo is not installed")
def test_actions_that_are_not_one_for_each_agent_are_named():
    from gbxcule.adapter.pettingzoo import PairEnv

    env = PairEnv(**SMALL)
    env.reset(seed=0)
    for actions in ({}, {"player_0": 0}, {"player_0": 0, "player_2": 0}, [0, 0], None):
        with pytest.raises(ValueError, match="an action for each of player_0 and player_1, found"):
            env.step(actions)
    with pytest.raises(TypeError, match="`num_envs` can't be chosen here"):
        PairEnv(num_envs=4)


@pytest.mark.skipif(importlib.util.find_spec("pettingzoo") is None, reason="PettingZoo is not installed")
def test_agents_draw_actions_of_their_own():
    from gbxcule.adapter.pettingzoo import PairEnv

    env = PairEnv(**SMALL)
    env.reset(seed=0)
    drawn = [[int(env.action_space(agent).sample()) for _ in range(40)] for agent in env.agents]
    assert drawn[0] != drawn[1]
