"""Places in memory, as people write them."""

import gbxcule
import pytest
from gbxcule.symbol import parse_symbols, range_of


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


def test_labels_of_a_file_name_observations(tmp_path):
    path = tmp_path / "game.sym"
    # Some editors begin a text with a mark.
    path.write_text("00:c000 wSum\n00:c001 wMix\n", encoding="utf-8-sig")
    env = gbxcule.make_vec("ALU_LOOP", obs=gbxcule.Ram("wSum", "wMix"), symbols=path)
    obs, _ = env.reset()
    assert obs.tobytes() == env.read_memory(0, "C000:C002")
    assert parse_symbols("00:c000 wSum") == {"wSum": 0xC000}
