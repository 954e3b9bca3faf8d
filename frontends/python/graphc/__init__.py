"""graphc: NumPy-like arrays that are recorded lazily, fused into kernels, and computed on CPUs, GPUs of NVIDIA and OpenCL devices.

>>> import graphc as gc
>>> x = gc.arange(4.0)
>>> gc.sum(x * x)
np.float64(14.0)
"""

import functools as _functools
import gc as _collector
import sys as _sys

import numpy as _np
from numpy import e, euler_gamma, inf, nan, pi  # its objects: programs ask whether a value `is np.nan`

from . import errors
from .errors import (
    ArgumentError,
    AxisError,
    CacheError,
    CompileError,
    DeviceError,
    DTypeError,
    FileError,
    GraphcError,
    GraphcWarning,
    IndexOutOfBounds,
    InternalError,
    LinAlgError,
    OutOfMemory,
    PerformanceWarning,
    ShapeError,
    TraceError,
    UnsupportedError,
)

try:
    from . import _graphc
except ImportError as _error:
    if "cannot import name '_graphc'" in str(_error):
        raise ImportError(
            f"the extension module of graphc is missing in {__path__[0]}: this is a source folder, or the package was "
            "built for another Python. Build it with `tools/dev build` or install it with `pip install .`"
        ) from _error
    raise

_graphc.set_package_folder(__path__[0])
# What a package makes when it is imported stays: Python's collector would go through all of it some twenty times.
_collects = _collector.isenabled()
_collector.disable()

from ._assemble import (  # noqa: E402
    append,
    array_split,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block,
    column_stack,
    delete,
    dsplit,
    dstack,
    fliplr,
    flipud,
    hsplit,
    hstack,
    indices,
    insert,
    repeat,
    rollaxis,
    rot90,
    split,
    vsplit,
    vstack,
)
from ._creation import (  # noqa: E402
    arange,
    array,
    asanyarray,
    asarray,
    asarray_chkfinite,
    ascontiguousarray,
    asfortranarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    require,
    tril,
    triu,
    zeros,
    zeros_like,
)
from ._devices import (  # noqa: E402
    Device,
    cache_info,
    default_device,
    device,
    devices,
    eval,
    explain,
    synchronize,
)
from ._dtypes import (  # noqa: E402
    astype,
    bool_,
    can_cast,
    complex64,
    complex128,
    finfo,
    float16,
    float32,
    float64,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    result_type,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ._einsum import einsum, einsum_path  # noqa: E402
from ._export import export, spec  # noqa: E402
from ._files import (  # noqa: E402
    array2string,
    array_repr,
    array_str,
    frombuffer,
    fromfile,
    fromiter,
    fromstring,
    genfromtxt,
    load,
    loadtxt,
    save,
    savetxt,
    savez,
    savez_compressed,
)
from ._functional import (  # noqa: E402
    apply_along_axis,
    apply_over_axes,
    frompyfunc,
    iterable,
    ndenumerate,
    ndindex,
    packbits,
    piecewise,
    trim_zeros,
    unpackbits,
    vectorize,
)
from ._float_errors import errstate, geterr, geterrcall, seterr, seterrcall  # noqa: E402
from ._numerics import numerics  # noqa: E402
from ._correlate import convolve, correlate  # noqa: E402
from ._names import (  # noqa: E402
    broadcast,
    c_,
    common_type,
    diag_indices,
    diag_indices_from,
    isfortran,
    mask_indices,
    min_scalar_type,
    r_,
    resize,
    row_stack,
    tril_indices,
    tril_indices_from,
    triu_indices,
    triu_indices_from,
)
from ._names import shared as _shared  # noqa: E402
from ._info import namespace_info as __array_namespace_info__  # noqa: E402
from ._pad import pad  # noqa: E402
from ._special import (  # noqa: E402
    angle,
    bartlett,
    bitwise_count,
    blackman,
    conjugate,
    frexp,
    gcd,
    geomspace,
    hamming,
    hanning,
    i0,
    imag,
    iscomplex,
    iscomplexobj,
    isreal,
    isrealobj,
    kaiser,
    lcm,
    ldexp,
    logaddexp2,
    matvec,
    modf,
    real,
    real_if_close,
    spacing,
    unwrap,
    vecmat,
)
from ._special import conjugate as conj  # noqa: E402
from ._functions import *  # noqa: E402, F403
from ._graphc import Array, ndarray  # noqa: E402
from ._interop import attach as _attach  # noqa: E402
from ._indexing import (  # noqa: E402
    argwhere,
    bincount,
    choose,
    compress,
    extract,
    flatnonzero,
    nonzero,
    place,
    put,
    put_along_axis,
    putmask,
    ravel_multi_index,
    take,
    take_along_axis,
    unravel_index,
)
from ._iterate import nditer, nested_iters, poly1d  # noqa: E402
from ._jit import disable_jit, jit  # noqa: E402
from ._linalg import dot, matmul, outer, tensordot, vecdot  # noqa: E402
from ._manipulation import (  # noqa: E402
    around,
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    clip,
    concat,
    concatenate,
    copy,
    expand_dims,
    flip,
    matrix_transpose,
    may_share_memory,
    moveaxis,
    ndim,
    permute_dims,
    ravel,
    reshape,
    roll,
    round,
    shape,
    shares_memory,
    size,
    squeeze,
    stack,
    swapaxes,
    tile,
    transpose,
    unstack,
    where,
)
from ._matrices import (  # noqa: E402
    copyto,
    cross,
    diag,
    diagflat,
    diagonal,
    fill_diagonal,
    fromfunction,
    identity,
    inner,
    ix_,
    kron,
    mgrid,
    ogrid,
    trace,
    tri,
    vander,
    vdot,
)
from ._numeric import (  # noqa: E402
    allclose,
    array_equiv,
    corrcoef,
    cov,
    deg2rad,
    degrees,
    diff,
    divmod,
    ediff1d,
    fabs,
    fix,
    float_power,
    fmax,
    fmin,
    fmod,
    gradient,
    heaviside,
    isclose,
    isneginf,
    isposinf,
    logspace,
    nan_to_num,
    nanargmax,
    nanargmin,
    nancumprod,
    nancumsum,
    nanmax,
    nanmean,
    nanmin,
    nanprod,
    nanstd,
    nansum,
    nanvar,
    polyval,
    positive,
    ptp,
    rad2deg,
    radians,
    rint,
    select,
    sinc,
    trapezoid,
)
from ._methods import FlatIterator as flatiter  # noqa: E402
from ._methods import attach as _attach_methods  # noqa: E402
from ._reductions import (  # noqa: E402
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    array_equal,
    average,
    count_nonzero,
    cumprod,
    cumsum,
    cumulative_prod,
    cumulative_sum,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from ._polynomials import (  # noqa: E402
    poly,
    polyadd,
    polyder,
    polydiv,
    polyfit,
    polyint,
    polymul,
    polysub,
    roots,
)
from ._sets import (  # noqa: E402
    intersect1d,
    isin,
    setdiff1d,
    setxor1d,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from ._statistics import (  # noqa: E402
    histogram,
    histogram2d,
    histogram_bin_edges,
    histogramdd,
    interp,
    median,
    nanmedian,
    nanpercentile,
    nanquantile,
    percentile,
    quantile,
)
from ._sorting import (  # noqa: E402
    argpartition,
    argsort,
    digitize,
    lexsort,
    partition,
    searchsorted,
    sort,
    sort_complex,
)
from ._ufunc import ufunc  # noqa: E402
from . import _aliases, _foreign, _numba, linalg  # noqa: E402, I001  (after what it is made of)

newaxis = None
# NumPy's own dtype classes and settings: graphc's arrays have NumPy's dtypes.
globals().update(_shared)
bool = bool_  # noqa: F405
__array_api_version__ = "2025.12"
_foreign.cover(globals(), _np)
_foreign.cover(vars(linalg), _np.linalg)
globals().update(_foreign.names())
_attach()
_attach_methods(globals())
del _attach, _attach_methods
_sys.meta_path[:0] = [_aliases.Finder, _numba.Finder]
if "numba" in _sys.modules:
    _numba.register()
if _collects:
    _collector.enable()
    if _collector.get_freeze_count():  # of the program's, which thawing would end
        _collector.collect(1)
    else:  # the same without a look at them; else the program's first objects would bring one about
        _collector.freeze()
        _collector.unfreeze()


#: Parts that are imported when they are first asked for.
_PARTS = ("char", "ctypeslib", "emath", "fft", "float8", "lib", "ma", "polynomial", "random", "rec", "safetensors", "strings", "testing", "typing")


#: What `from graphc import *` binds: not `eval`, which is Python's.
__all__ = ["__array_namespace_info__", "__version__", *_PARTS]
__all__ += [name for name in globals() if not name.startswith("_") and name != "eval"]


def __dir__():
    return sorted({"bfloat16", *_PARTS}.union(name for name in globals() if not name.startswith("_")))


@_functools.lru_cache
def _missing(name):
    """What is said of a name that there is not; programs ask for some again and again (`hasattr`)."""
    import numpy

    text = f"module 'graphc' has no attribute {name!r}"
    try:
        getattr(numpy, name)
        text += ", NumPy does: use numpy on np.asarray(x) for this step"
    except AttributeError as error:
        if "was removed" in str(error) or "deprecated alias" in str(error):  # says what takes its place
            return str(error)
    if name.startswith("_"):  # also what `from . import _part` asks for before it imports it
        return text
    import difflib

    close = difflib.get_close_matches(name, __dir__(), 1)
    return f"{text}; did you mean {close[0]!r}?" if close else text


def __getattr__(name):
    """Reached for names that graphc does not have: says so, and names the nearest one."""
    if name in ("__version__", "version"):  # programs ask for NumPy's to choose among its names
        import numpy

        return getattr(numpy, name)
    if name == "bfloat16":
        return _dtypes.bfloat16
    if name in ("function", "plain_function", "FlatIterator"):  # classes are unpickled by their names
        return flatiter if name == "FlatIterator" else getattr(_graphc, name)
    if name == "chararray":
        import warnings

        import numpy

        warnings.warn(
            "`np.chararray` is deprecated and will be removed from the main namespace in the future. Use an array with a string or bytes dtype instead.",
            DeprecationWarning, stacklevel=2)  # fmt: skip
        return numpy.char.chararray
    if name in _PARTS or name in ("__config__", "_core", "core", "matlib"):
        import importlib

        collects = _collector.isenabled()
        _collector.disable()
        try:
            return importlib.import_module(f"{__name__ if name in _PARTS else 'numpy'}.{name}")
        finally:
            if collects:
                _collector.enable()
    if name.startswith("__"):
        raise AttributeError(f"module 'graphc' has no attribute {name!r}")
    where, text = errors.user_line(2), _missing(name)
    raise AttributeError(f"{text} (at {where})" if where else text, name=name)
