"""Einstein summation: every pair of operands becomes one contraction, what is left over reductions and views."""

from __future__ import annotations

import builtins as _py
import functools as _functools
import math as _math
import operator as _operator
from typing import TYPE_CHECKING

import numpy as _np

from . import _graphc
from ._creation import _order, asarray, in_order, single
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import as_dtype, can_cast, refuse_casting
from ._matrices import diagonal_view
from ._ufunc import with_out
from .errors import ArgumentError, DTypeError, ShapeError

if TYPE_CHECKING:
    from ._types import Array

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _letters(text, ranks):
    """Terms and result of `text`, for operands of these ranks, with every ellipsis spelled out in letters that it does not use."""
    if not isinstance(text, str):
        raise ArgumentError("einsum: the first argument is the equation, such as 'ij,jk->ik'")
    text = text.replace(" ", "")
    others = set(text.replace("->", "").replace("...", "").replace(",", "")) - set(_LETTERS)
    if text.count("->") > 1 or others & {"-", ">"}:
        raise ArgumentError(f"einstein sum subscript string does not contain proper '->' output specified: {text!r}")
    if "." in others:
        raise ArgumentError(f"einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...'): {text!r}")
    if others:
        raise ArgumentError(f"invalid subscript {min(others)!r} in einstein sum subscripts string, subscripts must be letters: {text!r}")
    left, arrow, result = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        number = "fewer" if len(terms) < len(ranks) else "more"  # in NumPy's words
        raise ArgumentError(f"{number} operands provided to einstein sum function than specified in the subscripts string {text!r}")
    free = [c for c in _LETTERS if c not in text]
    widest = 0
    for term, rank in zip(terms, ranks):
        rest = rank - len(term.replace("...", ""))
        if rest < 0 or (rest and "..." not in term):
            number = "too many subscripts" if rest < 0 else "fewer subscripts than dimensions"
            raise ShapeError(f"einstein sum subscripts string contains {number} for an operand: {term!r} for {rank} axes")
        widest = _py.max(widest, rest if "..." in term else 0)
    shared = "".join(free[:widest])

    def spell(term, rank):
        rest = rank - len(term.replace("...", ""))
        return term.replace("...", shared[len(shared) - rest :] if rest else "")

    spelled = [spell(term, rank) for term, rank in zip(terms, ranks)]
    if arrow:
        out = result.replace("...", shared)
    else:
        used = "".join(spelled)
        out = shared + "".join(sorted(c for c in set(used) if used.count(c) == 1 and c not in shared))
    for c in out:
        if out.count(c) > 1:
            raise ArgumentError(f"einstein sum subscripts string includes output subscript {c!r} multiple times: {text!r}")
        if not any(c in term for term in spelled):
            raise ArgumentError(f"einstein sum subscripts string included output subscript {c!r} which never appeared in an input: {text!r}")
    return spelled, out


def _check_sizes(terms, shapes, text):
    sizes = {}
    for term, shape in zip(terms, shapes):
        own = {}
        for c, n in zip(term, shape):
            if own.setdefault(c, n) != n:
                raise ShapeError(f"einsum: dimensions in operand {shape} for collapsing index {c!r} don't match ({own[c]} != {n})")
            if sizes.setdefault(c, n) != n and 1 not in (sizes[c], n):
                raise ShapeError(
                    f"operands could not be broadcast together: index {c!r} of {text!r} has sizes {sizes[c]} and {n}, shapes {list(shapes)}"
                )
            sizes[c] = _py.max(sizes[c], n) if 0 not in (sizes[c], n) else 0


class _Operand:
    """An operand while the steps are chosen: its indices, its shape, and its place among the values."""

    def __init__(self, steps, place, term, shape):
        self.steps, self.place, self.term, self.shape = steps, place, term, tuple(shape)

    def step(self, function, *args, term, shape):
        """Notes a step of one value; one that changes nothing is none."""
        self.steps.append((self.place, None, function, args))
        self.term, self.shape = term, tuple(shape)

    def reshape(self, shape):
        if tuple(shape) != self.shape:
            self.step("reshape", *shape, term=self.term, shape=shape)

    def broadcast(self, shape):
        if tuple(shape) != self.shape:
            self.step("broadcast", *shape, term=self.term, shape=shape)

    def transpose(self, letters):
        order = [self.term.index(c) for c in letters]
        if order != list(range(len(order))):
            self.step("transpose", *order, term=letters, shape=[self.shape[i] for i in order])

    def reduce(self, keep):
        """Takes repeated indices from the diagonal, and sums over those outside `keep`."""
        for c in dict.fromkeys(self.term):
            while self.term.count(c) > 1:
                first = self.term.index(c)
                second = self.term.index(c, first + 1)
                rest = [i for i in range(len(self.term)) if i not in (first, second)]
                self.step(diagonal_view, 0, first, second, term="".join(self.term[i] for i in rest) + c,
                          shape=[*(self.shape[i] for i in rest), _py.min(self.shape[first], self.shape[second])])  # fmt: skip
        gone = tuple(i for i, c in enumerate(self.term) if c not in keep)
        if gone:
            self.step("sum", *gone, term="".join(c for c in self.term if c in keep),
                      shape=[n for i, n in enumerate(self.shape) if i not in gone])  # fmt: skip

    def sizes(self, letters):
        return [self.shape[self.term.index(c)] for c in letters]


def _pair(x, y, keep):
    """`x` becomes the product of both, summed over the indices that both have and `keep` has not."""
    both = [c for c in x.term if c in y.term]
    inner = [c for c in both if c not in keep]
    batch = [c for c in both if c in keep]
    left = [c for c in x.term if c not in both]
    right = [c for c in y.term if c not in both]
    term = "".join(batch + left + right)
    if not inner:
        for z in (x, y):
            own = [c for c in term if c in z.term]
            z.transpose("".join(own))
            z.reshape([z.shape[own.index(c)] if c in own else 1 for c in term])
        shape = [_py.max(n, m) if n and m else 0 for n, m in zip(x.shape, y.shape)]
        x.steps.append((x.place, y.place, "multiply", ()))
        x.term, x.shape = term, tuple(shape)
        return
    # An axis of size 1 stands for any size.
    if not batch and len(inner) == 1 and len(left) < 2 and len(right) < 2 and x.sizes(inner) == y.sizes(inner):
        rows, columns = x.sizes(left), y.sizes(right)
        x.transpose("".join(left + inner))
        y.transpose("".join(inner + right))
        x.steps.append((x.place, y.place, "product", ()))
        x.term, x.shape = term, (*rows, *columns)
        return
    full = {c: _py.max(n, m) if n and m else 0 for c, n, m in zip(both, x.sizes(both), y.sizes(both))}
    for z in (x, y):
        z.broadcast([full.get(c, n) for c, n in zip(z.term, z.shape)])
    rows, columns, many = x.sizes(left), y.sizes(right), x.sizes(batch)
    shared = _math.prod(x.sizes(inner))
    x.transpose("".join(batch + left + inner))
    # Without a batch, what has no axis of its own is a vector.
    height = [_math.prod(rows)] if left or batch else []
    width = [_math.prod(columns)] if right or batch else []
    x.reshape([*many, *height, shared])
    y.transpose("".join(batch + inner + right))
    y.reshape([*many, shared, *width])
    x.steps.append((x.place, y.place, "product", ()))
    x.term, x.shape = term, (*many, *height, *width)
    x.reshape([*many, *rows, *columns])


@_functools.lru_cache(maxsize=1024)
def _plan(equation, shapes):
    """Steps, each of which replaces its first value; the first one of all is the result (`_graphc.contract`)."""
    terms, letters = _letters(equation, [len(shape) for shape in shapes])
    _check_sizes(terms, shapes, equation)
    steps = []
    operands = [_Operand(steps, i, term, shape) for i, (term, shape) in enumerate(zip(terms, shapes))]
    first = operands[0]
    first.reduce(set(letters).union(*terms[1:]))
    for i, other in enumerate(operands[1:], 1):
        later = set(letters).union(*terms[i + 1 :])
        other.reduce(later | set(first.term))
        first.reduce(later | set(other.term))
        _pair(first, other, later)
    first.reduce(set(letters))
    first.transpose(letters)
    return _graphc.contraction(steps)


def _sublists(operands):
    """einsum(x, [0, 1], y, [1, 2], [0, 2]) as an equation and operands."""
    letters = _LETTERS

    def place(labels):
        for n in labels:
            if n is not Ellipsis and not 0 <= _operator.index(n) < len(letters):
                raise ArgumentError(f"subscript is not within the valid range [0, {len(letters)})")
        return "".join("..." if n is Ellipsis else letters[n] for n in labels)

    pairs = len(operands) // 2
    text = ",".join(place(operands[2 * i + 1]) for i in range(pairs))
    if len(operands) % 2:
        text += "->" + place(operands[-1])
    return text, operands[0 : 2 * pairs : 2]


def _is_product(equation):
    """Whether operands share an index that the result lacks."""
    terms, _, letters = equation.replace(" ", "").replace("...", "").partition("->")
    terms = terms.split(",")
    shared = {c for i, term in enumerate(terms) for c in term if any(c in other for other in terms[:i])}
    return _py.bool(shared.difference(letters)) if "->" in equation else any(sum(term.count(c) for term in terms) > 1 for c in shared)


def _check_casts(arrays, kind, out, casting):
    for i, x in enumerate(arrays):
        if not can_cast(x.dtype, kind, casting):
            raise DTypeError(f"Iterator operand {i} dtype could not be cast from {x.dtype!r} to {kind!r} according to the rule '{casting}'")
    if out is not None and not can_cast(kind, out.dtype, casting):
        raise DTypeError(
            f"Iterator requested dtype could not be cast from {kind!r} to {out.dtype!r}, the operand {len(arrays)} dtype,"
            f" according to the rule '{casting}'"
        )


@_where_operands_are
def einsum(*operands, out=None, optimize=False, dtype=None, casting: str = "safe", order: str = "K") -> Array:
    """Sum of products of the operands over the indices that the result lacks: `einsum("bij,bjk->bik", x, y)`, or with
    lists of axis numbers after the operands. Operands are taken from left to right, two at a time; `optimize` is
    accepted and changes nothing. Raises ArgumentError for an equation that means nothing, ShapeError when sizes differ."""
    if not operands or (len(operands) == 1 and isinstance(operands[0], str)):
        raise ArgumentError(
            "must specify the einstein sum subscripts string and at least one operand, "
            "or at least one operand and its corresponding subscripts list"
        )
    order = _order(order)
    refuse_casting(casting)
    if out is not None and not _graphc.is_array(out) and not isinstance(out, _np.ndarray):
        raise TypeError("keyword parameter out must be an array for einsum")
    if isinstance(optimize, (list, tuple)):
        einsum_path(*operands, optimize=optimize)  # refuses what is no order of contractions of these
    equation, operands = (operands[0], operands[1:]) if isinstance(operands[0], str) else _sublists(operands)
    arrays = [asarray(x) for x in operands]
    if optimize and out is not None and _is_product(equation):  # NumPy's product of matrices is written to any dtype
        place, casting = None, "unsafe"
    else:
        place = out
    kind = arrays[0].dtype
    if dtype is not None:
        kind = as_dtype(dtype)
    elif any(x.dtype is not kind for x in (arrays[1:] if place is None else (*arrays[1:], place))):
        kind = _graphc.result_type(*arrays, *(() if place is None else (place,)))
    _check_casts(arrays, kind, place, casting)
    values = [x if x.dtype == kind else x.astype(kind, copy=False) for x in arrays]
    x = _graphc.contract(_plan(equation, tuple([x.shape for x in values])), values)
    if out is None and order != "K" and x.ndim > 1:
        x = in_order(x, order if order != "A" else "F" if all(a.flags.fnc for a in arrays) else "C")
    return with_out(x if x.ndim > 1 else single(x), out, casting, "einsum")


einsum.quick = _graphc.plain_einsum(_plan)


def einsum_path(*operands, optimize="greedy", einsum_call=False):
    """The order of contractions that NumPy finds for operands of these shapes, and its description. `einsum` is one
    contraction whatever it says."""

    def shaped(x):
        return _np.broadcast_to(_np.empty((), "f8"), x.shape) if _graphc.is_array(x) else x

    return _np.einsum_path(*map(shaped, operands), optimize=optimize, einsum_call=einsum_call)
