"""Integer division against NumPy: whatever form a quotient or a chain of remainders takes, its integers are the wrapping ones."""

import graphc as gc
import numpy as np
import pytest
from support import exact
from support.loops import in_turns

#: Around every bound that a form of the chain may be chosen by.
MODULI = (2, 3, 61, 4096, 46341, 6700417, 2**25 - 39, 2**31 - 1, 2**50 - 27, 2**50 + 55, 2**62 + 1)

CHAINS = {
    "logistic": lambda x, y, p: (22 * x * (x + 1)) % p,
    "square": lambda x, y, p: (x * x - 7) % p,
    "operand each step": lambda x, y, p: (x * 5 + y) % p,
    "negative": lambda x, y, p: (3 - x * y - x) % p,
    "two products": lambda x, y, p: (x * (1 + x) + (x + 1) * (x - 1)) % p,
    "another modulus between": lambda x, y, p: (x % (p // 2 + 1) * 3 + x) % p,
    "negated": lambda x, y, p: (-x + x * 2) % p,
}


def inputs():
    rng = np.random.default_rng(70)
    info = np.iinfo("int64")
    edges = [0, 1, -1, 2, 2**22, 2**23, 2**25, 2**26, 2**31, 2**50, 2**51, 2**52, 2**53, info.min, info.min + 1, info.max]
    x = np.concatenate([edges, np.negative(edges), rng.integers(-(10**6), 10**6, 300), rng.integers(info.min, info.max, 300)])
    return x.astype("int64"), np.roll(x, 5).astype("int64")


@pytest.mark.parametrize("chain", sorted(CHAINS))
@pytest.mark.parametrize("p", MODULI)
def test_chains_of_remainders(chain, p):
    step = CHAINS[chain]
    x, y = inputs()
    want, got, seen = x, gc.asarray(x), []
    second = gc.asarray(y)
    with np.errstate(all="ignore"):
        for i in range(4):
            want, got = step(want, y, p), step(got, second, p)
            if i in (1, 3):
                seen.append((got + 1 if i == 1 else got, want + 1 if i == 1 else want))
    gc.eval(*[g for g, _ in seen])
    for g, w in seen:
        exact.assert_same(g, w, f"{chain} modulo {p}")


@pytest.mark.parametrize("p", MODULI)
def test_small_values_take_the_short_way_alone(p):
    """No lane is beyond the bound, then one is, in the last vector."""
    x = np.arange(1000, dtype="int64")
    for last in (999, -1, 2**40, np.iinfo("int64").min):
        x[-1] = last
        want, got = x, gc.asarray(x)
        with np.errstate(all="ignore"):
            for _ in range(3):
                want, got = (22 * want * (want + 1)) % p, (22 * got * (got + 1)) % p
        exact.assert_same(got, want, f"modulo {p}, last {last}")


#: Dividends whose range the compiler can know, each by another operation.
BOUNDED = {
    "mask": lambda xp, x: x & 0xFFFF,
    "two masks": lambda xp, x: (x & 0xFFFF) * (x & 0xFF) + 5,
    "shift": lambda xp, x: (x >> 40) + 1,
    "quotient": lambda xp, x: x // 1000003,
    "clip": lambda xp, x: xp.clip(x, 10, 5000),
    "minimum": lambda xp, x: xp.minimum(x, 77),
    "maximum of a mask": lambda xp, x: xp.maximum(x & 0xFFFFF, 3),
    "selection": lambda xp, x: xp.where(x > 5, x & 0xFFF, 7),
    "absolute": lambda xp, x: abs(x),
    "negative": lambda xp, x: -(x & 0xFFFF),
    "square": lambda xp, x: xp.square(x & 0x3FFFFFF),
}


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint32"])
def test_ranges_of_dividends(dtype):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(71)
    near = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2, info.max // 2 + 1, 0, 1, 2, 99]
    x = np.concatenate([np.array(near, dtype), rng.integers(info.min, info.max, 500, dtype), np.arange(100, dtype=dtype)])
    g = gc.asarray(x)
    results = []
    with np.errstate(all="ignore"):
        for name, make in BOUNDED.items():
            for p in (7, 61, 6700417):
                results.append((f"{name} // {p}", make(gc, g) // p, make(np, x) // np.array(p, dtype)))
                results.append((f"{name} % {p}", make(gc, g) % p, make(np, x) % np.array(p, dtype)))
    gc.eval(*[got for _, got, _ in results])
    for name, got, want in results:
        exact.assert_same(got, want, f"{name} {dtype}")


@pytest.mark.parametrize("p", [3, 7, 15, 999983, 6700417, 33554429, 33554431, 33554467])
def test_chains_of_quadratics_modulo_a_constant(p):
    rng = np.random.default_rng(p)
    x = np.concatenate([np.arange(-300, 300), rng.integers(0, p, 900), rng.integers(-2**28, 2**28, 900),
                        [p, -p, 2**27, 2**28, 2**28 - 1, -2**28, 2**62, 2**63 - 1, -2**63]])

    def same(x):
        for _ in range(6):
            x = 22 * x * (x + 1) % p
        return x

    def different(x):
        x = (3 * x * x - 5 * x + 7) % p
        x = (-x * x + 11) % p
        return (17 - x * (x - 4) * 9) % p

    def branching(x):
        a = (x * x + 1) % p
        b, c = (a * a + 3) % p, (a * a - a) % p
        return a + b * 3 + c * 5 + (b * b + b + 1) % 101

    for f in (same, different, branching):
        with np.errstate(over="ignore"):
            want = f(x)
        np.testing.assert_array_equal(np.asarray(gc.jit(f)(gc.asarray(x))), want)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
def test_negative_powers_of_integers_raise(dtype):
    a = np.arange(6, dtype=dtype).reshape(2, 3) + 1
    negative = np.array([[0, 1, 2], [3, -1, 2]], dtype=dtype)
    for bases, powers in [(a, negative), (a, negative[:, ::2][:, :1]), (a[0], negative[1]), (a, np.int64(-2)), (3, negative), (a, -1)]:
        x, y = (gc.asarray(v) if isinstance(v, np.ndarray) else v for v in (bases, powers))
        if not np.any(np.asarray(powers) < 0):
            exact.assert_same(x**y, bases**powers, "power")
            continue
        with pytest.raises(ValueError):
            bases**powers
        with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
            x**y
        with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
            gc.power(x, y)
    exact.assert_same(gc.asarray(a) ** gc.asarray(negative.astype("f8")), a ** negative.astype("f8"), "power")
    exact.assert_same(gc.asarray(a.astype("f4")) ** gc.asarray(negative), a.astype("f4") ** negative, "power")
    computed = gc.asarray(negative) - 1
    gc.eval(computed)
    with pytest.raises(ValueError, match="negative integer powers"):
        gc.asarray(a) ** computed


@pytest.mark.parametrize("dtype", ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"))
@pytest.mark.parametrize("count", (5, 5000))
def test_reciprocals_are_integers(dtype, count):
    a = np.resize(np.array([0, 1, 2, 3, 100]).astype(dtype), count)
    a = np.where(np.arange(count) % 7 == 3, -a, a).astype(dtype) if dtype[0] == "i" else a
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in reciprocal"):
        theirs = np.reciprocal(a)
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in reciprocal"):
        ours = np.asarray(gc.reciprocal(gc.asarray(a)))
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)
    assert gc.reciprocal(2) == 0 and gc.reciprocal(1) == 1 and gc.reciprocal(1).dtype == np.int64
    np.testing.assert_array_equal(gc.jit(gc.reciprocal)(gc.asarray(a[1:3])), theirs[1:3])


@pytest.mark.parametrize("name", ("gcd", "lcm"))
def test_many_common_divisors(name):
    a, b = np.random.default_rng(2).integers(0, 10**6, (2, 60000))
    for x, y in ((a, b), (a[::2], b[::-2]), (a.astype("i4"), b), (a, 12)):
        np.testing.assert_array_equal(getattr(gc, name)(gc.asarray(x), gc.asarray(y)), getattr(np, name)(x, y))


def test_places_in_long_vectors():
    a = np.sort(np.random.default_rng(2).random(60000))
    x = gc.asarray(a)
    for side in ("left", "right"):
        for v in (0.5, 2, np.float32(0.1), [0.1, 0.7], a[:7], -1, np.nan):
            for _ in range(20):
                made = gc.searchsorted(x, gc.asarray(v) if isinstance(v, np.ndarray) else v, side=side), x[::2].searchsorted(v, side)
            for ours, theirs in zip(made, (np.searchsorted(a, v, side), a[::2].searchsorted(v, side))):
                assert ours.dtype == theirs.dtype and np.shape(ours) == np.shape(theirs)
                np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_one_divisor_of_many(dtype):
    """Quotients and remainders of a vector by one number, around every bound, recorded and at once; operands out of order as well."""
    rng, info = np.random.default_rng(71), np.iinfo(dtype)
    edges = np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3], dtype)
    few = np.arange(-40 if info.min < 0 else 0, 60).astype(dtype)
    x = np.concatenate([edges, few, rng.integers(info.min, info.max, 300, dtype, endpoint=True)])
    divisors = [1, 2, 3, 5, 7, 10, 64, 100, info.max, info.max - 1, info.max // 2, info.max // 2 + 1, info.max // 3]
    divisors += [int(d) for d in rng.integers(1, info.max, 30, dtype)] + ([-3, -7, info.min] if info.min < 0 else [])
    a = gc.asarray(x)

    def program(xp, v):
        results = []
        for d in divisors:
            d = np.dtype(dtype).type(d)
            results += [v // d, v % d, v[::-3] // d, xp.remainder(v, d), *divmod(v[5:99], d)]
        return [np.asarray(r) for r in results]

    want = program(np, x)
    for turns in (0, gc._graphc.NEVER):
        for got, expected in zip(in_turns(turns, lambda: program(gc, a)), want):
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(got, expected)
