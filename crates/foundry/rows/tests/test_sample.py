"""The usual libraries for datasets load the sample, and give the same rows. `make test-dataset` runs it."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

SAMPLE = Path(__file__).parents[4] / "examples" / "dataset"


@pytest.fixture(scope="module")
def table():
    return pq.read_table(SAMPLE / "data")


def test_plain_pyarrow_reads_every_row_and_the_schema_version(table):
    manifest = json.loads((SAMPLE / "dataset.json").read_text())
    assert table.schema.metadata[b"gbxcule_schema_version"] == str(manifest["schema_version"]).encode()
    assert sorted(table.column("id").to_pylist()) == list(range(manifest["count"]))


def test_every_column_may_be_null_and_has_the_type_that_readers_know(table):
    numbers = {"id": "uint64", "attempt": "uint32"}
    other = {"generator_version": "uint32", "in_warp": "bool"}
    dims = {name: "list<item: uint32>" for name in ["launch_dims", "real_launch_dims", "block_dims"]}
    lists = dims | {"kernels": "list<item: string>", "features": "list<item: string>"}
    found = {field.name: str(field.type) for field in table.schema if str(field.type) != "string"}
    assert found == numbers | other | lists
    assert all(field.nullable for field in table.schema)


def test_every_column_is_compressed_by_zstd_and_has_statistics():
    group = pq.ParquetFile(next((SAMPLE / "data").glob("*.parquet"))).metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    assert {column.compression for column in columns} == {"ZSTD"}
    assert all(column.is_stats_set and column.has_offset_index for column in columns)
    ids, rows = columns[0].statistics, group.num_rows
    assert ids.min >= 0 and ids.max - ids.min >= rows - 1 and ids.null_count == 0


def test_the_datasets_library_loads_the_folder_as_it_lies(table, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    loaded = datasets.load_dataset(str(SAMPLE), cache_dir=str(tmp_path))
    assert list(loaded) == ["train", "valid", "test"]
    for split, rows in loaded.items():
        assert rows.column_names == table.column_names
        assert rows.to_list() == [row for row in table.to_pylist() if row["split"] == split]
    valid = datasets.load_dataset(str(SAMPLE), split="valid", cache_dir=str(tmp_path))
    assert set(valid["split"]) == {"valid"}


def test_a_file_of_a_split_has_all_its_rows_and_no_others(table):
    for split in ["train", "valid", "test"]:
        rows = pq.read_table(sorted((SAMPLE / "data").glob(f"{split}-*.parquet")))
        wanted = [row["id"] for row in table.to_pylist() if row["split"] == split]
        assert rows.column("id").to_pylist() == sorted(wanted)
        assert rows.schema.equals(table.schema)


def test_columns_of_json_read_as_json_and_texts_are_there(table):
    for row in table.to_pylist():
        assert f"def {row['kernel']}(" in row["source"]
        assert row["split"] in {"train", "valid", "test"}
        for name in ["signature_json", "inputs_json", "outputs_json", "checks_json"]:
            assert json.loads(row[name]), (row["id"], name)
        assert (row["gradients_json"] is None) == (row["gradient_refused"] is not None)
        assert row["ir"] and row["cpp"] and row["cuda"]


def test_seeds_are_texts_so_that_no_reader_rounds_them(table):
    for name in ["input_seed", "seed"]:
        assert all(str(int(seed)) == seed for seed in table.column(name).to_pylist())
    assert max(int(seed) for seed in table.column("input_seed").to_pylist()) > 2**53
    assert {json.loads((SAMPLE / "dataset.json").read_text())["plan"]["seed"]} == set(table.column("seed").to_pylist())


def test_algorithms_are_described_in_three_lengths(table):
    rows = table.to_pylist()
    algorithms = [row for row in rows if row["template"]]
    assert len(algorithms) > len(rows) / 2
    for row in algorithms:
        assert len(row["summary"]) < len(row["description"]) < len(row["specification"]), row["id"]
        assert "\n" not in row["summary"]
        # Host code of several kernels has launches of its own.
        assert row["launches_json"] or (row["real_launch_dims"] and row["block_dims"])
        for parameter in json.loads(row["signature_json"]):
            assert all(f"`{parameter['name']}`" in row[name] for name in ["description", "specification"])
