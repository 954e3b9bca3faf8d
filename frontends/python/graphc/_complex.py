"""Complex arrays as pairs of real ones. The only place that knows how one becomes the other."""

from . import _graphc


def parts(x):
    """Real and imaginary parts; zeros for the latter of a real array."""
    if x.dtype.kind == "c":
        return x.real, x.imag
    return x, _graphc.full(x.shape, 0, x.dtype, x.device)


def of_parts(re, im):
    """The complex array of two float arrays of one shape and dtype."""
    return _graphc.elementwise("complex", [re, im])
