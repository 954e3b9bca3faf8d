"""Philox4x32-10 and the streams of docs/random.md in NumPy: a second implementation, checked against Random123's known
answers (test_random.py)."""

import numpy as np

_M32 = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def words(counter, key):
    """The four uint64 arrays (values below 2**32) of counters given as four arrays of words, and a key as two."""
    c = [np.asarray(w, np.uint64) for w in counter]
    k = [np.asarray(w, np.uint64) for w in key]
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> _HALF) ^ c[1] ^ k[0], p1 & _M32, (p0 >> _HALF) ^ c[3] ^ k[1], p0 & _M32]
        k = [(k[0] + np.uint64(0x9E3779B9)) & _M32, (k[1] + np.uint64(0xBB67AE85)) & _M32]
    return c


def _of(counter, stream, key):
    split = lambda v: (np.uint64(v & 0xFFFFFFFF), np.uint64(v >> 32))  # noqa: E731
    return words([counter & _M32, counter >> _HALF, *split(stream)], split(key))


def bits64(count, stream, key):
    """The 64 bits of elements 0 to count - 1 of a stream."""
    i = np.arange(count, dtype=np.uint64)
    w = _of(i // np.uint64(16) * np.uint64(8) + i % np.uint64(8), stream, key)
    second = (i // np.uint64(8)) % np.uint64(2) == 1
    return np.where(second, w[2], w[0]) | np.where(second, w[3], w[1]) << _HALF


def bits32(count, stream, key):
    """The 32 bits of elements 0 to count - 1 of a stream."""
    i = np.arange(count, dtype=np.uint64)
    w = _of(i // np.uint64(32) * np.uint64(8) + i % np.uint64(8), stream, key)
    return np.choose((i // np.uint64(8) % np.uint64(4)).astype(int), w).astype(np.uint32)


def random(count, stream, key, dtype="float64"):
    """What Generator.random gives for a stream."""
    if np.dtype(dtype) == np.float32:
        return (bits32(count, stream, key) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
    return (bits64(count, stream, key) >> np.uint64(11)).astype(np.float64) * 2.0**-53
