"""Workbooks of old Excel (.xls) and of LibreOffice (.ods), read by calamine as .xlsx workbooks are by openpyxl."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from xml.parsers import expat

from ...core.errors import DataError
from ..input_file import Unpacking
from .excel import read_sheet
from .loaded import Loaded, TableFile

#: Bytes that calamine takes for a cell, whether there is anything in it or not: it holds the whole rectangle.
_CELL_BYTES = 32
_BLOCK = 2**20


def read_xls(file: TableFile) -> Loaded:
    """Return the columns of an .xls workbook; raises as `read_sheet` does."""
    return read_sheet(file, _opened)


def read_ods(file: TableFile) -> Loaded:
    """Return the columns of an .ods workbook; raises as `read_sheet` does."""
    return read_sheet(file, _opened_ods)


class _Sheet:
    """A sheet of calamine as openpyxl's are."""

    def __init__(self, title: str, sheet: Any) -> None:
        self.title, self._sheet = title, sheet

    def reset_dimensions(self) -> None:
        """Do nothing: dimensions are those of the cells."""

    def iter_rows(self, values_only: bool = True) -> Iterator[Sequence[Any]]:
        """Yield the rows from the first one of the sheet on; None for an empty cell."""
        above, left = self._sheet.start or (0, 0)
        yield from ([None] for _ in range(above))
        for row in self._sheet.iter_rows():
            yield [None] * left + [None if cell == "" else cell for cell in row]


class _Book(NamedTuple):
    worksheets: list[_Sheet]


@contextmanager
def _opened(file: TableFile, _: Unpacking) -> Iterator[_Book]:
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        with CalamineWorkbook.from_path(str(file.path)) as book:
            yield _Book([_Sheet(title, book.get_sheet_by_name(title)) for title in book.sheet_names])
    except PasswordError as error:
        raise DataError(f"{file.name}: {file.path} has a password. Save it without one.") from error
    except CalamineError as error:
        raise ValueError(str(error)) from error
    except BaseException as error:  # what Rust calls a panic is no Exception
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError("it is damaged") from error


@contextmanager
def _opened_ods(file: TableFile, unpacking: Unpacking) -> Iterator[_Book]:
    with zipfile.ZipFile(file.path) as archive:
        unpacking.add(sum(member.file_size for member in archive.infolist()))
        with archive.open("content.xml") as content:
            _Extent(file, unpacking).read(content)
    with _opened(file, unpacking) as book:
        yield book


class _Extent:
    """Finds how far the cells of each sheet reach: few bytes of XML can repeat a cell without end."""

    def __init__(self, file: TableFile, unpacking: Unpacking) -> None:
        self._file, self._unpacking = file, unpacking
        self._rows = self._columns = self._width = self._at = self._repeated = 0
        self._is_held = False

    def read(self, content: Any) -> None:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.EntityDeclHandler = self._refuse
        while block := content.read(_BLOCK):
            parser.Parse(block, False)
        parser.Parse(b"", True)

    def _refuse(self, *_: Any) -> None:
        raise DataError(f"{self._file.name}: {self._file.path} declares entities of XML, as no workbook does.")

    @staticmethod
    def _number(attributes: dict[str, str], of: str) -> int:
        said = next((value for key, value in attributes.items() if key.endswith(f"number-{of}-repeated")), "1")
        return int(said)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(" ")[2]
        if tag == "table":
            self._rows = self._columns = self._width = 0
        elif tag == "table-row":
            self._at, self._repeated, self._is_held = 0, self._number(attributes, "rows"), False
        elif tag in ("table-cell", "covered-table-cell"):
            self._at += self._number(attributes, "columns")
            if any(key.endswith(("value-type", "formula")) for key in attributes):
                self._width, self._is_held = max(self._width, self._at), True

    def _end(self, tag: str) -> None:
        tag = tag.rpartition(" ")[2]
        if tag == "table-row":
            self._columns += self._repeated
            self._rows = self._columns if self._is_held else self._rows
        elif tag == "table":
            self._unpacking.add(self._rows * self._width * _CELL_BYTES)
