#!/usr/bin/env python3
"""Random programs under NumPy and graphc: see README.md beside this file."""

import argparse
import random
import sys
import time
import warnings

import numpy as np

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
SHAPES = [
    (), (1,), (0,), (3,), (4,), (7,), (1, 1), (2, 3), (3, 2), (3, 1), (0, 3), (4, 4), (2, 1, 3), (1, 4, 2), (2, 3, 4),
    (2, 2, 2, 2), (1, 3, 1, 2), (2, 1, 2, 1, 3),
]  # fmt: skip
LIMIT = 2**18


def data(seed, shape, dtype):
    """Small values that every dtype has, in quarters for floats."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0 if dtype == "bool" or dtype.startswith("u") else -8, 9, shape)
    return (values / 4 if dtype.startswith("float") else values % 2 if dtype == "bool" else values).astype(dtype)


class Maker:
    """Makes statements that NumPy accepts, running them as it goes."""

    def __init__(self, seed, length):
        self.random = random.Random(seed)
        self.names, self.env, self.count = [], {"xp": np, "data": lambda *a: data(*a)}, 0
        self.statements = []
        while len(self.statements) < length:
            self.add()

    def pick(self, test=lambda x: True):
        names = [n for n in self.names if test(self.env[n])]
        return self.random.choice(names) if names else None

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def add(self):
        kinds = [(self.create, 3 if self.names else 100)]
        if self.names:
            kinds += [(self.view, 8), (self.unary, 3), (self.binary, 6), (self.assign, 7), (self.in_place, 6), (self.out, 4)]
            kinds += [(self.reduce, 4), (self.join, 2), (self.convert, 2), (self.mask, 5), (self.fancy, 4), (self.scalar, 2)]
        makers, weights = zip(*kinds)
        made = self.random.choices(makers, weights)[0]()
        if made is None:
            return
        target, text = made
        before = {n: np.array(self.env[n]) for n in self.names}
        shapes = {n: self.env[n] for n in self.names}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(text, self.env)
                made = self.env.get(target)
                old = [a for n, a in self.env.items() if n != target and isinstance(a, np.ndarray)]
                new = isinstance(made, np.ndarray) and not any(np.may_share_memory(made, a) for a in old)
                if new and not made.flags.c_contiguous:
                    # New arrays of graphc are row-major, and what a reshape shares depends on that.
                    text = f"{target} = xp.array({text.split(' = ', 1)[1]}, order='C')"
                    exec(text, self.env)
            if target and not self.fits(self.env[target]):
                raise ValueError("not comparable")
            if any(not self.fits(self.env[n]) for n in self.names):
                raise ValueError("not comparable")
        except Exception:
            self.env.update(shapes)  # undone: also what was written in part
            for n, values in before.items():
                if isinstance(self.env[n], np.ndarray) and self.env[n].flags.writeable:
                    self.env[n][...] = values
            return
        if target and target not in self.names:
            self.names.append(target)
        self.statements.append(text)

    @staticmethod
    def fits(x):
        """Whether later sums of the values are exact on both sides."""
        x = np.asarray(x)
        if x.ndim > 5 or x.size > 3000 or x.dtype.name not in DTYPES:
            return False
        if x.dtype.kind != "f" or x.size == 0:
            return True
        return bool(np.all(np.isfinite(x)) and np.all(np.abs(x) <= LIMIT) and np.all(x * 64 == np.round(x * 64)))

    # Statements: the variable they make (or None) and their text.

    def create(self):
        name, shape, dtype = self.fresh(), self.random.choice(SHAPES), self.random.choice(DTYPES)
        return name, f"{name} = xp.asarray(data({self.random.randrange(10**6)}, {shape}, '{dtype}')).copy()"

    def slice(self, size):
        r = self.random
        kind = r.randrange(6)
        if kind == 0 and size:
            return str(r.randrange(-size, size))
        step = r.choice(("", "", ":2", ":-1", ":-2", ":3"))
        start, stop = r.choice(("", "", "1", "-2", "2")), r.choice(("", "", "-1", "3", "1"))
        return f"{start}:{stop}{step}"

    def index(self, x):
        items = [self.slice(n) for n in x.shape[: self.random.randint(0, x.ndim)]]
        if self.random.random() < 0.25:
            items.insert(self.random.randint(0, len(items)), "None")
        if self.random.random() < 0.25:
            items.insert(self.random.randint(0, len(items)), "...")
        return ", ".join(items) if items else "..."

    def view(self):
        source, name, r = self.pick(lambda x: isinstance(x, np.ndarray)), self.fresh(), self.random
        if source is None:
            return None
        x = self.env[source]
        axes = list(range(x.ndim))
        r.shuffle(axes)
        divided = [(x.size,), (1, x.size), (-1,)] + [(x.size // d, d) for d in (2, 3, 4) if x.size % d == 0]
        choices = [
            f"{source}[{self.index(x)}]", f"{source}[{self.index(x)}]", f"{source}[{self.index(x)}]", f"{source}.T",
            f"{source}.transpose({axes})" if axes else f"{source}.T", f"{source}.reshape({r.choice(divided)})", f"{source}.ravel()",
            f"xp.broadcast_to({source}, {(2, *x.shape)})", f"xp.squeeze({source})", f"xp.expand_dims({source}, 0)",
            f"xp.flip({source})", f"{source}.view()", f"xp.diagonal({source})", f"xp.moveaxis({source}, 0, -1)",
            f"xp.swapaxes({source}, 0, -1)", f"xp.atleast_2d({source})", f"{source}",
        ]  # fmt: skip
        if not x.flags.c_contiguous:  # a diagonal of what is not dense is a copy
            choices = [c for c in choices if "diagonal" not in c]
        return name, f"{name} = {r.choice(choices)}"

    def operand(self):
        r = self.random
        if r.random() < 0.3:
            return r.choice(("2", "3", "1", "0.5", "-1", "True"))
        return self.pick()

    def unary(self):
        name, source = self.fresh(), self.pick()
        text = self.random.choice(("-{}", "abs({})", "xp.square({})", "xp.floor({})", "xp.logical_not({})", "xp.sign({})", "~{}", "+{}"))
        return name, f"{name} = {text.format(source)}"

    def binary(self):
        name = self.fresh()
        text = self.random.choice((
            "{} + {}", "{} - {}", "{} * {}", "xp.maximum({}, {})", "xp.minimum({}, {})", "{} < {}", "{} == {}", "{} >= {}", "{} & {}",
            "{} ^ {}", "{} | {}", "{} // 2 + {}", "{} % 3 - {}", "xp.logical_and({}, {})", "xp.where({} > 0, {}, 1)",
        ))  # fmt: skip
        return name, f"{name} = " + text.format(self.pick(), self.operand())

    def fitting(self, target):
        """An operand whose values the target's dtype has: floats outside an integer dtype are undefined in it."""
        operand = self.operand()
        value = np.asarray(self.env.get(operand, 0))
        kind = np.asarray(self.env[target]).dtype
        bad = kind.kind in "iu" and value.dtype.kind == "f" and value.size
        bad = bad and (value.min() < np.iinfo(kind).min or value.max() > np.iinfo(kind).max)
        return "1" if bad else operand

    def assign(self):
        target = self.pick(lambda x: isinstance(x, np.ndarray))
        return (None, f"{target}[{self.index(self.env[target])}] = {self.fitting(target)}") if target else None

    def in_place(self):
        target = self.pick()
        place = f"{target}[{self.index(self.env[target])}]" if self.random.random() < 0.5 and np.ndim(self.env[target]) else target
        return None, f"{place} {self.random.choice(('+=', '-=', '*=', '|=', '&=', '^=', '//=', '%='))} {self.operand()}"

    def out(self):
        target, r = self.pick(lambda x: isinstance(x, np.ndarray)), self.random
        if target is None:
            return None
        where = f", where={self.pick(lambda x: getattr(x, 'dtype', None) == bool)}" if r.random() < 0.3 else ""
        place = f"{target}[{self.index(self.env[target])}]" if r.random() < 0.4 else target
        if "None" in where:
            where = ""
        name = r.choice(("add", "subtract", "multiply", "maximum", "minimum"))
        return None, f"xp.{name}({self.pick()}, {self.operand()}, out={place}{where})"

    def reduce(self):
        name, source, r = self.fresh(), self.pick(), self.random
        x = self.env[source]
        axis = r.choice(("None", "0", "-1", "(0, 1)"))
        keep = r.choice(("", ", keepdims=True"))
        kind = r.choice(("sum", "max", "min", "any", "all", "argmax", "argmin", "cumsum", "count_nonzero", "prod", "ptp"))
        if kind in ("argmax", "argmin") and (axis == "(0, 1)" or np.ndim(x) == 0):
            axis = "None"
        if kind == "cumsum":
            return name, f"{name} = xp.cumsum({source}, axis={'None' if ',' in axis else axis})"
        return name, f"{name} = xp.{kind}({source}, axis={axis}{keep})"

    def join(self):
        name, a = self.fresh(), self.pick()
        b = self.pick(lambda x: np.shape(x) == np.shape(self.env[a]))
        text = self.random.choice(("xp.concatenate([{}, {}])", "xp.stack([{}, {}], axis=-1)", "xp.concatenate([{}, {}], axis=None)", "xp.vstack([{}, {}])"))
        return name, f"{name} = " + text.format(a, b)

    def convert(self):
        name, source = self.fresh(), self.pick()
        x = np.asarray(self.env[source])
        allowed = [d for d in DTYPES if x.dtype.kind != "f" or d.startswith("float") or d in ("bool", "int64", "int32")]
        text = self.random.choice((f"{source}.astype('{self.random.choice(allowed)}')", f"{source}.copy()", f"xp.array({source})", f"xp.asarray({source})"))
        return name, f"{name} = {text}"

    def mask(self):
        if not FEATURES["masks"]:
            return None
        a, r = self.pick(lambda x: isinstance(x, np.ndarray) and x.ndim), self.random
        if a is None:
            return None
        condition = r.choice((f"{a} > 0", f"{a} == 1", f"{a} != 2"))
        kind = r.randrange(5)
        if kind == 0:
            name = self.fresh()
            return name, f"{name} = {a}[{condition}]"
        if kind == 1:
            name, other = self.fresh(), self.pick(lambda x: np.ndim(x) == 1 and np.asarray(x).dtype == bool)
            return (name, f"{name} = {a}[{other}]") if other else None
        if kind == 2:
            return None, f"{a}[{condition}] += {r.choice(('1', '2'))}"
        if kind == 3:
            b = self.pick(lambda x: np.shape(x) == np.shape(self.env[a]) and np.asarray(x).dtype.kind != "f")
            return (None, f"{a}[{condition}] = {b}[{condition}]") if b else None
        return None, f"{a}[{condition}] = {r.choice(('0', '3', '1'))}"

    def fancy(self):
        if not FEATURES["fancy"]:
            return None
        a, r = self.pick(lambda x: isinstance(x, np.ndarray) and x.ndim and x.shape[0]), self.random
        if a is None:
            return None
        x = self.env[a]
        rows = [r.randrange(-x.shape[0], x.shape[0]) for _ in range(r.randint(1, 4))]
        key = f"xp.asarray({rows})" if r.random() < 0.6 else str(rows)
        if x.ndim > 1 and x.shape[1] and r.random() < 0.5:
            columns = [r.randrange(x.shape[1]) for _ in rows]
            key = r.choice((f"{key}, {columns}", f":, xp.asarray({columns})", f"{key}, ::-1", f"None, {key}", f"{key}, 0"))
        kind = r.randrange(4)
        if kind < 2:
            name = self.fresh()
            return name, f"{name} = {a}[{key}]"
        return None, f"{a}[{key}] {r.choice(('=', '+='))} {self.fitting(a) if kind == 2 else '1'}"

    def scalar(self):
        source = self.pick(lambda x: np.size(x) == 1)
        name = self.fresh()
        return (name, f"{name} = xp.asarray({self.random.choice(('float', 'int', 'bool'))}({source}.item()))") if source else None


FEATURES = {"masks": True, "fancy": True}


def detect(gc):
    """Which kinds of statements graphc has."""
    x = gc.arange(3)
    for feature, key in (("masks", x > 1), ("fancy", [0, 1])):
        try:
            gc.eval(x[key])
        except NotImplementedError:
            FEATURES[feature] = False


def same(g, w):
    g, w = np.asarray(g), np.asarray(w)
    return g.dtype == w.dtype and g.shape == w.shape and np.array_equal(g, w)


def run(gc, statements, prompt):
    """None, or what differs."""
    ours, theirs = {"xp": gc, "data": data}, {"xp": np, "data": data}

    def differ(names, when):
        for n in names:
            if not same(ours[n], theirs[n]):
                g, w = np.asarray(ours[n]), np.asarray(theirs[n])
                return f"{when}: {n} is {g.dtype}{g.shape}\n{g}\nexpected {w.dtype}{w.shape}\n{w}"
        return None

    names = []
    for text in statements:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(text, theirs)
            except Exception:
                return None  # a statement lost what it needs: not a program
            try:
                exec(text, ours)
            except Exception as error:
                return f"{text}: {type(error).__name__}: {error}"
        names = [n for n in theirs if n[0] == "v" and n in ours]
        if prompt and (found := differ(names, text)):
            return found
    found = differ(names, "at the end")
    arrays = [n for n in names if isinstance(theirs[n], np.ndarray)]
    for i, a in enumerate(arrays):
        for b in arrays[i + 1 :]:
            if not found and np.shares_memory(theirs[a], theirs[b]) != gc.shares_memory(ours[a], ours[b]):
                found = f"aliasing of {a} and {b}: NumPy says {np.shares_memory(theirs[a], theirs[b])}"
    return found


def shrink(gc, statements, prompt):
    """Fewer statements that still fail."""
    changed = True
    while changed:
        changed = False
        for i in range(len(statements) - 1, -1, -1):
            fewer = statements[:i] + statements[i + 1 :]
            if fewer and run(gc, fewer, prompt):
                statements, changed = fewer, True
    return statements


def program(seed):
    """The statements of a seed, and whether they are compared one by one."""
    chosen = random.Random(seed)
    return Maker(seed, chosen.randint(1, 40)).statements, chosen.random() < 0.3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time")
    parser.add_argument("--replay", type=int, help="one program, printed")
    parser.add_argument("--all", action="store_true", help="go on after a failure")
    args = parser.parse_args()
    import graphc as gc

    detect(gc)
    seeds = range(args.seed, args.seed + args.programs) if args.replay is None else [args.replay]
    start, failures, done = time.monotonic(), 0, 0
    for seed in seeds:
        if args.seconds and time.monotonic() - start > args.seconds:
            break
        statements, prompt = program(seed)
        if args.replay is not None:
            print("\n".join(statements))
        found = run(gc, statements, prompt)
        done += 1
        if found:
            failures += 1
            fewer = shrink(gc, statements, prompt)
            print(f"seed {seed}{' (compared after every statement)' if prompt else ''}:\n  " + "\n  ".join(fewer))
            print(f"{run(gc, fewer, prompt)}\n", flush=True)
            if not args.all:
                break
    print(f"{done} programs, {failures} failures, seeds {args.seed} to {args.seed + done - 1}, {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
