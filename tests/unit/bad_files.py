"""Files of tests/bad_input.yaml that are too large or too odd to be written there: each function writes one."""

import datetime
import decimal
import gzip
import os
import pickle
import socket
import zipfile
import zlib

import joblib
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc
from scipy.sparse import csr_matrix, save_npz


def study(path):
    """A good table: 40 rows; `few` has a class of two, `same` one value, `gaps` a missing cell."""
    rng = np.random.default_rng(3)
    lines = ["a,b,few,same,gaps,outcome"]
    for i in range(40):
        cells = [f"{rng.normal():.3f}", f"{rng.normal():.3f}", "rare" if i < 2 else "common", "yes"]
        lines.append(",".join([*cells, "" if i == 5 else "1.5", "ill" if i % 2 else "well"]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def class_none(path):
    """300,000 rows, a third of them of the class None: the plan sees only the first ones."""
    path.write_text("a,outcome\n" + "1,None\n2,x\n3,y\n" * 100_000, encoding="utf-8")


def small_parquet(path):
    """A Parquet file, which has missing cells of its own."""
    pq.write_table(pa.table({"a": [1, -9, 3, None], "b": ["u", "-", "v", "u"], "outcome": ["x", "y", "x", "y"]}), path)


def commas(path):
    """A line of 200 MB of commas, which gzip packs into 194 kB."""
    with gzip.open(path, "wb") as file:
        for _ in range(200):
            file.write(b"," * 1_000_000)


def late_commas(path):
    """A good table, and below it a line of 200 MB of commas."""
    with path.open("wb") as file:
        file.write(b"a,outcome\n" + b"1,x\n2,y\n" * 200_000)
        for _ in range(200):
            file.write(b"," * 1_000_000)


def long_line(path):
    """A header without an end, of which most takes no room on the disk."""
    with path.open("wb") as file:
        file.write(b"a,outcome," + b"b" * 2_000_000)
        file.truncate(150_000_000)


def wide_arff(path):
    """An ARFF file with a row of 3,000,000 cells."""
    path.write_text(f"@relation r\n@attribute a numeric\n@data\n{'1,' * 3_000_000}1\n", encoding="utf-8")


def open_quote(path):
    """A quote that is opened in the first row and not closed, in a file of 2 MB."""
    path.write_text('a,"b,outcome\n' + "1,2,x\n" * 400_000, encoding="utf-8")


def long_cell(path):
    """A cell of 200,000 characters in the column `notes`."""
    rows = [f"{i},{'z' * (200_000 if i == 7 else 3)},{'yx'[i % 2]}" for i in range(12)]
    path.write_text("\n".join(["a,notes,outcome", *rows]) + "\n", encoding="utf-8")


def garbage(path):
    """Bytes that are no text."""
    path.write_bytes(b"\x80\xff" + np.random.default_rng(3).integers(0, 256, 4000, dtype=np.uint8).tobytes())


def good_rows():
    """A small good table as CSV: its header and 12 rows."""
    return ["a,b,outcome", *(f"{i},{i * 7 % 12},{'yx'[i % 2]}" for i in range(1, 13))]


def good_text():
    """A small good table as CSV."""
    return "\n".join(good_rows()) + "\n"


def huge(path):
    """A file of 100 MB that takes no room."""
    with path.open("wb") as file:
        file.truncate(100_000_000)


def folder(path):
    """A folder."""
    path.mkdir()


def folder_of_study(path):
    """A folder with a good table in it."""
    path.mkdir()
    study(path / "study.csv")


def link_to_itself(path):
    """A circle of links."""
    path.symlink_to(f"{path.name}.2")
    path.with_name(f"{path.name}.2").symlink_to(path.name)


def link_to_etc(path):
    """A link to a folder of the system."""
    path.symlink_to("/etc")


def link_to_here(path):
    """A link to the folder that it is in."""
    path.symlink_to(".")


def fifo(path):
    """A named pipe into which nobody writes: opening it would wait for ever."""
    os.mkfifo(path)


def unix_socket(path):
    """A socket."""
    with socket.socket(socket.AF_UNIX) as endpoint:
        endpoint.bind(path.name)  # the folder is the current one; its full path may be too long for a socket


def dangling_link(path):
    """A link to nothing."""
    path.symlink_to("moved.csv")


def zip_of_csv(path):
    """A zip archive with a table in it."""
    _zip(path, {"table.csv": good_text()})


def zip_of_tables(path):
    """A zip archive with a table and another file in it."""
    _zip(path, {"data/table.csv": good_text(), "readme.txt": "Not a table."})


def workbook(path, above=(), cells=lambda row: row):
    """A good table as a workbook."""
    book = openpyxl.Workbook()
    book.active.title = "Data"
    rows = [["a", "b", "outcome"], [1, 3, "x"], [2, 5, "y"], [3, 1, "x"], [4, 4, "y"], [5, 2, "x"], [6, 6, "y"]]
    for row in [*above, *map(cells, rows)]:
        book.active.append(row)
    with path.open("wb") as file:
        book.save(file)


def uncalculated(path):
    """A workbook with formulas that no program has calculated, as openpyxl writes them."""
    workbook(path, cells=lambda row: [row[0], "=A2*2" if row[0] in (2, 4) else row[1], row[2]])


def titled_workbook(path):
    """A workbook with a title above its table."""
    workbook(path, above=[["Study of 2024"]])


def _with_parts(path, change):
    """Change the parts of a workbook: `change` gives the new content of one, or None to leave it out."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: change(name, archive.read(name).decode()) for name in archive.namelist()}
    _zip(path, {name: content for name, content in parts.items() if content is not None})


def damaged_workbook(path):
    """A workbook that lacks its sheet."""
    workbook(path)
    _with_parts(path, lambda name, content: None if "sheet1" in name else content)


def far_row(path):
    """A workbook of a few kilobytes whose last row is said to be far below: reading up to it would take for ever."""
    workbook(path)
    _with_parts(path, lambda name, content: content.replace('<row r="7"', '<row r="999999999999"'))


def document(path):
    """What a word processor writes."""
    _zip(path, {"word/document.xml": "<document/>", "[Content_Types].xml": "<Types/>"})


def _zip(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def a_pickle(path):
    """A pickle."""
    path.write_bytes(pickle.dumps({"a": [1, 2]}))


def one_array(path):
    """An array of numpy, without its target."""
    with open(path, "wb") as file:
        np.save(file, np.eye(4))


def cut_gzip(path):
    """A gzip file whose end is missing, as after a broken download."""
    path.write_bytes(gzip.compress(good_text().encode())[:-12])


def cut_far_behind(path):
    """A gzip file whose end is missing, too large to be looked at whole beforehand."""
    rng = np.random.default_rng(3)
    rows = [f"{a},{b},{'yx'[a % 2]}" for a, b in rng.integers(0, 10**6, (100_000, 2)).tolist()]
    path.write_bytes(gzip.compress("\n".join(["a,b,outcome", *rows]).encode())[:-12])


def flipped_gzip(path):
    """A gzip file with a wrong bit in what it holds: its checksum does not fit."""
    content = bytearray(gzip.compress(good_text().encode(), compresslevel=0))
    content[40] ^= 1
    path.write_bytes(content)


def empty_gzip(path):
    """A gzip file of nothing."""
    path.write_bytes(gzip.compress(b""))


def twice_gzip(path):
    """A gzip file of a gzip file."""
    path.write_bytes(gzip.compress(gzip.compress(good_text().encode())))


def joined_gzip(path):
    """Two gzip files one behind the other, which is a gzip file."""
    head, body = good_rows()[:4], good_rows()[4:]
    path.write_bytes(b"".join(gzip.compress(("\n".join(part) + "\n").encode()) for part in (head, body)))


def late_latin_1(path):
    """A table of which only the last of many lines is not UTF-8."""
    rows = [f"{i % 97},{i % 89},{'yx'[i % 2]}\n" for i in range(120_000)]
    path.write_bytes("".join(["a,b,outcome\n", *rows, "1,größe,y\n"]).encode("latin-1"))


def many_names(path):
    """100,000 rows, each with a text of its own."""
    rows = (f"{i % 5},n{i},{'yx'[i % 2]}" for i in range(100_000))
    path.write_text("\n".join(["a,name,outcome", *rows]) + "\n", encoding="utf-8")


def long_name(path):
    """A column whose name has 10,000 characters."""
    path.write_text(good_text().replace("a,", "a" * 10_000 + ",", 1), encoding="utf-8")


def leaky(path):
    """40 rows; `code` is the outcome in other words, `outcome_score` is named after it, `twin` repeats `a`."""
    rows = (f"{i * 7 % 11},{i * 7 % 11},{'pq'[i % 2]},{i * 3 % 13},{'yx'[i % 2]}" for i in range(40))
    path.write_text("\n".join(["a,twin,code,outcome_score,outcome", *rows]) + "\n", encoding="utf-8")


def forty(path):
    """40 rows of columns that are met in studies: what each holds is its name."""
    heads = "row,date,time,remark,centre,stage,large,none,number,spelt"
    texts = (
        f"{i},2024-02-{i % 28 + 1:02},{i % 24:02}:15,the patient number {i} came again,{i % 8},{i % 4},{2**53 + i},,"
        f"{i * 5 % 17},{'MmF'[i % 3]}"
        for i in range(1, 41)
    )
    lines = [f"{text},{'ill' if i * i % 7 < 3 else 'well'}" for i, text in enumerate(texts)]
    path.write_text("\n".join([f"{heads},outcome", *lines]) + "\n", encoding="utf-8")


def parquet(path, n_rows=12, **more):
    """A Parquet file of columns `a`, `outcome` and more."""
    columns = {"a": list(range(n_rows)), **more, "outcome": ["yx"[i % 2] for i in range(n_rows)]}
    pq.write_table(pa.table(columns), path)


def cut_parquet(path):
    """A Parquet file without its end, where it says what it holds."""
    parquet(path)
    path.write_bytes(path.read_bytes()[:-20])


def flipped_parquet(path):
    """A Parquet file with a wrong bit in a cell and checksums of its pages, as blanketflow's own have them."""
    table = pa.table({"a": pa.array([123456789] * 12), "outcome": ["x", "y"] * 6})
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    content[content.index((123456789).to_bytes(8, "little") * 12) + 3] ^= 1
    path.write_bytes(content)


def empty_parquet(path):
    """A Parquet file without rows."""
    pq.write_table(pa.table({"a": pa.array([], pa.int64()), "outcome": pa.array([], pa.string())}), path)


def twin_parquet(path):
    """A Parquet file of two columns called `a`, which its format allows."""
    pq.write_table(
        pa.Table.from_arrays([pa.array(range(12))] * 2 + [pa.array(["x", "y"] * 6)], ["a", "a", "outcome"]), path
    )


def lists_parquet(path):
    """A Parquet file with a list in each cell of a column."""
    parquet(path, b=[[1, 2]] * 12)


def times_parquet(path):
    """A Parquet file with times in a column."""
    parquet(path, b=[datetime.datetime(2024, 1, 1 + i) for i in range(12)])


def decimals_parquet(path):
    """A Parquet file with decimal numbers, as databases have them."""
    parquet(path, b=[decimal.Decimal(i) / 4 for i in range(12)])


def texts_parquet(path):
    """A Parquet file with numbers as text."""
    parquet(path, b=[str(i) for i in range(12)])


def npz(path, **more):
    """A matrix X with its y, as numpy saves them, or what replaces them."""
    np.savez(path, **{"X": np.arange(24.0).reshape(12, 2), "y": np.array(["x", "y"] * 6)} | more)


def cut_npz(path):
    """An .npz file without its end."""
    npz(path)
    path.write_bytes(path.read_bytes()[:-50])


def short_npz(path):
    """An .npz file with fewer targets than rows."""
    npz(path, y=np.array(["x", "y"] * 3))


def objects_npz(path):
    """An .npz file whose y is an array of Python objects, which is a pickle."""
    npz(path, y=np.array(["x", "y"] * 6, dtype=object))


def lone_npz(path):
    """An .npz file without y."""
    np.savez(path, X=np.arange(24.0).reshape(12, 2))


def no_x_npz(path):
    """An .npz file whose matrix is not called X."""
    np.savez(path, data=np.eye(12), y=np.array(["x", "y"] * 6))


def infinite_npz(path):
    """An .npz file with an infinite cell."""
    npz(path, X=np.array([[np.inf, 1.0], [2.0, 3.0]] * 6))


def sparse_npz(path, form):
    """A scipy sparse matrix in one of its forms, with y in the same archive."""
    save_npz(path, csr_matrix(np.arange(24.0).reshape(12, 2) % 5).asformat(form))
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, y=np.array(["x", "y"] * 6), **arrays)


def coo_npz(path):
    """A sparse matrix as triples."""
    sparse_npz(path, "coo")


def dia_npz(path):
    """A sparse matrix by diagonals."""
    sparse_npz(path, "dia")


def bsr_npz(path):
    """A sparse matrix by blocks."""
    sparse_npz(path, "bsr")


def surrogate_npz(path):
    """An .npz file with a feature name that is not Unicode text."""
    npz(path, feature_names=np.array(["a", "b\udcf6"]))


def surrogate_classes_npz(path):
    """An .npz file with a class that is not Unicode text."""
    npz(path, y=np.array(["x", "y\udcf6"] * 6))


def padded_twins_parquet(path):
    """A Parquet file with two names that differ by a space at the end."""
    numbers = list(range(12))
    pq.write_table(pa.table({"b ": numbers, "b": numbers, "outcome": ["x", "y"] * 6}), path)


def padded_parquet(path):
    """A Parquet file with a name that ends with a space."""
    numbers = list(range(12))
    pq.write_table(pa.table({"b ": numbers, "c": numbers, "outcome": ["x", "y"] * 6}), path)


def orc_file(path):
    """An ORC file."""
    orc.write_table(pa.table({"a": list(range(12)), "outcome": ["x", "y"] * 6}), path)


def old_stata(path):
    """The head of a Stata file of version 114."""
    path.write_bytes(b"\x72\x02\x01\x00\x04\x00\x0c" + bytes(500))


def sas(path):
    """The head of a SAS file."""
    path.write_bytes(bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011") + bytes(500))


def spss(path):
    """The head of an SPSS file."""
    path.write_bytes(b"$FL2@(#) SPSS DATA FILE" + bytes(500))


def spss_portable(path):
    """The head of a portable SPSS file."""
    path.write_bytes(b"ASCII SPSS PORT FILE                    " * 5)


def old_pickle(path):
    """A pickle of protocol 2, as Python 2 wrote them."""
    path.write_bytes(pickle.dumps({"a": [1, 2]}, protocol=2))


def text_pickle(path):
    """A pickle of protocol 0, which is text."""
    path.write_bytes(pickle.dumps({"a": [1, 2]}, protocol=0))


def joblib_file(path):
    """An object as joblib compresses it."""
    joblib.dump({"a": [1, 2]}, path, compress=3)


def zlib_file(path):
    """A table, compressed by zlib."""
    path.write_bytes(zlib.compress(good_text().encode()))


def offset_numbers(path):
    """A table with a column of noise around 1e16, where floats are 2 apart."""
    noise = np.random.default_rng(3).normal(size=40)
    rows = [f"{i * 7 % 12},{int(10**16 + 6 * x)}.0,{'yx'[i % 2]}" for i, x in enumerate(noise)]
    path.write_text("\n".join(["a,b,outcome", *rows]) + "\n", encoding="utf-8")


def matlab_73(path):
    """The head of a MATLAB file of version 7.3."""
    path.write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\2IM" + bytes(500))
