"""Parts of rows that places or masks name: only what is shown is moved, and every place is still looked at."""

import graphc as gc
import numpy as np
import pytest
from test_process import run

ROWS, COLUMNS = 700, 640


def keys(rng):
    places = rng.integers(-ROWS, ROWS, 900)
    mask = rng.random(ROWS) < 0.4
    columns = rng.integers(-COLUMNS, COLUMNS, 5)
    return places, mask, columns


PARTS = {
    "column": lambda x, c: x[:, 3],
    "last": lambda x, c: x[:, -1],
    "columns": lambda x, c: x[:, 5:9],
    "apart": lambda x, c: x[:, 600::-7],
    "turned": lambda x, c: x[:, 5:9].T,
    "rows as well": lambda x, c: x[10::3, 4],
    "row": lambda x, c: x[11],
    "element": lambda x, c: x[11, 12],
    "none": lambda x, c: x[:, 4:4],
    "places": lambda x, c: x[:, c],
    "pairs": lambda x, c: x[:, c][:, 1:3],
    "recast": lambda x, c: x[:, 2:4].view("int64"),
    "new axis": lambda x, c: x[:, None, 7],
    "in a sum": lambda x, c: x[:, 0] - x[:, 1] * 2,
    "reduced": lambda x, c: x[:, 9].max() - x[:, 4:8].sum(axis=1).min(),
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("kind", ["places", "mask", "counted", "second axis", "pair of axes"])
def test_parts_of_rows(part, kind):
    rng = np.random.default_rng(7)
    a = rng.random((ROWS, COLUMNS))
    places, mask, columns = keys(rng)

    def program(xp, a, places, mask, columns):
        if kind == "places":
            return part(a[places], columns)
        if kind == "second axis":
            return part(a.T[:, places].T, columns)
        if kind == "pair of axes":
            return part(a.reshape(2, ROWS // 2, COLUMNS)[places[:, None] % 2, places[:, None] % 300][:, 0], columns)
        rows = a[mask]
        return part(rows if kind == "counted" and rows.shape else a[mask], columns)

    expected = program(np, a, places, mask, columns)
    given = [gc.asarray(v) for v in (a, places, mask, columns)]
    for _ in range(2):
        result = program(gc, *given)
        np.testing.assert_array_equal(np.asarray(result), expected)


def test_rows_that_are_seen_stay_shared():
    a = np.random.default_rng(8).random((ROWS, COLUMNS))
    places = np.arange(0, ROWS, 2)

    def program(xp, a):
        rows = a[xp.asarray(places)]
        column = rows[:, 0]
        column[:] = 5
        lone = a[xp.asarray(places)][:, 1]
        other = lone[3:]
        lone += 1
        kept = a[xp.asarray(places)][:, 2]
        a[:, 2] = 0
        return rows[:4], column, lone, other, kept, kept.sum()

    for seen, expected in zip(program(gc, gc.asarray(a.copy())), program(np, a.copy())):
        np.testing.assert_array_equal(np.asarray(seen), expected)


@pytest.mark.parametrize("part", [lambda x: x[:, 0], lambda x: x[5:, 0], lambda x: x[:2], lambda x: x[:, [1, 2]]])
def test_places_outside_are_told_of_whatever_is_shown(part):
    places = gc.asarray(np.arange(100_000) % 9)  # so many are looked at as they are used
    places[3] = 10
    x = gc.asarray(np.random.default_rng(9).random((10, 900)))
    gc.eval(places)
    with pytest.raises(IndexError, match="index 10 is out of bounds for axis 0 with size 10"):
        np.asarray(part(x[places]))


SMALL = """
import resource
import graphc as gc
import numpy as np

x = gc.zeros((4000, 4000)) + gc.arange(4000.0)
gc.eval(x)
mask, places = gc.asarray(np.ones(4000, bool)), gc.asarray(np.arange(8000) % 4000)
columns = gc.asarray(np.array([7, 5, 11]))
parts = [lambda x: x[:, 7], lambda x: x[:, 5:9], lambda x: x[:, columns]]
for rows in (places, mask):
    for part in parts:
        u = part(gc.asarray(np.zeros((4000, 40)))[rows])  # compiled before
        gc.eval(u, u + 1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for rows in (places, mask):
    for part in parts:
        u = part(x[rows])
        gc.eval(u, u + 1)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 80 << 10, grown  # KiB; all rows are 256 and 128 MB
"""


def test_rows_are_not_moved_whole():
    run(SMALL)


def test_nothing_of_one_row():
    """While somebody sees the row, and when nobody does."""
    a = np.arange(12.0).reshape(3, 4)
    x = gc.asarray(a)
    for key in (slice(0, 0), slice(1, None), slice(1, 1), slice(None, None, 2), slice(None, 1), (slice(1, None), 2), (slice(None), slice(4, None))):
        for rows in ([1], [-1], [0, 2]):
            want = a[rows][key]
            assert x[rows][key].shape == gc.take(x, gc.asarray(rows), axis=0)[key].shape == want.shape
            taken = x[rows]
            part = taken[key]
            assert part.shape == want.shape
            del taken
            assert part.shape == want.shape and part.tolist() == want.tolist()
    one = x.reshape(-1)[gc.asarray([5])]
    assert gc.maximum(gc.roll(one, 1)[1:], one[1:]).shape == (0,)
