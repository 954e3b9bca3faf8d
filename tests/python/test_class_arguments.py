"""Objects of classes made of NumPy's arrays in calls with a dtype and in what is joined: NumPy's answers, without a refusal of ours first."""

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only


def objects(xp):
    class Labelled(xp.ndarray):
        def __array_finalize__(self, other):
            self.label = getattr(other, "label", "new")

    made = xp.arange(1.0, 5.0).view(Labelled)
    made.label = "mine"
    return made, xp.arange(4.0), xp.float64(3), xp.arange(4).view(np.matrix)


CALLS = {
    "array": lambda xp, s, a, v, m: [xp.array(s, dtype=float), xp.array(s, "i4"), xp.array(s, xp.float32), xp.array(s, dtype=xp.dtype("c8")), xp.array(m, dtype=bool)],
    "asarray": lambda xp, s, a, v, m: [xp.asarray(s, dtype=float), xp.asarray(m, float), xp.asanyarray(s, dtype=int), xp.array(s, dtype=float, subok=True)],
    "like": lambda xp, s, a, v, m: [xp.zeros_like(s, dtype=int), xp.full_like(s, 7, dtype=xp.float32), xp.ones_like(m, dtype=float), xp.sum(s, dtype=xp.float32)],
    "concatenate": lambda xp, s, a, v, m: [xp.concatenate([s, a]), xp.concatenate((a, s, s)), xp.concatenate([s, [1, 2]], axis=0), xp.concatenate([m, m], axis=1)],
    "dtype": lambda xp, s, a, v, m: [xp.concatenate([a, s], dtype=xp.float32), xp.concatenate([[v], s]), xp.stack([s, a], dtype=complex)],
    "stacks": lambda xp, s, a, v, m: [xp.vstack([s, a]), xp.hstack((a, s)), xp.stack([s, a], axis=1), xp.column_stack([a, s]), xp.dstack([s, s]), xp.vstack([m, s])],
    "lists": lambda xp, s, a, v, m: [xp.dot(s, [1, 2, 3, v]), xp.outer([1, v], s), xp.linalg.norm(s, 1)],
}


@pytest.mark.parametrize("name", CALLS)
def test_numpys_answers_without_a_refusal(monkeypatch, name):
    wanted = CALLS[name](np, *objects(np))
    refusals, begin = [], gc.errors.ForeignDType.__init__

    def counted(self, *args, **keywords):
        refusals.append(args)
        begin(self, *args, **keywords)

    monkeypatch.setattr(gc.errors.ForeignDType, "__init__", counted)
    found = CALLS[name](gc, *objects(gc))
    assert not refusals
    for ours, theirs in zip(found, wanted, strict=True):
        assert (ours.dtype, ours.shape, ours.tolist()) == (theirs.dtype, theirs.shape, theirs.tolist())
        assert getattr(ours, "label", None) == getattr(theirs, "label", None)
        assert isinstance(ours, gc.Array) if type(theirs) in (np.ndarray, np.float64, np.float32) else type(ours).__name__ == type(theirs).__name__


def test_outputs_are_written_to_and_errors_are_numpys():
    for xp in (np, gc):
        s, a, _, m = objects(xp)
        out = xp.zeros(8)
        assert xp.concatenate([s, a], out=out) is out and out.tolist() == [1, 2, 3, 4, 0, 1, 2, 3]
        with pytest.raises(ValueError, match="must match exactly"):
            xp.concatenate([s.reshape(1, 4), xp.zeros((2, 2))])
        with pytest.raises(ValueError, match="must match exactly"):
            xp.vstack([m, xp.zeros(3)])
        with pytest.raises(TypeError):
            xp.array(s, dtype=list([1]))


def test_copies_are_apart_and_views_are_not():
    for xp in (np, gc):
        s, *_ = objects(xp)
        copied, seen = xp.array(s, dtype=float), xp.asarray(s, dtype=float)
        s[0] = 9
        assert copied[0] == 1 and seen[0] == 9
        copied[1] = 7
        seen[2] = 8
        assert s.tolist() == [9, 2, 8, 4]


def test_arrays_of_jitted_functions_are_joined():
    s, *_ = objects(np)

    @gc.jit
    def joined(x):
        return gc.concatenate([x, np.asarray(s)]) + gc.vstack([x, x]).sum()

    assert joined(gc.arange(2.0)).tolist() == (np.concatenate([np.arange(2.0), s]) + 2).tolist()


def test_warnings_of_casts_name_the_users_line():
    for xp in (np, gc):
        *_, m = objects(xp)
        with pytest.warns(np.exceptions.ComplexWarning) as caught:
            xp.concatenate([m, m * 1j], dtype=float, casting="unsafe")
        assert [w.filename for w in caught] == [__file__]
