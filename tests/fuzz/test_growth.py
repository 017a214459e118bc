"""Work grows with the size of a file and no faster: what repeats a sign 300,000 times is read or refused in seconds."""

import fuzz_bif
import fuzz_tables
import pytest

SIZE = 300_000


@pytest.mark.extended
@pytest.mark.parametrize("unit", ['\n"', "\n'", '"\n', '\n"a"', '"', "\t'"])
def test_a_table_of_quotes(unit, monkeypatch):
    """csv.Sniffer took minutes of it."""
    monkeypatch.setenv("BLANKETFLOW_CACHE", "")
    fuzz_tables.one_input(b"\0@" + (unit * (SIZE // len(unit))).encode())


@pytest.mark.extended
@pytest.mark.parametrize("start", ["", "network n { property ", '{"nodes": ['])
@pytest.mark.parametrize("unit", ["/*", "//", '"', "[", "9", "a ", '"a":'])
def test_a_network_of_signs(start, unit):
    fuzz_bif.one_input((start + unit * (SIZE // len(unit))).encode())
