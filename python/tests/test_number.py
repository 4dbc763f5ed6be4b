"""Numbers in memory, in the forms that games use."""

import gbxcule
import numpy as np
import pytest
from gbxcule.memory import bounds_of, numbers_in

RANDOM = np.random.default_rng(7)


def test_bytes_are_read_as_pythons_own_integers():
    for width in range(1, 8):
        rows = RANDOM.integers(256, size=(50, width), dtype=np.uint8)
        rows[0], rows[1] = 0xFF, 0x80
        for big in (False, True):
            for signed in (False, True):
                number = gbxcule.Number(0xC000, width, big_endian=big, signed=signed)
                order = "big" if big else "little"
                expected = [int.from_bytes(row.tobytes(), order, signed=signed) for row in rows]
                assert numbers_in(rows, number).tolist() == expected
                low, high = bounds_of(number)
                assert low <= min(expected) and max(expected) <= high


def test_decimal_digits_are_read_as_they_are_written():
    for width in range(1, 8):
        for value in RANDOM.integers(100**width, size=30).tolist():
            digits = bytes.fromhex(str(value).zfill(2 * width))
            for big in (False, True):
                rows = np.frombuffer(digits if big else digits[::-1], np.uint8)[None]
                number = gbxcule.Number(0xC000, width, big_endian=big, bcd=True)
                assert numbers_in(rows, number).tolist() == [value] and value <= bounds_of(number)[1]


def test_infos_rewards_ends_and_observations_have_such_numbers():
    money = gbxcule.Number(0xC0F0, 3, big_endian=True, bcd=True)
    env = gbxcule.make_vec(
        num_envs=2,
        obs={"numbers": gbxcule.Numbers(money, gbxcule.Number(0xC0F0, signed=True)), "bytes": gbxcule.Ram(0xC0F0)},
        reward=gbxcule.Change(0xC0F0, 3, scale=0.5, big_endian=True, bcd=True),
        info={"money": money},
    )
    env.reset(seed=0)
    env.write_memory(1, 0xC0F0, bytes([0x98, 0x76, 0x54]))
    obs, rewards, *_, infos = env.step(np.array([8, 8]))
    assert env.observation_space.contains(obs) and obs["numbers"].dtype == np.int64
    assert infos["money"].tolist() == [0, 987654] and rewards.tolist() == [0, 0]
    assert obs["numbers"].tolist() == [[0, 0], [987654, 0x98 - 256]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"signed": True, "bcd": True}, "signed or bcd"),
        ({"big_endian": 1}, "big_endian is True or False"),
        ({"width_bytes": 8}, "1 to 7 bytes"),
    ],
)
def test_forms_that_no_number_has_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        gbxcule.Number(0xC000, **arguments)
    with pytest.raises((ValueError, TypeError), match=message):
        gbxcule.Change(0xC000, **arguments)


def test_objects_that_are_no_numbers_are_refused():
    with pytest.raises(TypeError, match="Numbers takes gbxcule.Number, found 'wScore'"):
        gbxcule.Numbers("wScore")
    with pytest.raises(ValueError, match="at least one number"):
        gbxcule.Numbers()
