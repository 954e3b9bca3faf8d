"""What is written to an array while something goes through it is read when its turn comes."""

import graphc as gc
import numpy as np
import pytest

LAYOUTS = {
    "rows": lambda xp: xp.arange(12.0).reshape(3, 4),
    "columns": lambda xp: xp.arange(12.0).reshape(4, 3).T,
    "steps": lambda xp: xp.arange(24.0).reshape(3, 8)[:, ::2],
    "reversed": lambda xp: xp.arange(12.0).reshape(3, 4)[::-1],
    "vector": lambda xp: xp.arange(5.0),
    "integers": lambda xp: xp.arange(12).reshape(3, 4),
    "many": lambda xp: xp.arange(4000.0).reshape(1000, 4),
}


def until_the_end(x):
    it = np.nditer(x) if isinstance(x, np.ndarray) else gc.nditer(x)
    while not it.finished:
        yield it[0]
        it.iternext()


THROUGH = {
    "iter": lambda xp, x: x,
    "reversed": lambda xp, x: reversed(x),
    "flat": lambda xp, x: x.flat,
    "ndenumerate": lambda xp, x: (v for _, v in xp.ndenumerate(x)),
    "nditer": lambda xp, x: xp.nditer(x),
    "nditer until it is finished": lambda xp, x: until_the_end(x),
    "nditer of two": lambda xp, x: (a + b for a, b in xp.nditer([x, xp.ones(x.shape[-1])])),
    "zip": lambda xp, x: (a + b for a, b in zip(x, x[::-1])),
}


@pytest.mark.parametrize("name", THROUGH)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_elements_are_read_in_their_turn(layout, name):
    found = []
    for xp in (np, gc):
        x = LAYOUTS[layout](xp)
        seen = []
        for v in THROUGH[name](xp, x):
            seen.append(float(np.asarray(v).sum()))
            if len(seen) < 40:
                x[-1] = x[-1] + 1
                x[0] = x[0] * 2
        found.append((seen, np.asarray(x).tolist()))
    assert found[0] == found[1]


def test_what_reads_alone_does_not_write():
    for xp in (np, gc):
        x = xp.arange(3.0)
        with pytest.raises(ValueError, match="read-only"):
            next(iter(xp.nditer(x)))[...] = 3
        locked = xp.broadcast_to(xp.arange(2.0), (2, 2))
        assert [float(v) for v in xp.nditer(locked)] == [0, 1, 0, 1]
        assert [int(v) for v in xp.nditer(xp.arange(3) > 1)] == [0, 0, 1]
        assert [float(v) for v in xp.nditer(xp.asarray(2.5))] == [2.5] and [float(v) for v in xp.nditer(x.sum())] == [3]
