"""Einstein summation: every pair of operands becomes one contraction, what is left over reductions and views."""

from __future__ import annotations

import builtins as _py
import math as _math
import string as _string
from typing import TYPE_CHECKING

import numpy as _np

from . import _graphc
from ._creation import asarray, single
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import as_dtype
from ._matrices import diagonal
from ._ufunc import with_out
from .errors import ArgumentError, ShapeError

if TYPE_CHECKING:
    from ._types import Array


def _letters(text, operands):
    """Terms and result of `text` with every ellipsis spelled out in letters that it does not use."""
    if not isinstance(text, str):
        raise ArgumentError("einsum: the first argument is the equation, such as 'ij,jk->ik'")
    text = text.replace(" ", "")
    if text.count("->") > 1 or set(text.replace("->", "").replace("...", "").replace(",", "")) - set(_string.ascii_letters):
        raise ArgumentError(f"einsum: {text!r} is not an equation of letters, commas, '...' and one '->'")
    left, arrow, result = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ArgumentError(f"einsum: {len(terms)} terms in {text!r} for {len(operands)} operands")
    free = [c for c in _string.ascii_letters if c not in text]
    widest = 0
    for term, x in zip(terms, operands):
        rest = x.ndim - len(term.replace("...", ""))
        if rest < 0 or (rest and "..." not in term):
            raise ShapeError(f"einsum: term {term!r} for an operand of shape {x.shape}")
        widest = _py.max(widest, rest if "..." in term else 0)
    shared = "".join(free[:widest])

    def spell(term, x):
        rest = x.ndim - len(term.replace("...", ""))
        return term.replace("...", shared[len(shared) - rest :] if rest else "")

    spelled = [spell(term, x) for term, x in zip(terms, operands)]
    if arrow:
        out = result.replace("...", shared)
    else:
        used = "".join(spelled)
        out = shared + "".join(sorted(c for c in set(used) if used.count(c) == 1 and c not in shared))
    if len(set(out)) != len(out) or set(out) - set("".join(spelled)):
        raise ArgumentError(f"einsum: the result of {text!r} repeats an index or names one that no operand has")
    return spelled, out


def _sizes(terms, operands, text):
    sizes = {}
    for term, x in zip(terms, operands):
        for c, n in zip(term, x.shape):
            if sizes.setdefault(c, n) != n and 1 not in (sizes[c], n):
                raise ShapeError(f"einsum: index {c!r} of {text!r} has sizes {sizes[c]} and {n}, shapes {[o.shape for o in operands]}")
            sizes[c] = _py.max(sizes[c], n) if 0 not in (sizes[c], n) else 0
    return sizes


def _single(term, x, keep):
    """One operand with repeated indices taken from the diagonal and those outside `keep` summed."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            first = term.index(c)
            second = term.index(c, first + 1)
            x = diagonal(x, 0, first, second)
            term = "".join(t for i, t in enumerate(term) if i not in (first, second)) + c
    gone = tuple(i for i, c in enumerate(term) if c not in keep)
    if gone:
        x = x.sum(axis=gone, dtype=x.dtype)
    return "".join(c for c in term if c in keep), x


def _pair(a, x, b, y, keep):
    """The product of two operands, summed over the indices that both have and `keep` has not."""
    both = [c for c in a if c in b]
    inner = [c for c in both if c not in keep]
    batch = [c for c in both if c in keep]
    left = [c for c in a if c not in both]
    right = [c for c in b if c not in both]
    if not inner:
        term = batch + left + right
        spread = [z.transpose([t.index(c) for c in term if c in t]).reshape([z.shape[t.index(c)] if c in t else 1 for c in term])
                  for t, z in ((a, x), (b, y))]  # fmt: skip
        return "".join(term), spread[0] * spread[1]
    # An axis of size 1 stands for any size.
    for c in inner + batch:
        n, m = x.shape[a.index(c)], y.shape[b.index(c)]
        n = _py.max(n, m) if n and m else 0
        x = _graphc.broadcast_to(x, tuple(n if d == c else s for d, s in zip(a, x.shape)))
        y = _graphc.broadcast_to(y, tuple(n if d == c else s for d, s in zip(b, y.shape)))
    size = lambda letters, t, z: [z.shape[t.index(c)] for c in letters]  # noqa: E731
    rows, columns = size(left, a, x), size(right, b, y)
    many, shared = size(batch, a, x), _math.prod(size(inner, a, x))
    x = x.transpose([a.index(c) for c in batch + left + inner]).reshape([*many, _math.prod(rows), shared])
    y = y.transpose([b.index(c) for c in batch + inner + right]).reshape([*many, shared, _math.prod(columns)])
    return "".join(batch + left + right), _graphc.matmul(x, y).reshape((*many, *rows, *columns))


def _sublists(operands):
    """einsum(x, [0, 1], y, [1, 2], [0, 2]) as an equation and operands."""
    place = lambda labels: "".join("..." if n is Ellipsis else _string.ascii_letters[n] for n in labels)  # noqa: E731
    pairs = len(operands) // 2
    text = ",".join(place(operands[2 * i + 1]) for i in range(pairs))
    if len(operands) % 2:
        text += "->" + place(operands[-1])
    return text, operands[0 : 2 * pairs : 2]


@_where_operands_are
def einsum(*operands, out=None, optimize=False, dtype=None, casting: str = "safe", order: str = "K") -> Array:
    """Sum of products of the operands over the indices that the result lacks: `einsum("bij,bjk->bik", x, y)`, or with
    lists of axis numbers after the operands. Operands are taken from left to right, two at a time; `optimize` is
    accepted and changes nothing. Raises ArgumentError for an equation that means nothing, ShapeError when sizes differ."""
    if not operands:
        raise ArgumentError("einsum: must specify the einstein sum subscripts string and at least one operand")
    equation, operands = (operands[0], operands[1:]) if isinstance(operands[0], str) else _sublists(operands)
    arrays = [asarray(x) for x in operands]
    terms, letters = _letters(equation, arrays)
    _sizes(terms, arrays, equation)
    kind = _graphc.result_type(*arrays) if dtype is None else as_dtype(dtype)
    arrays = [x.astype(kind, casting=casting, copy=False) for x in arrays]
    term, x = _single(terms[0], arrays[0], set(letters).union(*terms[1:]))
    for i in range(1, len(arrays)):
        later = set(letters).union(*terms[i + 1 :])
        other, y = _single(terms[i], arrays[i], later | set(term))
        term, x = _single(term, x, later | set(other))
        term, x = _pair(term, x, other, y, later)
    term, x = _single(term, x, set(letters))
    return with_out(x.transpose([term.index(c) for c in letters]) if len(letters) > 1 else single(x), out, casting, "einsum")


def einsum_path(*operands, optimize="greedy"):
    """The order of contractions that NumPy finds for operands of these shapes, and its description. `einsum` is one
    contraction whatever it says."""

    def shaped(x):
        return _np.broadcast_to(_np.empty((), "f8"), x.shape) if isinstance(x, _graphc.Array) else x

    return _np.einsum_path(*map(shaped, operands), optimize=optimize)
