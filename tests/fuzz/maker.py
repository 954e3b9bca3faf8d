"""Makes the statements of random programs, running them under NumPy as it goes."""

import random
import re
import warnings

import numpy as np

from statements import Nothing, Statements

FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", *FLOATS, *COMPLEX)
try:
    import ml_dtypes

    BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
except ImportError:
    BFLOAT16 = None

SHAPES = [
    (), (1,), (0,), (3,), (4,), (7,), (1, 1), (2, 3), (3, 2), (3, 1), (0, 3), (4, 4), (5, 5), (2, 1, 3), (1, 4, 2), (2, 3, 4), (2, 0, 3),
    (3, 3, 3), (2, 2, 2, 2), (1, 3, 1, 2), (2, 3, 4, 2), (1, 0, 2, 1), (2, 1, 2, 1, 3), (1, 1, 1, 1, 1), (2, 3, 2, 2, 3), (2, 2, 0, 1, 2), (67,), (13, 17), (14,), (30,), (3, 14), (62,),
]  # fmt: skip

# Values that every order of a sum computes exactly: a limit and the parts of one that are kept.
EXACT = {"float16": (2**7, 8), "bfloat16": (2**5, 4), "float32": (2**14, 64), "float64": (2**18, 64), "complex64": (2**10, 64), "complex128": (2**18, 64)}


def data(seed, shape, dtype, special=False):
    """Small values that every dtype has: halves of floats, and not finite ones where asked."""
    rng = np.random.default_rng(seed)
    low = 0 if dtype == "bool" or dtype.startswith("u") else -8
    values = rng.integers(low, 9, shape)
    if dtype == "bool":
        return (values % 2).astype(bool)
    if dtype.startswith(("float", "bfloat", "complex")):
        values = values / 2
        if dtype.startswith("complex"):
            values = values + 1j * rng.integers(-8, 9, shape) / 2
        elif special:
            values = np.where(rng.random(shape) < 0.3, rng.choice([np.nan, np.inf, -np.inf, -0.0], shape), values)
    return np.asarray(values).astype(BFLOAT16 if dtype == "bfloat16" else dtype)


def finite(x):
    x = np.asarray(x)
    return x.dtype.kind not in "fcV" or bool(np.all(np.isfinite(x)))


def exact(x):
    """Whether later sums of the values are exact on both sides."""
    x = np.asarray(x)
    if x.ndim > 5 or x.size > 3000 or x.dtype.name not in (*DTYPES, "bfloat16"):
        return False
    if x.dtype.name not in EXACT or x.size == 0:
        return True
    limit, parts = EXACT[x.dtype.name]
    x = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    for part in (x.real, x.imag) if x.dtype.kind == "c" else (x,):
        kept = part[np.isfinite(part)] if x.dtype.kind == "f" else part
        if not np.all(np.isfinite(kept) & (np.abs(kept) <= limit)) or not np.all(kept * parts == np.round(kept * parts)):
            return False
    return True


class Maker(Statements):
    """The statements of one program: those that NumPy accepts and whose values are exact."""

    def __init__(self, seed, length):
        self.random = random.Random(seed)
        self.names, self.env, self.count = [], {"xp": np, "data": data}, 0
        self.statements = []
        self.dtypes = DTYPES
        while len(self.statements) < length:
            self.add()

    def create(self):
        r = self.random
        name, shape, dtype = self.fresh(), r.choice(SHAPES), r.choice(DTYPES)
        if BFLOAT16 is not None and r.random() < 0.03:
            dtype = "bfloat16"
        special = ", True" if dtype in FLOATS and r.random() < 0.15 else ""
        return name, f"{name} = xp.asarray(data({r.randrange(10**6)}, {shape}, '{dtype}'{special})).copy()"

    def add(self):
        kinds = [(self.create, 3)] if self.names else [(self.create, 1)]
        if self.names:
            kinds += self.kinds()
        makers, weights = zip(*kinds)
        try:
            target, text = self.random.choices(makers, weights)[0]()
        except Nothing:
            return
        before = {n: np.array(self.env[n]) for n in self.names}
        arrays = {n: self.env[n] for n in self.names}
        try:
            with warnings.catch_warnings(), np.errstate(all="warn"):
                warnings.simplefilter("error")
                text = self.tried(target, text)
            if self.leaves_bfloat16(target, text) or any(not exact(self.env[n]) for n in [*self.names, *([target] if target else [])]):
                raise ValueError("not comparable")
        except Exception:
            self.env.update(arrays)  # undone: also what was written in part
            for n, values in before.items():
                if isinstance(self.env[n], np.ndarray) and self.env[n].flags.writeable:
                    self.env[n][...] = values
            return
        if target and target not in self.names:
            self.names.append(target)
        self.statements.append(text)

    def leaves_bfloat16(self, target, text):
        """Whether the statement promotes bfloat16, which has other rules in NumPy."""
        used = {np.asarray(self.env[n]).dtype.name for n in re.findall(r"\bv\d+\b", text) if n != target and n in self.env}
        made = np.asarray(self.env[target]).dtype.name if target else "bool"
        if made == "bfloat16" and not used & {"bfloat16"}:  # registered loops that NumPy falls back to
            return ".astype(" not in text and "data(" not in text
        return "bfloat16" in used and (len(used) > 1 or made not in ("bfloat16", "bool", "int64"))

    def tried(self, target, text):
        exec(text, self.env)
        made = self.env.get(target)
        old = [a for n, a in self.env.items() if n != target and isinstance(a, np.ndarray)]
        if isinstance(made, np.ndarray) and not any(np.may_share_memory(made, a) for a in old):
            if not made.flags.c_contiguous:
                # New arrays of graphc are row-major, and what a reshape shares depends on that.
                text = f"{target} = xp.array({text.split(' = ', 1)[1]}, order='C')"
                exec(text, self.env)
        return text
