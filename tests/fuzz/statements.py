"""The kinds of statements: each makes the variable it assigns (or None) and its text."""

import numpy as np


def stays_integer(held, made):
    try:
        return np.result_type(held, made).kind in "biu"
    except np.exceptions.DTypePromotionError:  # bfloat16
        return False


class Nothing(Exception):
    """No variable fits the statement."""


def is_array(x):
    return isinstance(x, np.ndarray)


def axes(x):
    return isinstance(x, np.ndarray) and x.ndim


def is_single(x):
    """A number of NumPy's; those of Python are weak, and arrays here."""
    return isinstance(x, (np.generic, np.ndarray)) and x.ndim == 0


def finite(x):
    x = np.asarray(x)
    return x.dtype.kind not in "fcV" or bool(np.all(np.isfinite(x)))


def has_plain_signs(x):
    """Whether NumPy says which signs there are: zeros of both come in any order out of its sorts, and differ in its sums from
    one processor to another; a NaN's means nothing."""
    x = np.asarray(x)
    if x.dtype.kind not in "fc":
        return x.dtype.kind != "V"
    parts = (x.real, x.imag) if x.dtype.kind == "c" else (x,)
    return not any(np.any(np.isnan(part) | ((part == 0) & np.signbit(part))) for part in parts)


class Statements:
    """Needs of its class: random, names, env, count, dtypes."""

    def kinds(self):
        return [
            (self.view, 9), (self.unary, 3), (self.binary, 6), (self.assign, 7), (self.in_place, 6), (self.overlap, 3), (self.out, 4),
            (self.reduce, 4), (self.join, 2), (self.convert, 2), (self.mask, 6), (self.fancy, 6), (self.scalar, 2), (self.python, 3),
            (self.ufunc, 3), (self.function, 4), (self.order, 2), (self.product, 1), (self.rolled, 2),
        ]  # fmt: skip

    def pick(self, test=lambda x: True):
        names = [n for n in self.names if test(self.env[n])]
        if not names:
            raise Nothing
        return self.random.choice(names)

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def new(self, text):
        name = self.fresh()
        return name, f"{name} = {text}"

    # Keys.

    def slice(self, size):
        r = self.random
        kind = r.randrange(6)
        if kind == 0 and size:
            return str(r.randrange(-size, size))
        step = r.choice(("", "", ":2", ":-1", ":-2", ":3"))
        start, stop = r.choice(("", "", "1", "-2", "2", "9")), r.choice(("", "", "-1", "3", "1", "-9"))
        return f"{start}:{stop}{step}"

    def index(self, x):
        items = [self.slice(n) for n in x.shape[: self.random.randint(0, x.ndim)]]
        if self.random.random() < 0.25:
            items.insert(self.random.randint(0, len(items)), "None")
        if self.random.random() < 0.25:
            items.insert(self.random.randint(0, len(items)), "...")
        return ", ".join(items) if items else "..."

    def integers(self, size, shape=None):
        """The text of integers that are places of an axis, and its rank."""
        r = self.random
        shape = shape or r.choice(((1,), (3,), (4,), (2, 3), (2, 1), (1, 3), (0,), ()))
        if size == 0 and 0 not in shape:
            raise Nothing
        values = np.reshape([r.randrange(-size, size) for _ in range(int(np.prod(shape)))], shape).astype(int).tolist()
        if 0 in shape:
            return f"xp.zeros({shape}, dtype='int64')"
        kind = r.choice(("int64", "int64", "int32", "int8", "uint8"))
        if kind == "uint8":
            values = (np.asarray(values) % max(size, 1)).tolist()
        return f"xp.asarray({values}, dtype='{kind}')" if r.random() < 0.7 or not values else str(values)

    def mixed(self, x):
        """A key of arrays of integers, slices, new axes and an ellipsis."""
        r = self.random
        shape = r.choice(((3,), (2, 1), (1,), (2, 3)))
        items = []
        for size in x.shape[: r.randint(1, x.ndim)]:
            items.append(self.integers(size, r.choice((shape, shape, (1,)))) if r.random() < 0.6 else self.slice(size))
        if r.random() < 0.2:
            items.insert(r.randint(0, len(items)), "None")
        if r.random() < 0.2:
            items.insert(r.randint(0, len(items)), "...")
        return ", ".join(items)

    def condition(self, a):
        """The text of a mask of a's first axes."""
        r, x = self.random, self.env[a]
        part = a if r.random() < 0.7 or x.ndim < 2 or 0 in x.shape else f"{a}[{', '.join([':'] * (x.ndim - 1))}, 0]"
        return f"{part} {r.choice(('> 0', '== 1', '!= 2', '< -100', '> -100'))}"

    def operand(self):
        r = self.random
        if r.random() < 0.3:
            return r.choice(("2", "3", "1", "0.5", "-1", "True", "xp.int16(2)", "xp.float32(2)", "xp.float64(0.5)"))
        return self.pick()

    def fitting(self, target, test=lambda x: True):
        """An operand whose values the target's dtype has: floats outside an integer dtype are undefined in it."""
        operand = self.operand()
        value = np.asarray(self.env[operand] if operand in self.env else eval(operand, self.env))
        kind = np.asarray(self.env[target]).dtype
        if kind.kind in "iu" and value.dtype.kind in "fV" and value.size:
            wide = value.astype(np.float64)
            if not np.all(np.isfinite(wide)) or wide.min() < np.iinfo(kind).min or wide.max() > np.iinfo(kind).max:
                return "1"
        return "1" if value.dtype.kind == "c" and kind.kind != "c" else operand

    # Statements.

    def view(self):
        source, r = self.pick(lambda x: isinstance(x, (np.ndarray, np.generic))), self.random
        x = self.env[source]
        order = list(range(x.ndim))
        r.shuffle(order)
        divided = [(x.size,), (1, x.size), (-1,)] + [(x.size // d, d) for d in (2, 3, 4) if x.size % d == 0]
        choices = [f"{source}[{self.index(x)}]"] * 4 + [
            f"{source}.T", f"{source}.transpose({order})" if order else f"{source}.T", f"{source}.reshape({r.choice(divided)})",
            f"{source}.ravel()", f"xp.broadcast_to({source}, {(2, *x.shape)})", f"xp.squeeze({source})",
            f"xp.expand_dims({source}, {r.randint(-1, 1)})", f"xp.flip({source})", f"{source}.view()", f"xp.moveaxis({source}, 0, -1)",
            f"xp.swapaxes({source}, 0, -1)", f"xp.atleast_2d({source})", f"{source}", f"xp.rot90({source})", f"{source}.real",
            f"{source}.imag" if x.dtype.kind == "c" else f"{source}.real", f"xp.asarray({source})", f"xp.fliplr({source})", f"xp.asanyarray({source})",
            f"xp.split({source}, 2)[1]", f"xp.array_split({source}, 2, axis=-1)[0]", f"xp.atleast_1d({source})", f"xp.atleast_3d({source})",
            f"{source}.mT",
        ]  # fmt: skip
        if x.ndim >= 2:
            first, second = r.sample(range(x.ndim), 2)
            choices += [f"xp.diagonal({source})", f"xp.diagonal({source}, {r.randint(-1, 1)}, {first}, {second})"]
        if (recast := self.recast(source)) and r.random() < 0.15:
            return self.new(recast)
        return self.new(r.choice(choices))

    def recast(self, source):
        """The bytes as another dtype; None where NumPy refuses. Integers that would be written into floats are of a copy: sums of
        such floats depend on their order. Bools are not written to."""
        r, x = self.random, self.env[source]
        kind = x.dtype.kind
        # Zeros of both signs are equal to whoever orders them.
        if kind in "fc" and not (np.isfinite(x).all() and (x != 0).all()) or kind == "V":
            return None
        if kind == "c" or (x.dtype == np.float64 and r.random() < 0.3):
            wanted = r.choice(("float64", "complex128") if x.dtype.itemsize != 8 or kind == "f" else ("float32", "complex64"))
        else:
            wanted = r.choice(("int8", "uint8", "int16", "uint32", "int64", "uint64"))
            source = f"{source}.copy()" if kind == "f" else source
        try:
            eval(source, self.env).view(wanted)
        except (ValueError, TypeError):
            return None
        return f"{source}.view({wanted!r})" + ".copy()" * (kind == "b")

    def unary(self):
        texts = (
            "-{}", "abs({})", "xp.square({})", "xp.floor({})", "xp.logical_not({})", "xp.sign({})", "~{}", "+{}", "xp.isnan({})",
            "xp.isfinite({})", "xp.conj({})", "xp.ceil({})", "xp.trunc({})", "xp.rint({})", "xp.signbit({})", "xp.positive({})", "{} ** 2",
        )  # fmt: skip
        text = self.random.choice(texts)
        return self.new(text.format(self.pick(lambda x: (np.ndim(x) or np.asarray(x).dtype != bool) and ("signbit" not in text or has_plain_signs(x)))))

    def binary(self):
        r = self.random
        text = r.choice((
            "{} + {}", "{} - {}", "{} * {}", "xp.maximum({}, {})", "xp.minimum({}, {})", "{} < {}", "{} == {}", "{} >= {}", "{} & {}",
            "{} ^ {}", "{} | {}", "{} // 2 + {}", "{} % 3 - {}", "xp.logical_and({}, {})", "xp.where({} > 0, {}, 1)", "{} != {}",
            "{} + xp.multiply(2j, {})", "xp.fmax({}, {})", "xp.fmin({}, {})", "xp.logical_xor({}, {})", "xp.clip({}, -1, {})", "{} << ({} & 3)", "{} / 2 + {}", "{} <= {}",
        ))  # fmt: skip
        values = self.operand() + " " if r.random() < 0.1 else self.pick(finite if "//" in text or "%" in text else lambda x: True)
        other = self.operand()
        kinds = {np.asarray(self.env[n]).dtype.name for n in (values, other) if n in self.env}
        if "bfloat16" in kinds and (len(kinds) > 1 or "//" in text or "%" in text):  # promotes otherwise in NumPy
            raise Nothing
        return self.new(text.format(values.strip(), other))

    def assign(self):
        target = self.pick(is_array)
        return None, f"{target}[{self.index(self.env[target])}] = {self.fitting(target)}"

    def in_place(self):
        r = self.random
        operator = r.choice(("+=", "-=", "*=", "|=", "&=", "^=", "//=", "%=", "/=", "<<="))
        target = self.pick(lambda x: is_array(x) and (finite(x) or operator not in ("//=", "%=")))
        place = f"{target}[{self.index(self.env[target])}]" if r.random() < 0.5 and np.ndim(self.env[target]) else target
        value = self.fitting(target) if operator not in ("//=", "%=", "/=", "<<=") else r.choice(("1", "2", "2"))
        made = self.env[value] if value in self.env else eval(value, self.env)
        held = np.asarray(self.env[target]).dtype
        if held.kind in "iu" and not stays_integer(held, made):
            value = "1"  # a single element would become a float that may lie outside of the integers, uint64 with int16 too
        return None, f"{place} {operator} {value}"

    def overlap(self):
        """Source and target of one statement are parts of the same memory."""
        r, a = self.random, self.pick(lambda x: axes(x) and x.flags.writeable)
        x = self.env[a]
        forward, backward = r.choice(((":-1", "1:"), ("::2", "1::2"), ("::-1", ":"), (":", "::-1"), (":-2", "2:"), ("1:-1", "2:"), (":3", "-3:")))
        if r.random() < 0.3 and x.ndim > 1:
            forward, backward = f"..., {forward}", f"..., {backward}"
        texts = [
            f"{a}[{forward}] = {a}[{backward}]", f"{a}[{forward}] += {a}[{backward}]", f"{a}[{backward}] -= {a}[{forward}]",
            f"{a}[...] = {a}[{backward}]", f"{a}[{forward}] = {a}[{backward}] + {a}[{forward}]", f"{a}[{forward}], {a}[{backward}] = {a}[{backward}], {a}[{forward}]",
            f"xp.add({a}[{forward}], {a}[{backward}], out={a}[{forward}])", f"xp.multiply({a}[{backward}], 2, out={a}[{forward}])",
            f"xp.copyto({a}[{forward}], {a}[{backward}])",
        ]  # fmt: skip
        if x.ndim == 2 and x.shape[0] == x.shape[1]:
            texts += [f"{a}[...] = {a}.T", f"{a} += {a}.T", f"{a}[0] = {a}[:, 0]", f"xp.subtract({a}, {a}.T, {a})"]
        return None, r.choice(texts)

    def out(self):
        target, r = self.pick(is_array), self.random
        where = f", where={self.pick(lambda x: getattr(x, 'dtype', None) == bool)}" if r.random() < 0.3 else ""
        casting = ", casting='unsafe'" if r.random() < 0.1 and self.env[target].dtype.kind in "fc" else ""
        place = f"{target}[{self.index(self.env[target])}]" if r.random() < 0.4 else target
        a, b = self.pick(finite if casting else lambda x: True), self.fitting(target)
        name = r.choice(("add", "subtract", "multiply", "maximum", "minimum", "negative", "square"))
        operands = a if name in ("negative", "square") else f"{a}, {b}"
        return None, f"xp.{name}({operands}, {place if not where and r.random() < 0.3 else 'out=' + place}{where}{casting})"

    def reduce(self):
        source, r = self.pick(), self.random
        x = self.env[source]
        axis = r.choice(("None", "0", "-1", "(0, 1)", "1"))
        keep = r.choice(("", ", keepdims=True"))
        kind = r.choice(("sum", "max", "min", "any", "all", "argmax", "argmin", "cumsum", "count_nonzero", "prod", "ptp", "mean", "median", "cumprod"))
        if kind in ("argmax", "argmin") and (axis == "(0, 1)" or np.ndim(x) == 0):
            axis = "None"
        if kind in ("prod", "cumprod") and np.asarray(x).dtype.kind == "c" and np.size(x) > 20:
            raise Nothing  # parts that overflow in one order meet others that do not
        if kind in ("prod", "cumprod") and np.asarray(x).dtype.kind == "f":
            largest = np.abs(np.asarray(x, np.float64))
            if np.sum(np.log2(largest[np.isfinite(largest) & (largest > 0)])) > 100:
                raise Nothing  # an infinity of some order would meet the zeros of another
        if kind in ("cumsum", "cumprod"):
            return self.new(f"xp.{kind}({source}, axis={'None' if ',' in axis else axis})")
        if np.asarray(x).dtype.name in ("float16", "bfloat16") and kind in ("prod", "mean", "median"):
            raise Nothing
        if kind in ("sum", "max", "min", "any", "all", "argmax") and r.random() < 0.25:
            target = self.pick(lambda y: is_array(y) and (y.dtype != bool or kind != "sum"))
            return None, f"xp.{kind}({source}, axis={axis}, out={target})"
        return self.new(f"xp.{kind}({source}, axis={axis}{keep})")

    def join(self):
        a, r = self.pick(), self.random
        b = self.pick(lambda x: np.shape(x) == np.shape(self.env[a]))
        texts = (
            "xp.concatenate([{}, {}])", "xp.stack([{}, {}], axis=-1)", "xp.concatenate([{}, {}], axis=None)", "xp.vstack([{}, {}])",
            "xp.hstack(({}, {}))", "xp.dstack(({}, {}))", "xp.column_stack(({}, {}))", "xp.block([[{}], [{}]])", "xp.append({}, {})",
            "xp.array([{}, {}])",
        )  # fmt: skip
        return self.new(r.choice(texts).format(a, b))

    def rolled(self):
        """What is computed with parts of an array that are joined, under views, rows of it reduced or not."""
        a, r = self.pick(lambda x: axes(x) and 0 < np.size(x) < 1500), self.random
        x = self.env[a]
        axis = r.randrange(x.ndim)
        before = ":, " * axis

        def joined():
            n, m = (r.randint(0, x.shape[axis]) for _ in range(2))
            whole = f"xp.concatenate([{a}[{before}{n}:], {a}[{before}:{n}]], axis={axis})"
            framed = f"xp.concatenate([{a}[{before}-1:], {a}, {a}[{before}:1]], axis={axis})[{before}{r.choice((':-2', '2:', '1:-1'))}]"
            twice = f"xp.roll(xp.roll({a}, {n}, axis={axis}), {m}, axis={r.randrange(x.ndim)})"
            return r.choice((f"xp.roll({a}, {n}, axis={axis})", whole, framed, twice, f"xp.roll({a}, {n})"))

        view = r.choice(("", "", ".T", "[..., ::-1]", "[..., ::2]", "[::-1]", "[::3]", "[..., 1:]", "[..., ::-2]", ".reshape(-1)[::-1]"))
        computed = f"xp.maximum({joined()}{view}, {joined()}{view})"
        if r.random() < 0.2:
            computed = f"xp.minimum(xp.concatenate([{a}[{before}:{r.randint(0, x.shape[axis])}], {a}], axis={axis}){view}, 3)"
        reduced = r.choice(("", "", f".max(axis={r.choice(('-1', '0', 'None'))})", ".argmin(axis=-1)", ".cumsum(axis=-1)" if x.dtype.kind in "iu" else ""))
        return self.new(computed + reduced)

    def convert(self):
        source, r = self.pick(), self.random
        x = np.asarray(self.env[source])
        allowed = [d for d in self.dtypes if x.dtype.kind not in "fcV" or d.startswith(("float", "complex")) or (finite(x) and d in ("bool", "int64", "int32"))]
        return self.new(r.choice((f"{source}.astype('{r.choice(allowed)}')", f"{source}.copy()", f"xp.array({source})", f"xp.abs({source})")))

    def mask(self):
        a, r = self.pick(axes), self.random
        x = self.env[a]
        condition = self.condition(a)
        other = self.fitting(a)
        # NumPy reads what it has written where a mask and its values overlap.
        if is_array(self.env.get(other)) and np.may_share_memory(self.env[other], x):
            other += ".copy()"
        if r.random() < 0.15 and x.ndim > 1:
            condition = f"{condition.replace(a, a + '[:, 0]', 1)}, {self.slice(x.shape[1])}" if x.ndim == 2 else condition
        makes = [
            f"{a}[{condition}]", f"xp.where({condition}, {a}, 0)", f"xp.count_nonzero({condition})", f"xp.extract({condition}, {a})",
            f"xp.compress(({condition}).ravel(), {a})", f"xp.flatnonzero({condition})", f"xp.argwhere({condition})", f"xp.nonzero({condition})[0]",
            f"xp.sum({a}[{condition}])", f"{a}[~({condition})]", f"xp.where({condition})[-1]", f"{a}[{condition}].copy()", f"{a}[({condition}) & ({self.condition(a)})]",
        ]  # fmt: skip
        if r.random() < 0.5:
            return self.new(r.choice(makes))
        return None, r.choice((
            f"{a}[{condition}] += {r.choice(('1', '2'))}", f"{a}[{condition}] = {a}[{condition}] * 2", f"{a}[{condition}] = {other}",
            f"{a}[{condition}] = {r.choice(('0', '3', '1', '-1'))}", f"xp.putmask({a}, {a} > 0, {other})", f"xp.copyto({a}, {other}, where={a} > 0)",
            f"xp.place({a}, {a} != 0, [1, 2])", f"{a}[{condition}] *= {a}[{condition}]", f"{a}[{condition}] = {a}[{condition}][::-1]",
            f"{a}[xp.nonzero({condition})] = {r.choice(('0', '2'))}", f"{a}[{condition}] -= 1", f"{a}[{a} > 0], {a}[{a} < 0] = 1, 2",
        ))  # fmt: skip

    def fancy(self):
        a, r = self.pick(lambda x: axes(x) and x.shape[0] and x.flags.writeable), self.random
        x = self.env[a]
        rows = self.integers(x.shape[0])
        key = rows if r.random() < 0.3 else self.mixed(x)
        makes = [f"{a}[{key}]"] * 3 + [
            f"xp.take({a}, {rows}, axis=0)", f"xp.take({a}, {r.randrange(-3, 9)}, mode='{r.choice(('wrap', 'clip'))}')", f"{a}.take({self.integers(x.size)})",
            f"xp.take_along_axis({a}, xp.argsort({a}, axis=-1), axis=-1)", f"{a}[xp.argsort({a}.ravel() if {a}.ndim > 1 else {a}, kind='stable') % {x.shape[0]}]",
            f"xp.choose({self.pick()} % 2, [{a}, {self.operand()}])", f"xp.delete({a}, {r.randrange(x.shape[0])}, axis=0)", f"xp.insert({a}, 0, 1, axis=0)",
        ]  # fmt: skip
        if x.ndim == 2 and x.size:
            makes.append(f"{a}[xp.ix_({self.integers(x.shape[0], (2,))}, {self.integers(x.shape[1], (3,))})]")
        if r.random() < 0.5:
            return self.new(r.choice(makes))
        value = self.fitting(a)
        # NumPy reads past the end of values that broadcast to a matrix of indices.
        single = value if is_single(self.env.get(value)) or value in ("2", "3", "1") else "1"
        # NumPy compares uint64 with a Python int, and with int64, as float64, which 2**64 - 1 is not, and adds them so.
        is_long = np.asarray(x).dtype == np.uint64
        # What is computed as floats for integers may be out of their range, which C leaves undefined.
        given = np.asarray(self.env.get(single, 2)).dtype
        is_float = np.asarray(x).dtype.kind in "biu" and (given.kind not in "biu" or (given == np.uint64 and np.asarray(x).dtype.kind == "i"))
        largest = "xp.uint64(3)" if is_long else "2" if is_float else single
        added = "xp.uint64(1)" if is_long else single if np.asarray(self.env.get(single, 0.5)).dtype.kind in "biu" else "1"
        held, made = np.asarray(x).dtype, self.env[value] if value in self.env else eval(value, self.env)
        taken = value if held.kind not in "iu" or stays_integer(held, made) else "1"
        return None, r.choice((
            f"{a}[{key}] = {value}", f"{a}[{key}] += 1", f"{a}[{key}] = {a}[{key}] * 2", f"{a}[{rows}] = {value}", f"xp.add.at({a}, ({key},), {added})",
            f"xp.maximum.at({a}, {rows}, {largest})", f"xp.put({a}, {self.integers(x.size, (3,))}, {value})", f"{a}[{key}] -= {taken}", f"{a}[{key}] *= 2",
            f"xp.put_along_axis({a}, xp.argmax({a}, axis=-1, keepdims=True), {value}, axis=-1)", f"{a}.flat[{r.randrange(max(x.size, 1))}] = {value}",
        ))  # fmt: skip

    def scalar(self):
        r = self.random
        source = self.pick(lambda x: np.size(x) == 1)
        return self.new(f"xp.asarray({r.choice(('float', 'int', 'bool'))}({source}.item()))")

    def python(self):
        """Values are looked at: loops, conditions, unpacking."""
        r, a = self.random, self.pick(axes)
        x = self.env[a]
        if not x.size or len(x) > 20:
            raise Nothing
        number = ", ".join(str(r.randrange(-n, n)) for n in x.shape)
        made = self.new
        texts = [
            lambda: made(f"{a} + 1 if {a}[{number}] > 0 else {a} * 2"), lambda: made(f"xp.array([row.sum() for row in {a}])"), lambda: made(f"xp.asarray(max(range(len({a}))))"),
            lambda: made(f"{a}[{number}]"), lambda: made(f"xp.array({a}.tolist())"), lambda: made(f"xp.asarray([float(abs({a}[{number}])), 1])"),
            lambda: made(f"sum({a})"), lambda: made(f"[v * 2 for v in {a}][0]"), lambda: made(f"xp.array(list({a}))"), lambda: made(f"list({a}.flat)[-1] + {a}"),
            lambda: (None, f"{a}[{number}] = {a}[{number}] + 1"), lambda: (None, f"{a}[{number}] *= 2"), lambda: (None, f"for i in range(len({a})): {a}[i] = {a}[-1 - i]"),
            lambda: (None, f"for i in range(1, len({a})): {a}[i] += {a}[i - 1]"), lambda: (None, f"for row in {a}: row += 1") if x.ndim > 1 else made(f"sum({a})"),
            lambda: (None, f"for i, j in xp.ndindex({a}.shape[:2]): {a}[i, j] = i - j") if x.ndim > 1 and x.dtype.kind != "u" else made(f"len({a}) * {a}"),
            lambda: (None, f"{a}.fill({r.choice(('0', '1', '2'))})"), lambda: (None, f"{a}[0], {a}[-1] = {a}[-1].copy(), {a}[0].copy()"),
            lambda: (None, f"while -100 < {a}[{number}] < 2: {a} += 1"),
        ]  # fmt: skip
        return r.choice(texts)()

    def ufunc(self):
        r, a = self.random, self.pick(lambda x: axes(x) and np.size(x) < 200)
        x = self.env[a]
        axis = r.randrange(-x.ndim, x.ndim)
        name = r.choice(("add", "multiply", "maximum", "minimum", "subtract", "logical_and", "logical_or", "bitwise_xor", "bitwise_and", "fmax"))
        b = self.pick(lambda y: np.size(y) * x.size < 1000)
        if name == "multiply" and x.dtype.name in ("float16", "bfloat16"):
            raise Nothing
        where = f"xp.{name}({a}, {b}, where={self.pick(lambda y: np.asarray(y).dtype == bool)}, out=xp.zeros_like({a}))" if r.random() < 0.2 else ""
        indices = sorted(r.randrange(x.shape[axis]) for _ in range(2)) if x.shape[axis] else []
        return self.new(where or r.choice((
            f"xp.{name}.reduce({a}, axis={axis})", f"xp.{name}.accumulate({a}, axis={axis})", f"xp.{name}.outer({a}, {b})", f"xp.{name}.reduce({a}, axis={axis}, keepdims=True)",
            f"xp.{name}.reduceat({a}, {indices}, axis={axis})", f"xp.{name}.reduce({a}, axis={axis}, initial=1)", f"xp.add.reduce({a}, axis={axis}, where={a} > 0)",
        )))  # fmt: skip

    def function(self):
        r, a = self.random, self.pick(lambda x: np.size(x) < 300)
        b = self.operand()
        n = r.randint(-3, 3)
        return self.new(r.choice((
            f"xp.roll({a}, {n})", f"xp.roll({a}, {n}, axis=0)", f"xp.repeat({a}, 2, axis=-1)", f"xp.repeat({a}, 3)", f"xp.tile({a}, 2)", f"xp.pad({a}, 1)",
            f"xp.pad({a}, ((1, 2),) * xp.ndim({a}), mode='{r.choice(('edge', 'reflect', 'wrap', 'symmetric'))}')", f"xp.diff({a})", f"xp.diff({a}, n=2, axis=0)",
            f"xp.triu({a})", f"xp.tril({a}, {n})", f"xp.zeros_like({a})", f"xp.full_like({a}, 1)", f"xp.ones_like({a}, dtype=float)", f"xp.isin({a}, [1, 2])",
            f"xp.asarray(xp.array_equal({a}, {b}))", f"xp.broadcast_arrays({a}, {b})[0].copy()", f"xp.round({a})", f"xp.clip({a}, {n}, 2)", f"{a}.clip(0)", f"xp.diag({a})",
            f"xp.kron({a}, [1, 2])", f"xp.outer({a}, {b})", f"xp.trace({a})", f"xp.fix({a})", f"xp.nan_to_num({a})", f"xp.select([{a} > 0, {a} < 0], [{a}, {b}], 0)",
            f"xp.meshgrid({a}, [1, 2])[0]", f"xp.nansum({a}, axis=-1)", f"xp.nanmax({a})", f"xp.flip({a}, 0)", f"xp.resize({a}, (2, 3))", f"xp.argwhere({a})",
            f"xp.ravel({a}, order='F')", f"xp.reshape({a}, (-1,), order='F')", f"xp.trim_zeros({a}.ravel())", f"xp.piecewise({a}, [{a} > 0], [1, 2])", f"xp.ediff1d({a})",
            f"xp.linspace(0, 4, 5) + {a}", f"xp.arange({r.randint(0, 5)}) * {a}", f"xp.eye(3, dtype={a}.dtype)", f"xp.indices((2, 3))[{r.choice('01')}]", f"xp.apply_along_axis(sum, 0, {a})",
        )))  # fmt: skip

    def order(self):
        r, a = self.random, self.pick()
        axis = r.choice(("-1", "0", "None"))
        if r.random() < 0.25:
            return None, f"{a}.sort(axis={axis if axis != 'None' else '-1'})"
        return self.new(r.choice((
            f"xp.sort({a}, axis={axis})", f"xp.argsort({a}, axis={axis}, kind='stable')", f"xp.unique({a})", f"xp.searchsorted(xp.sort({a}, axis=None), {self.operand()})",
            f"xp.sort({a}, axis=-1)[..., ::-1]", f"xp.unique({a}, return_inverse=True)[1]", f"xp.unique({a}, return_counts=True)[1]", f"xp.bincount(abs({a}.ravel()) % 97)",
            f"xp.lexsort(({a}, {a}))", f"xp.union1d({a}, {self.operand()})", f"xp.intersect1d({a}, {self.operand()})", f"xp.digitize({a}, [0, 1, 2])", f"xp.histogram({a}, bins=3, range=(0, 3))[0]",
        )))  # fmt: skip

    def product(self):
        a = self.pick(lambda x: axes(x) and finite(x) and x.dtype.name not in ("float16", "bfloat16"))
        x = self.env[a]
        b = self.pick(lambda y: axes(y) and finite(y) and y.dtype.name not in ("float16", "bfloat16"))
        return self.new(self.random.choice((
            f"{a} @ {b}", f"xp.dot({a}, {b})", f"{a} @ {a}.T", f"xp.tensordot({a}, {b}, axes={self.random.randint(0, 1)})", f"xp.inner({a}, {b})", f"xp.vdot({a}, {a})",
            f"xp.einsum('...i,...i->...', {a}, {a})", f"xp.einsum('ij->ji', {a})", f"xp.einsum('ij,jk', {a}, {b})", f"xp.convolve({a}, [1, 2])", f"xp.cross({a}, {b})",
        )))  # fmt: skip
