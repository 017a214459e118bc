"""Networks written by a literal printer come back equal: any names, states and probabilities, in any form of BIF."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blanketflow.core.errors import DataError
from blanketflow.data.simulate import network_files, read_network

# Quoted, a name holds anything but a quote and the end of its line.
NAME = st.text(st.characters(codec="utf-8", exclude_characters='"', exclude_categories=["C", "Zl", "Zp"]), min_size=1)
NAME |= st.sampled_from(["//", "/* a */", "; }", "table", "default", "(", "|", "0.5", "a b"])


@st.composite
def networks(draw):
    names = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    nodes = {}
    for i, name in enumerate(names):
        levels = draw(st.lists(NAME, min_size=1, max_size=3, unique=True))
        parents = draw(st.lists(st.sampled_from(names[:i]), unique=True, max_size=2)) if i else []
        shape = (*(len(nodes[parent][0]) for parent in parents), len(levels))
        weights = np.array(
            draw(st.lists(st.integers(1, 1000), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
        )
        table = weights.reshape(shape) / weights.reshape(shape).sum(axis=-1, keepdims=True)
        nodes[name] = (levels, parents, table)
    return nodes


def printed(nodes, as_table, comma):
    """Write a network as the format's description says, without the package's own words."""
    lines = ['network "any" { property "x"; }']
    for name, (levels, _, _) in nodes.items():
        states = f"{comma} ".join(f'"{level}"' for level in levels)
        lines.append(f'variable "{name}" {{ // a comment\n type discrete [ {len(levels)} ] {{ {states} }}; }}')
    for name, (_, parents, table) in nodes.items():
        given_these = " | " + ", ".join(f'"{parent}"' for parent in parents) if parents else ""
        lines.append(f'probability ( "{name}"{given_these} ) {{')
        if as_table or not parents:
            cells = np.moveaxis(table, -1, 0).ravel()  # the node's own states outermost
            lines.append("table " + f"{comma} ".join(map(repr, cells.tolist())) + ";")
        else:
            for at in np.ndindex(table.shape[:-1]):
                states = ", ".join(f'"{nodes[parent][0][i]}"' for parent, i in zip(parents, at, strict=True))
                lines.append(f"({states}) " + f"{comma} ".join(map(repr, table[at].tolist())) + ";")
        lines.append("}")
    return "\n".join(lines)


@given(networks(), st.booleans(), st.sampled_from(["", ","]))
@settings(deadline=None, max_examples=100)
def test_a_printed_network_comes_back(tmp_path_factory, nodes, as_table, comma):
    path = tmp_path_factory.mktemp("bif") / "n.bif"
    path.write_text(printed(nodes, as_table, comma), encoding="utf-8", newline="")
    found = read_network(path).nodes
    assert list(found) == list(nodes)
    for name, (levels, parents, table) in nodes.items():
        assert (found[name].levels, found[name].parents) == (tuple(levels), tuple(parents))
        np.testing.assert_allclose(found[name].cpt, table, rtol=1e-12)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.extended) for name in ("asia", "alarm")])
def test_equal_to_pgmpys_reader(name):
    readwrite = pytest.importorskip("pgmpy.readwrite", reason="pgmpy brings the networks and another reader")
    import gzip

    from blanketflow.data.simulate import find_network

    path = find_network(name)
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    model = readwrite.BIFReader(string=text).get_model()
    found = read_network(path).nodes
    assert set(found) == set(model.nodes())
    for node, read in found.items():
        known = model.get_cpds(node)
        assert set(known.variables[1:]) == set(read.parents)
        # pgmpy's axes: the node, then its parents in an order and with states of its own.
        values = known.values
        for axis, variable in enumerate(known.variables):
            levels = found[variable].levels
            values = np.take(values, [known.name_to_no[variable][level] for level in levels], axis=axis)
        values = np.moveaxis(values, 0, -1)
        order = [known.variables[1:].index(parent) for parent in read.parents]
        np.testing.assert_allclose(values.transpose(*order, len(order)), read.cpt, atol=1e-6)


def test_defaults_of_many_large_tables_are_refused(tmp_path, monkeypatch):
    """Each is within what one table may hold; together they would take gigabytes that a few lines ask for."""
    monkeypatch.setattr(network_files, "MOST_CELLS", 2**14)
    roots = [f"r{i}" for i in range(10)]
    lines = ["network n { }"]
    for name in (*roots, *(f"n{j}" for j in range(9))):
        lines.append(f"variable {name} {{ type discrete [2] {{ a, b }}; }}")
    lines += [f"probability ( {name} ) {{ table 0.5, 0.5; }}" for name in roots]
    lines += [f"probability ( n{j} | {', '.join(roots)} ) {{ default 0.5, 0.5; }}" for j in range(9)]
    path = tmp_path / "n.bif"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"demo: .*line \d+: the table of 'n7' would have more than 16,384 cells"):
        read_network(path, "demo")
