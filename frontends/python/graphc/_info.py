"""What the package says about itself to programs written for the Array API standard."""

from . import _dtypes
from ._devices import default_device, devices
from .errors import ArgumentError


class ArrayNamespaceInfo:
    """Devices, dtypes and capabilities, as the Array API standard asks for them."""

    __module__ = "graphc"

    def capabilities(self):
        """Which optional behaviours there are."""
        import graphc

        dynamic = hasattr(graphc, "nonzero")
        return {"boolean indexing": dynamic, "data-dependent shapes": dynamic, "max dimensions": 64}

    def default_device(self):
        """The device of new arrays."""
        return str(default_device())

    def default_dtypes(self, *, device=None):
        """The dtypes of arrays made from Python numbers, and of indices."""
        found = {"real floating": _dtypes.float64, "integral": _dtypes.int64, "indexing": _dtypes.int64}
        if hasattr(_dtypes, "complex128"):
            found["complex floating"] = _dtypes.complex128
        return found

    def dtypes(self, *, device=None, kind=None):
        """Name to dtype, of all kinds or of one (or a tuple of kinds)."""
        found = {name: _dtypes.as_dtype(name) for name in _STANDARD if hasattr(_dtypes, name) or name == "bool"}
        if kind is None:
            return found
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not all(k in _KINDS for k in kinds):
            raise ArgumentError(f"unsupported kind: {kind!r}")
        return {name: d for name, d in found.items() if any(d.kind in _KINDS[k] for k in kinds)}

    def devices(self):
        """The devices arrays can be on."""
        return tuple(str(d) for d in devices())


_STANDARD = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64",
    "complex128",
)  # fmt: skip
_KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
    "complex floating": "c", "numeric": "iufc",
}  # fmt: skip


def namespace_info():
    """The inspection object of the Array API standard."""
    return ArrayNamespaceInfo()
