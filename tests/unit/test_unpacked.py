"""Small files that unpack to much are refused before that is in memory; what fits is read."""

import gzip
import io
import os
import zipfile
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from scipy.io import savemat

from blanketflow.core.errors import ConfigError, DataError
from blanketflow.data.input_file import MOST_GB, VARIABLE
from blanketflow.data.simulate.network_files import read_network
from blanketflow.data.sources import read_source
from blanketflow.workflow.peek import peek

N = 40
OUTCOME = ["x", "y"] * (N // 2)
#: Texts of 100 kB, the same in each row: 4 MB in full.
LONG = "t" * 100_000


def gzip_csv(path):
    rows = "".join(f"{LONG},{outcome}\n" for outcome in OUTCOME)
    path.write_bytes(gzip.compress(f"a,outcome\n{rows}".encode()))


def gzip_arff(path):
    head = "@relation r\n@attribute a string\n@attribute outcome {x,y}\n@data\n"
    path.write_bytes(gzip.compress((head + "".join(f"{LONG},{outcome}\n" for outcome in OUTCOME)).encode()))


def gzip_svmlight(path):
    pairs = " ".join(f"{j}:0.5" for j in range(1, 100))
    path.write_bytes(gzip.compress("".join(f"{i % 2} {pairs}\n" for i in range(N * 100)).encode()))


def npz(path):
    np.savez_compressed(path, X=np.zeros((N, 10_000)), y=np.array(OUTCOME))


def matlab(path):
    savemat(path, {"X": np.zeros((N, 10_000)), "Y": np.arange(N) % 2}, do_compression=True)


def parquet(path):
    """Numbers that all are the same: their pages are a count and a value."""
    table = pa.table({f"a{j}": np.zeros(40_000) for j in range(10)} | {"outcome": OUTCOME * 1000})
    pq.write_table(table, path, compression="zstd")


def arrow(path):
    table = pa.table({f"a{j}": np.zeros(N * 1000) for j in range(10)} | {"outcome": OUTCOME * 1000})
    pyarrow.feather.write_feather(table, path, compression="zstd")


def small_h5ad(path):
    import anndata

    rows = pd.Index([f"r{i}" for i in range(N)], dtype=object)
    obs = pd.DataFrame(
        {"outcome": pd.Categorical.from_codes(np.arange(N) % 2, pd.Index(["x", "y"], dtype=object))}, rows
    )
    var = pd.DataFrame(index=pd.Index(["a", "b"], dtype=object))
    made = anndata.AnnData(np.ones((N, 2), dtype="f4"), obs=obs, var=var)
    made.write_h5ad(path)


def h5ad(path):
    """A matrix whose zeros are the file's filling, which is nowhere in it."""
    import h5py

    small_h5ad(path)
    with h5py.File(path, "a") as file:
        attributes = dict(file["X"].attrs)
        del file["X"]
        file.create_dataset("X", (10**6, 10**6), "f8", chunks=(1000, 1000)).attrs.update(attributes)


BOMBS = {
    "a.csv.gz": gzip_csv,
    "a.arff.gz": gzip_arff,
    "a.svm.gz": gzip_svmlight,
    "a.npz": npz,
    "a.mat": matlab,
    "a.parquet": parquet,
    "a.feather": arrow,
    "a.h5ad": h5ad,
}


def target_of(name):
    return {} if name.endswith((".svm.gz", ".npz", ".mat")) else {"target": "outcome"}


@pytest.mark.parametrize("name", BOMBS)
def test_what_unpacks_to_too_much_is_refused(name, tmp_path, monkeypatch):
    path = tmp_path / name
    BOMBS[name](path)
    monkeypatch.setenv(VARIABLE, "0.002")
    assert path.stat().st_size < 200_000
    with pytest.raises(DataError, match=f"study: {path} unpacks to more than 0.002 GB.*{VARIABLE} to more"):
        read_source("study", {"path": str(path), **target_of(name)}, 0)


@pytest.mark.parametrize("name", [name for name in BOMBS if name != "a.h5ad"])
def test_the_same_files_are_read_where_the_limit_is_higher(name, tmp_path, monkeypatch):
    path = tmp_path / name
    BOMBS[name](path)
    monkeypatch.setenv(VARIABLE, "0.02")
    assert read_source("study", {"path": str(path), **target_of(name)}, 0).features.n_rows in (N, 4000, 40_000)


@pytest.mark.parametrize("said", ["much", "0", "-1", "nan", "inf"])
def test_a_limit_that_is_no_number_is_said(said, tmp_path, monkeypatch):
    gzip_csv(tmp_path / "a.csv.gz")
    monkeypatch.setenv(VARIABLE, said)
    with pytest.raises(ConfigError, match=f"{VARIABLE} is '{said}'. Set it to a number of GB"):
        peek("study", {"path": str(tmp_path / "a.csv.gz"), "target": "outcome"})


@pytest.mark.extended
def test_the_plan_looks_at_the_head_of_a_bomb_only(tmp_path):
    """A terabyte in a gigabyte would take hours to make: here members of 100 MB follow one another in a few kB each."""
    member = gzip.compress(b"1,x\n1,y\n" * 12_500_000, compresslevel=9)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,outcome\n") + member * int(MOST_GB * 11))
    assert peek("study", {"path": str(path), "target": "outcome"}).n_features == 1


def test_a_long_text_in_every_row_of_a_parquet_file_is_held_once(tmp_path):
    """The file has 5 kB; its texts in full would have 400 GB."""
    codes = pa.DictionaryArray.from_arrays(pa.array(np.zeros(4_000_000, "i4")), pa.array([LONG]))
    outcome = pa.DictionaryArray.from_arrays(pa.array(np.arange(4_000_000, dtype="i4") % 2), pa.array(["x", "y"]))
    pq.write_table(pa.table({"a": codes, "outcome": outcome}), tmp_path / "a.parquet", store_schema=False)
    found = read_source("study", {"path": str(tmp_path / "a.parquet"), "target": "outcome"}, 0)
    assert found.features["a"].levels == (LONG,)


def test_a_packed_network_is_limited(tmp_path, monkeypatch):
    (tmp_path / "n.bif.gz").write_bytes(gzip.compress(b"network n { }" + b" " * 10**7))
    monkeypatch.setenv(VARIABLE, "0.002")
    with pytest.raises(DataError, match=r"n\.bif\.gz unpacks to more than"):
        read_network(tmp_path / "n.bif.gz")


def test_an_archive_that_states_less_than_it_holds_is_damaged(tmp_path):
    """The limit adds up what the directory of a zip archive states; its reader gives no byte more."""
    npz(tmp_path / "a.npz")
    content = (tmp_path / "a.npz").read_bytes()
    size = (N * 10_000 * 8 + 128).to_bytes(4, "little")
    assert size in content
    (tmp_path / "a.npz").write_bytes(content.replace(size, (1000).to_bytes(4, "little")))
    with zipfile.ZipFile(tmp_path / "a.npz") as archive, pytest.raises((zipfile.BadZipFile, zlib.error)):
        archive.read("X.npy")
    with pytest.raises(DataError, match=r"not a readable \.npz file"):
        read_source("study", {"path": str(tmp_path / "a.npz")}, 0)


def test_reading_twice_counts_once(tmp_path, monkeypatch):
    from blanketflow.data.input_file import opened

    (tmp_path / "a.gz").write_bytes(gzip.compress(os.urandom(600_000)))
    monkeypatch.setenv(VARIABLE, "0.001")
    with opened("study", tmp_path / "a.gz") as raw:
        assert len(raw.read()) == 600_000
        raw.seek(0, io.SEEK_SET)
        assert len(raw.read()) == 600_000


@pytest.mark.parametrize("how", ["link", "raw", "virtual"])
def test_an_h5ad_file_whose_matrix_lies_in_another_file_is_refused(how, tmp_path):
    import h5py

    path = tmp_path / "a.h5ad"
    small_h5ad(path)
    (tmp_path / "other").write_bytes(bytes(N * 2 * 4))
    with h5py.File(path, "a") as file:
        del file["X"]
        if how == "link":
            file["X"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/X")
        elif how == "raw":
            file.create_dataset("X", (N, 2), "f4", external=[(str(tmp_path / "other"), 0, N * 8)])
        else:
            layout = h5py.VirtualLayout((N, 2), "f4")
            layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "X", shape=(N, 2))
            file.create_virtual_dataset("X", layout)
    with pytest.raises(DataError, match="lies in another file, which is not read"):
        read_source("study", {"path": str(path), "target": "outcome"}, 0)
