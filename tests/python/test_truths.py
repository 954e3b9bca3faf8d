"""Reductions of truth values and counts of what is not zero, in every layout: NumPy's values, whether recorded or found where they lie."""

import graphc as gc
import numpy as np
import pytest
from support.loops import KINDS, assert_same, of_kind

pytestmark = pytest.mark.graphc_only

LAYOUTS = [
    "x", "x[::-1]", "x[::2]", "x[5::-3]", "x[7:]", "x[:64]", "x[:65][::-1]", "x[3:4]", "x.reshape(-1, 20)", "x.reshape(-1, 20).T", "x.reshape(-1, 20)[::-1, ::-1]",
    "x.reshape(-1, 20)[:, 3:9]", "x.reshape(-1, 20).T[::-2]", "x.reshape(4, -1, 5).transpose(2, 0, 1)", "x.reshape(4, -1, 5)[:, ::-1].T",
    "xp.broadcast_to(x[9], (3, 4))", "xp.broadcast_to(x[:7], (5, 7))", "xp.broadcast_to(x[:7], (5, 7)).T", "x.reshape(-1, 1)", "x[None, ::3]",
]  # fmt: skip
REDUCED = ["{}.any()", "{}.all()", "{}.max()", "{}.min()", "{}.argmax()", "{}.argmin()", "{}.sum()", "{}.mean()", "xp.count_nonzero({})", "xp.any({})", "xp.sum({})", "({}).prod()"]
FALSE_AT = {"all": [], "none": None, "first": [0], "last": [-1], "middle": [1007], "few": [70, 71, 900]}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sought", [True, False])
@pytest.mark.parametrize("where", FALSE_AT)
def test_truths_are_found_where_they_lie(where, sought, kind):
    host = np.full(2000, not sought if FALSE_AT[where] is not None else sought)
    host[FALSE_AT[where] or []] = sought
    with of_kind(kind):
        for layout in LAYOUTS:
            for program in REDUCED:
                text = program.format(layout)
                want = eval(text, {"xp": np, "x": host})
                got = [eval(text, {"xp": gc, "x": gc.array(host)}), eval(text, {"xp": gc, "x": gc.array(host) == True})]  # noqa: E712
                assert_same(got, [want, want])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_counts_of_what_is_not_zero(dtype, kind):
    rng = np.random.default_rng(4)
    with of_kind(kind):
        for size in (0, 1, 63, 64, 65, 16319, 16320, 16400, 70000):
            for chance in (0.0, 0.3, 1.0):
                host = (rng.random(size) < chance).astype(dtype) * np.array(3 if dtype != "?" else 1, dtype)
                if np.dtype(dtype).kind == "f":
                    host[: size // 2] *= -1  # negative zeros are zeros
                x = gc.array(host)
                assert_same([gc.count_nonzero(x), gc.count_nonzero(x[::-1])], [np.count_nonzero(host)] * 2)


def test_updates_are_seen():
    x = gc.zeros(3000, bool)
    for i in range(0, 3000, 500):
        x[i] = True
        assert x.argmax() == 0 and x[::-1].argmax() == 2999 - i and x.sum() == i // 500 + 1 and x.any() and not x.all()
    with pytest.raises(ValueError):
        x[:0].max()
    assert not x[:0].any() and x[:0].all() and x[:0].sum() == 0
    assert x.sum(dtype="i1").dtype == "i1" and x.any(keepdims=True).shape == (1,)
