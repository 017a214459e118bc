"""Workbooks, of which one sheet is read, whose first row has the names; cells are read as the same texts in CSV.

Excel's .xlsx is read by openpyxl; old Excel's .xls and LibreOffice's .ods by calamine.
"""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from ...core.errors import ConfigError, DataError, did_you_mean, shown
from ..column_roles import setting
from ..columns import UNNAMED, check_names, name_rows, names_in_header
from ..columns_of_text import TextRules, columns_of_rows
from ..dialect import ROW_NAMES, Dialect
from ..input_file import Unpacking
from ..text_layout import are_units, find_names, joined_names, lacks_names, say_units
from .loaded import Loaded, TableFile

#: Rows of a sheet; a file may state any number.
_MOST_ROWS = 1_048_576
#: What openpyxl raises for parts that are missing, or hold something else than they should.
_DAMAGED = (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError, SyntaxError, RuntimeError)
#: Rows that tell where the table stands.
_SAMPLE_ROWS = 130
#: Bytes of a cell in memory, while it is read: a reference and a text or a number.
_CELL_BYTES = 64
#: Bytes of a parsed tag or attribute in memory, about.
_NODE_BYTES = 200
#: The most tags and attributes of one row of a sheet, and of what is no row. A row has at most 16,384 cells.
_MOST_NODES = 2_000_000
_ROW = re.compile(rb"<(\w+:)?row[\s/>]")
_BLOCK = 2**20


def read_xlsx(file: TableFile) -> Loaded:
    """Return the columns of an .xlsx workbook; raises as `read_sheet` does, and if a formula has no value."""
    return read_sheet(file, _opened_xlsx, _check_formulas)


@contextmanager
def _opened_xlsx(file: TableFile, unpacking: Unpacking) -> Iterator[Any]:
    import openpyxl

    with zipfile.ZipFile(file.path) as archive:
        unpacking.add(sum(member.file_size for member in archive.infolist()))
        _check_xml(file.name, file.path, archive, unpacking)
    with open(file.path, "rb") as stored:
        yield openpyxl.load_workbook(stored, read_only=True, data_only=True, keep_links=False)


def read_sheet(
    file: TableFile,
    opened: Callable[[TableFile, Unpacking], AbstractContextManager[Any]],
    check: Callable[[str, Path, str], None] | None = None,
) -> Loaded:
    """Return the columns of the sheet that the spec names, or of the first with cells, which is reported.

    The workbook has `worksheets` as openpyxl's have. Rows without cells are skipped. Raises `ConfigError` if there is
    no such sheet, `DataError` if the file is damaged or unpacks to too much; and what `check` does of the sheet.
    """
    from openpyxl.utils.exceptions import InvalidFileException

    name, path, spec, dialect = file.name, file.path, file.spec, file.dialect
    unpacking, dialect.has_numbers, others = Unpacking(name, path), True, ""
    try:
        with opened(file, unpacking) as book:
            sheet, others = _sheet(name, path, book, spec.get("sheet"), dialect)
            header, rows = _table(name, _cells(name, path, sheet, unpacking), dialect)
            names = names_in_header(name, header, dialect)
            header = names.names
            if isinstance(target := spec.get("target"), str) and others and target not in header:
                raise DataError(f"{name}: there is no column {target!r}, which target names.")
            rules = TextRules(name, setting(spec, "categorical"), file.drop, file.markers, dialect)
            columns = columns_of_rows(rules, header, rows)
            columns = names.named(name, columns, dialect)
        if check is not None:
            check(name, path, sheet.title)
    except ConfigError:
        raise
    except DataError as error:
        if not others:
            raise
        raise DataError(f"{error} That is sheet {sheet.title!r}. Name another by the key sheet: {others}.") from error
    except (InvalidFileException, zipfile.BadZipFile, *_DAMAGED) as error:
        said = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        raise DataError(f"{name}: {path} is not a readable .{file.kind} file ({said}). Save it again.") from error
    if header[0] == UNNAMED and len(header) > 1:
        if not name_rows(columns[0]):
            check_names(name, header)
        dialect.say(ROW_NAMES)
        dialect.row_names = columns[0]
        columns = columns[1:]
    return Loaded(columns)


def _sheet(name: str, path: Path, book: Any, asked: str | None, dialect: Dialect) -> tuple[Any, str]:
    """Return a sheet of cells, by its name or the first one that has any; in the latter case name the others."""
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if asked is not None:
        if asked not in sheets:
            raise ConfigError(f"{name}: {path} has no sheet {shown(asked)}. {did_you_mean(asked, sheets)}")
        return sheets[asked], ""
    for sheet in sheets.values():
        sheet.reset_dimensions()  # which are what the file says of itself
    held = [sheet for sheet in sheets.values() if any(map(_is_held, islice(_values(sheet), _MOST_ROWS)))]
    if not held:
        raise DataError(f"{name}: {path} has no sheet with cells.")
    others = ", ".join(repr(sheet.title) for sheet in held[1:6]) + (", ..." if len(held) > 6 else "")
    if others:
        dialect.say(f"sheet {held[0].title!r}, the first of {len(held)} (the others: {others})", "sheet")
    return held[0], others


def _values(sheet: Any) -> Iterator[Sequence[Any]]:
    sheet.reset_dimensions()
    return sheet.iter_rows(values_only=True)


def _is_held(row: Sequence[Any]) -> bool:
    return any(cell is not None for cell in row)


def _cells(name: str, path: Path, sheet: Any, unpacking: Unpacking) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that have cells, as texts, and their numbers."""
    for number, row in enumerate(_values(sheet), 1):
        if number > _MOST_ROWS:
            raise DataError(f"{name}: {path} states more rows than a sheet can have ({_MOST_ROWS:,}). Save it again.")
        if _is_held(row):
            unpacking.add(_CELL_BYTES * len(row))
            yield number, [_text(cell) for cell in row]


def _text(cell: Any) -> str:
    """Return a cell as a CSV file has it: whole numbers without a point, dates in ISO's form."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell)


def _table(name: str, rows: Iterator[tuple[int, list[str]]], dialect: Dialect) -> tuple[list[str], Iterator[list[str]]]:
    """Return the names of a table that may begin in any column, and its rows of the same length."""
    skipped, second = dialect.n_above, dialect.second_row
    rows = ((number, row) for number, row in rows if number > (skipped or 0) and number != dialect.units_row)
    numbered = list(islice(rows, _SAMPLE_ROWS))
    sample = [row for _, row in numbered]
    if not sample:
        raise DataError(f"{name}: the sheet is empty. It needs a header with column names and rows below it.")
    if skipped is None and dialect.header:
        left = min(at for row in sample for at, cell in enumerate(row) if cell.strip())
        titles, second = find_names([row[left:] for row in sample], [number for number, _ in numbered], dialect)
        numbered = numbered[titles:]
    names = [row for number, row in numbered if number <= second]
    if len(names) > 1:
        numbered[: len(names)] = [(second, joined_names(names[0], names[-1]))]
    sample = [row for _, row in numbered]
    start = _start(sample)
    cells = [row[start:] for row in sample]
    has_header = dialect.header and (skipped is not None or second > 0 or not lacks_names(cells, dialect))
    if has_header and dialect.units_row is None and are_units(cells):
        say_units(dialect, cells[1], numbered[1][0])
        del numbered[1]
    header = numbered[0][1]
    width = max((at + 1 for at, cell in enumerate(header) if cell.strip()), default=0)
    more = chain(numbered[1 if has_header else 0 :], rows)

    def fitted() -> Iterator[list[str]]:
        for number, row in more:
            outside = next((cell for cell in [*row[:start], *row[width:]] if cell.strip()), None)
            if outside is not None:
                raise DataError(
                    f"{name}: row {number} has {outside[:40]!r} where the header has no name. Name that column, or "
                    "set header_row to the number of the row with the names."
                )
            yield (row + [""] * (width - len(row)))[start:width]

    header = [cell.strip() for cell in header[start:width]]
    return (header if has_header else [f"x{j}" for j in range(len(header))]), fitted()


def _start(rows: Sequence[list[str]]) -> int:
    """Return in which column a table begins: where the header does, or one before, if that names the rows."""
    start = next((at for at, cell in enumerate(rows[0]) if cell.strip()), 0)
    return start - 1 if start and any(cell.strip() for row in rows[1:2] for cell in row[:start]) else start


def _check_formulas(name: str, path: Path, title: str) -> None:
    """Raise `DataError` if a formula has no value, as in a file that no program has calculated: it would be missing."""
    import openpyxl

    with zipfile.ZipFile(path) as archive:
        sheets = [member for member in archive.namelist() if member.startswith("xl/worksheets/")]
        if not any(_holds(archive, member, (b"<f>", b"<f ", b":f>")) for member in sheets):
            return
    with open(path, "rb") as one, open(path, "rb") as other:
        formulas = openpyxl.load_workbook(one, read_only=True, keep_links=False)[title]
        values = openpyxl.load_workbook(other, read_only=True, data_only=True, keep_links=False)[title]
        for sheet in (formulas, values):
            sheet.reset_dimensions()
        for asked, given in zip(formulas.iter_rows(), _values(values), strict=True):
            for cell, value in zip(asked, given, strict=True):
                if cell.data_type == "f" and value is None:
                    raise DataError(
                        f"{name}: {path}: cell {cell.coordinate} of sheet {title!r} is a formula without a value. Open "
                        "the file in Excel or LibreOffice and save it, so that its formulas are calculated."
                    )


def _holds(archive: zipfile.ZipFile, member: str, signs: Collection[bytes]) -> bool:
    """Return whether a part of an archive has some bytes, read in overlapping blocks."""
    with archive.open(member) as file:
        tail = b""
        while block := file.read(2**20):
            if any(sign in tail + block for sign in signs):
                return True
            tail = block[-8:]
    return False


def _check_xml(name: str, path: Path, archive: zipfile.ZipFile, unpacking: Unpacking) -> None:
    """Raise `DataError` if the XML of a workbook would take too much memory.

    Sheets are parsed by row, so that no row may be too long; all else is parsed whole.
    """
    for member in archive.namelist():
        if not member.endswith((".xml", ".rels")):
            continue
        is_sheet, n_nodes = member.startswith("xl/worksheets/"), 0
        with archive.open(member) as file:
            while block := file.read(_BLOCK):
                if not is_sheet:
                    unpacking.add(_NODE_BYTES * _nodes(block))
                    continue
                starts = [match.start() for match in _ROW.finditer(block)]
                unpacking.add(_NODE_BYTES * len(starts))
                for start, stop in pairwise([0, *starts, len(block)]):
                    n_nodes = _nodes(block, start, stop) + (n_nodes if start == 0 else 0)
                    if n_nodes > _MOST_NODES:
                        raise DataError(
                            f"{name}: {path} has a row of more cells than a sheet can have, or far too many settings. "
                            "Save it again."
                        )


def _nodes(block: bytes, start: int = 0, stop: int = _BLOCK) -> int:
    return block.count(b"<", start, stop) + block.count(b"=", start, stop)


# --- workbooks read by calamine, as .xlsx workbooks are by openpyxl ---------------------------------------------------

#: Bytes that calamine takes for a cell, whether there is anything in it or not: it holds the whole rectangle.
_HELD_CELL_BYTES = 32


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
            self._unpacking.add(self._rows * self._width * _HELD_CELL_BYTES)
