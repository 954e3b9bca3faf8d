"""Frequencies and the order of transforms, as NumPy has them."""

import graphc as gc
import numpy as np
import pytest
from support import exact


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 1000])
@pytest.mark.parametrize("d", [1.0, 0.1, 3])
def test_frequencies(n, d):
    exact.assert_same(gc.fft.fftfreq(n, d), np.fft.fftfreq(n, d))
    exact.assert_same(gc.fft.rfftfreq(n, d), np.fft.rfftfreq(n, d))


@pytest.mark.parametrize("shape", [(1,), (5,), (6,), (3, 4), (0, 3), (2, 3, 5)], ids=str)
def test_shifts(shape):
    x = np.arange(np.prod(shape)).reshape(shape)
    for axes in (None, 0, -1, tuple(range(len(shape)))):
        exact.assert_same(gc.fft.fftshift(gc.asarray(x), axes=axes), np.fft.fftshift(x, axes))
        exact.assert_same(gc.fft.ifftshift(gc.asarray(x), axes=axes), np.fft.ifftshift(x, axes))
    exact.assert_same(gc.fft.ifftshift(gc.fft.fftshift(gc.asarray(x))), x)


@pytest.mark.graphc_only
def test_mistakes():
    for n in (0, -3, 2.5):
        with pytest.raises(ValueError):
            gc.fft.fftfreq(n)
    with pytest.raises(IndexError):
        gc.fft.fftshift(gc.zeros(3), axes=1)
    assert gc.fft.fftfreq(4, dtype="float32").dtype == np.float32
