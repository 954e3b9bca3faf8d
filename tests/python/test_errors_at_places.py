"""Floating-point errors of operations on elements that indices name, and of numbers that an operand's dtype has no room for."""

import functools
import warnings

import numpy
import pytest

import graphc

pytestmark = pytest.mark.graphc_only

#: The operation, what is there, the places, and what meets it.
MEETINGS = {
    "powers": ("power", [1e300, 1.0], [0, 1], 2.0),
    "quotients": ("divide", [1.0, 1.0], [0, 1], 0.0),
    "a quotient of one element": ("divide", [1.0, 1.0], 0, 0.0),
    "quotients of a part": ("divide", [1.0, 1.0], slice(0, 1), 0.0),
    "quotients by a converted number": ("divide", [1.0, 1.0], [0, 1], 0),
    "quotients in a tuple": ("floor_divide", [1.0, 1.0], ([0, 1],), 0.0),
    "a remainder of one element": ("remainder", [1.0, 1.0], 0, 0.0),
    "powers of a part": ("power", [1.0, 0.0], slice(0, 2), -1.0),
}


def told(np, name, start, places, values, dtype, modes, repeat=1):
    x, seen = np.asarray(numpy.array(start, dtype)), []
    values = np.asarray(numpy.array(values, dtype)) if isinstance(values, list) else values
    with warnings.catch_warnings(record=True) as met, np.errstate(call=lambda text, flag: seen.append(text), **modes):
        warnings.simplefilter("always")
        try:
            for _ in range(repeat):
                getattr(np, name).at(x, places, values)
                numpy.asarray(x).sum(initial=0.0, where=False)  # looks at the values
            error = None
        except FloatingPointError as raised:
            error = str(raised)
    return [str(w.message) for w in met], seen, error, None if error else numpy.asarray(x).tolist()


@pytest.mark.parametrize("repeat", [1, 20])
@pytest.mark.parametrize("modes", [{}, {"all": "ignore"}, {"over": "raise", "invalid": "raise"}, {"all": "call", "under": "ignore"}])
@pytest.mark.parametrize("meeting", MEETINGS)
def test_what_meets_elements_tells_as_numpy(meeting, modes, repeat):
    name, start, places, values = MEETINGS[meeting]
    assert repr(told(graphc, name, start, places, values, "f8", modes, repeat)) == repr(told(numpy, name, start, places, values, "f8", modes, repeat))


def test_counting_with_weights_tells_of_nothing():
    def run(np):
        with warnings.catch_warnings(record=True) as met:
            warnings.simplefilter("always")
            counts = numpy.asarray(np.bincount(np.asarray([0, 0, 1]), np.asarray([1e308, 1e308, 1.0])))
        return [str(w.message) for w in met], counts.tolist()

    assert run(graphc) == run(numpy) == ([], [numpy.inf, 1.0])


@pytest.mark.parametrize("number", [1e300, -1e300, 1e30])
@pytest.mark.parametrize("name", ["fmax", "fmin", "fmod", "hypot", "copysign", "maximum"])
def test_numbers_that_an_operands_dtype_has_no_room_for(name, number):
    def run(np, flipped):
        x = np.arange(3, dtype=np.float32)
        with warnings.catch_warnings(record=True) as met:
            warnings.simplefilter("always")
            result = numpy.asarray(getattr(np, name)(*((number, x) if flipped else (x, number))))
        return [str(w.message) for w in met], result.dtype, result.tolist()

    for flipped in (False, True):
        assert repr(run(graphc, flipped)) == repr(run(numpy, flipped))


@pytest.mark.parametrize("step", [0, 0.0, numpy.int64(0), numpy.float64(0), numpy.int32(0)], ids=repr)
@pytest.mark.parametrize("ends", [(1, 3), (1, 1), (numpy.int64(1), 3)], ids=repr)
def test_a_range_without_a_step_is_refused_in_numpys_words(step, ends):
    def run(np):
        with warnings.catch_warnings(record=True) as met:
            warnings.simplefilter("always")
            with pytest.raises((ValueError, ZeroDivisionError)) as refused:
                np.arange(*ends, step)
        return str(refused.value), [(str(w.message), w.filename == __file__) for w in met]

    assert run(graphc) == run(numpy)


@pytest.mark.parametrize("name", ["fmod", "remainder", "power", "float_power"])
def test_other_operations_at_places_are_told_under_the_methods_name(name):
    def run(np):
        x = np.asarray(numpy.array([1.0, 2.0, 0.0]))
        with warnings.catch_warnings(record=True) as met:
            warnings.simplefilter("always")
            getattr(np, name).at(x, np.asarray([0, 0, 2]), np.asarray([0.0, 1.0, -1.0]))
        return sorted(str(w.message) for w in met)

    assert run(graphc) == run(numpy)


@pytest.mark.parametrize("values", [[1, 2, None], (1.5, None), [None, 1j, True], [1, "a", 2.5], [2, None, 3] * 100, [[1, None], [2, 3]]], ids=repr)
@pytest.mark.parametrize("options", [{}, {"dtype": float}, {"dtype": object}, {"copy": True}], ids=repr)
def test_numbers_beside_none_and_text_are_numpys_arrays(values, options):
    def run(np):
        try:
            made = np.array(values, **options)
        except (TypeError, ValueError) as error:
            return type(error).__mro__[-4:], None
        return numpy.asarray(made).dtype, numpy.asarray(made).tolist()

    ours, theirs = run(graphc), run(numpy)
    assert repr(ours[1]) == repr(theirs[1])
    assert theirs[1] is None or ours[0] == theirs[0]


def test_handlers_with_arguments_of_their_own_keep_them():
    def run(np):
        seen = []
        handler = functools.partial(lambda prefix, text, flag, *, tag: seen.append((prefix, text, tag)), "told", tag="T")
        with np.errstate(all="call", call=handler):
            numpy.asarray(np.asarray([1.0, 2.0]) / 0)
        return seen

    assert run(graphc) == run(numpy) == [("told", "divide by zero", "T")]
