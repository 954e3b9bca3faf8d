"""What errors say in NumPy's words, and of which class they are."""

import graphc as gc
import numpy as np
import pytest

CALLS = {
    "einsum('')": "must specify the einstein sum subscripts string",
    "einsum('', 0, 0)": "fewer operands provided to einstein sum function",
    "einsum(',', [0])": "more operands provided to einstein sum function",
    "einsum('i%', [0, 0])": "invalid subscript '%' in einstein sum subscripts string, subscripts must be letters",
    "einsum('i->ij', [0, 0])": "einstein sum subscripts string included output subscript 'j' which never appeared in an input",
    "einsum('i,i->ii', [0, 0], [1, 1])": "einstein sum subscripts string includes output subscript 'i' multiple times",
    "einsum('..i..', 0)": r"contains a '.' that is not part of an ellipsis \('...'\)",
    "einsum('a-b->', [0, 1])": "does not contain proper '->' output specified",
    "einsum('i,i', np.arange(2), np.arange(3))": "operands could not be broadcast together",
    "moveaxis(np.ones((2, 3)), [0, 0], [0, 1])": "repeated axis in `source` argument",
    "moveaxis(np.ones((2, 3)), [0, 1], [1, 1])": "repeated axis in `destination` argument",
    "matrix_transpose(np.ones(2))": "Input array must be at least 2-dimensional, but it is 1",
    "broadcast_arrays(np.ones(3), np.ones(2))": "shape mismatch: objects cannot be broadcast to a single shape",
    "broadcast_shapes((3,), (2,))": "shape mismatch: objects cannot be broadcast to a single shape",
    "searchsorted([[1]], 1)": "object too deep for desired array",
    "searchsorted(1, 1)": "object of too small depth for desired array",
    "diag(np.ones((2, 2, 2)))": "Input must be 1- or 2-d.",
    "full((2,), [1, 2, 3])": r"could not broadcast input array from shape \(3,\) into shape \(2,\)",
    "ones(2.0)": "expected a sequence of integers or a single integer, got '2.0'",
    "fft.fft(np.ones(3), out=np.ones(3))": "Cannot cast ufunc 'fft' output from",
    "bitwise_and(np.ones(2), 1)": "ufunc 'bitwise_and' not supported for the input types, and the inputs could not be safely coerced",
    "left_shift(1.0, 2)": "ufunc 'left_shift' not supported for the input types, .* according to the casting rule ''safe''",
    "invert(np.ones(2))": "ufunc 'invert' not supported for the input types",
    "negative(np.array([True]))": "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not function instead.",
    "subtract(np.array([True]), np.array([False]))": "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor",
    "select([], [])": "select with an empty condition list is not possible",
    "meshgrid(1, 2, indexing='a')": "Valid values for `indexing` are 'xy' and 'ij'.",
    "seterr(all='foo')": "invalid error mode 'foo'",
    "rot90(np.ones(1))": "Axes must be different.",
    "rot90(np.ones((2, 2)), axes=(0, 3))": "Axes=.* out of range for array of ndim=2.",
    "rot90(np.ones((2, 2)), axes=(0,))": "len\\(axes\\) must be 2.",
    "gradient([1])": r"Shape of array too small to calculate a numerical gradient, at least \(edge_order \+ 1\) elements are required.",
    "trace([1])": "diag requires an array of at least two dimensions",
    "diagonal(np.ones(3))": "diag requires an array of at least two dimensions",
    "sort([1], kind='foo')": r"sort kind must be one of 'quick', 'heap', or 'stable' \(got 'foo'\)",
    "vsplit(np.ones(3), 3)": "vsplit only works on arrays of 2 or more dimensions",
    "hsplit(np.float64(3), 3)": "hsplit only works on arrays of 1 or more dimensions",
    "dsplit(np.ones((3, 3)), 3)": "dsplit only works on arrays of 3 or more dimensions",
    "fliplr(np.ones(3))": "Input must be >= 2-d.",
    "flipud(1)": "Input must be >= 1-d.",
    "cos(np.ones((3, 3)), np.ones((2, 2)))": r"operands could not be broadcast together with shapes \(3,3\) \(2,2\)",
    "matmul([1, 2], 3)": r"Input operand 1 does not have enough dimensions \(has 0, gufunc core with signature",
    "arange(3).__format__('.2f')": "unsupported format string passed to numpy.ndarray.__format__",
}


@pytest.mark.parametrize("call", CALLS)
def test_message(call):
    for package in (np, gc):
        with pytest.raises(Exception, match=CALLS[call]) as caught:
            eval(f"package.{call}", {"package": package, "np": package})
        kinds = [kind for kind in type(caught.value).__mro__ if kind.__module__ == "builtins"]
        if package is np:
            expected = kinds[0]
    assert kinds[0] is expected


@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "f4", "f8"])
@pytest.mark.parametrize("value", [1j, np.nan, np.inf, 1e300, -np.inf])
def test_what_elements_cannot_be(dtype, value):
    said = []
    for package in (np, gc):
        x = package.zeros(3, dtype)
        try:
            x[0] = value
        except (TypeError, ValueError, OverflowError) as error:
            said.append(str(error).split(" (at")[0])
        else:
            said.append("taken")
    assert said[0] == said[1]
