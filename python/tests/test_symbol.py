"""Places in memory, in every spelling that users may write."""

import gbxcule
import numpy as np
import pytest
from gbxcule.symbol import banked_range_of, parse_symbols, place_of, range_of


def test_sym_files_are_read_as_assemblers_write_them(tmp_path):
    text = "; made by an assembler\n[labels]\n00:c000 wScore\n01:4000 Bank.loop ; a comment\n\n"
    path = tmp_path / "game.sym"
    path.write_text(text)
    assert gbxcule.load_symbols(path) == {"wScore": 0xC000, "Bank.loop": 0x4000}


def test_a_file_without_symbols_is_refused(tmp_path):
    path = tmp_path / "empty.sym"
    path.write_text("nothing")
    with pytest.raises(ValueError, match="holds no symbols"):
        gbxcule.load_symbols(path)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (0xC000, (0xC000, 0xC001)),
        ("C000", (0xC000, 0xC001)),
        ("$C000:$C010", (0xC000, 0xC010)),
        ("wScore", (0xC123, 0xC124)),
        (("wScore", 2), (0xC123, 0xC125)),
        ("wScore:wEnd", (0xC123, 0xC130)),
        ("0xFFFF:0x10000", (0xFFFF, 0x10000)),
    ],
)
def test_places_are_addresses_labels_and_ranges(place, expected):
    assert range_of(place, {"wScore": 0xC123, "wEnd": 0xC130}) == expected


@pytest.mark.parametrize("place", ["C010:C000", "C000:C000", 0x10000, ("C000", 0), "elsewhere"])
def test_places_that_are_nowhere_are_refused(place):
    with pytest.raises(ValueError):
        range_of(place, {})


@pytest.mark.parametrize("place", [0x10000, "10000", -1])
def test_the_end_of_memory_is_no_place(place):
    # The bits above 16 hold the bank plus one: this number would be bank 0's first byte.
    with pytest.raises(ValueError, match="not inside"):
        place_of(place, {})
    with pytest.raises(ValueError, match="not inside"):
        gbxcule.make_vec("ALU_LOOP", info={"x": gbxcule.Number(place)})


def test_labels_of_a_file_name_observations(tmp_path):
    path = tmp_path / "game.sym"
    # Some editors begin a text with a mark.
    path.write_text("00:c000 wSum\n00:c001 wMix\n", encoding="utf-8-sig")
    env = gbxcule.make_vec("ALU_LOOP", obs=gbxcule.Ram("wSum", "wMix"), symbols=path)
    obs, _ = env.reset()
    assert obs.tobytes() == env.read_memory(0, "C000:C002")
    assert parse_symbols("00:c000 wSum") == {"wSum": 0xC000}


def test_places_are_read_in_their_banks():
    symbols = parse_symbols("02:D000 wBanked\n00:C000 wScore\n03:4000 Code\n00:4150 Tiny\n01:8000 vTiles\n01:FF80 h")
    for place, expected in [
        ("wBanked", (0x3D000, 0x3D001)),
        (("wBanked", 4), (0x3D000, 0x3D004)),
        ("wBanked:D010", (0x3D000, 0x3D010)),
        ("02:D100", (0x3D100, 0x3D101)),
        (("02:D100", 2), (0x3D100, 0x3D102)),
        ("Code", (0x44000, 0x44001)),
        ("vTiles", (0x28000, 0x28001)),
        ("wScore", (0xC000, 0xC001)),
        ("Tiny", (0x4150, 0x4151)),
        ("h", (0xFF80, 0xFF81)),
        ("C000:C010", (0xC000, 0xC010)),
        (0xD000, (0xD000, 0xD001)),
    ]:
        assert banked_range_of(place, symbols) == expected, place
    assert range_of("wBanked", symbols) == (0xD000, 0xD001)


def test_a_banks_memory_is_read_whatever_is_mapped():
    text = "02:D000 wTwo\n01:D000 wOne"
    env = gbxcule.make_vec("COLOR_BANKS", num_envs=2, symbols=parse_symbols(text), reward=gbxcule.Change("wTwo"),
                           obs=gbxcule.Ram("wTwo", ("03:D000", 4)), start_steps=0)
    env.reset(seed=0)
    seen, *_ = env.step([0, 0])
    one, two, three = (env.read_memory(0, (place, 4)) for place in ("wOne", "wTwo", "03:D000"))
    assert bytes(seen[0]) == two[:1] + three
    assert len({one, two, three}) == 3
    with pytest.raises(ValueError, match="address D000 has 8 banks, from 0 on, found bank 9"):
        env.read_memory(0, "09:D000")


def test_a_banks_memory_is_written_and_drawn_whatever_is_mapped():
    symbols = parse_symbols("05:D010 wChance\n02:D000 wTwo")
    options = {"symbols": symbols, "start_steps": 0, "chance": gbxcule.Number("wChance", 2)}
    env = gbxcule.make_vec("COLOR_BANKS", num_envs=3, **options)
    env.reset(seed=7)
    drawn = [env.read_memory(number, ("05:D010", 2)) for number in range(3)]
    assert len({*drawn}) == 3 and b"\0\0" not in drawn
    before = env.read_memory(1, ("D000", 16))
    env.write_memories(np.array([True, False, True]), ("wTwo", 2), np.array([[1, 2], [3, 4]], np.uint8))
    env.write_memory(1, "06:D000", b"\7")
    assert [env.read_memory(number, ("02:D000", 2)) for number in (0, 2)] == [b"\1\2", b"\3\4"]
    assert env.read_memory(1, "06:D000") == b"\7" and env.read_memory(1, ("D000", 16)) == before
    with pytest.raises(ValueError, match="address D000 has 8 banks, from 0 on, found bank 9"):
        env.write_memory(0, "09:D000", b"\0")
    with pytest.raises(ValueError, match="address D000 has 8 banks, from 0 on, found bank 8"):
        gbxcule.make_vec("COLOR_BANKS", num_envs=1, chance=gbxcule.Number("08:D000"))
    with env.watch(port=0, heatmap=("wTwo", ("05:D010", 2))) as page:
        env.step([0, 0, 0])
        assert page.url
def test_symbols_of_ones_own_come_beside_those_of_a_built_in_game():
    env = gbxcule.make_vec("EMBER_LEAP", num_envs=1, symbols={"wMine": 0xC100}, info={"mine": gbxcule.Number("wMine")})
    known = gbxcule.make_vec("EMBER_LEAP", num_envs=1).symbols
    assert dict(env.symbols) == {**known, "wMine": 0xC100}
    assert "mine" in env.reset(seed=0)[1]
    other = gbxcule.make_vec("EMBER_LEAP", num_envs=1, symbols={"Score": 0xC100})
    assert other.symbols["Score"] == 0xC100
