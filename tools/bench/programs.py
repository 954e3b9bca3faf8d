"""The programs of the rows, in the array API's words. `xp` is the contender's namespace. A contender that has a better
form of one (an own softmax, an output array) has it in its file; the others run these as they are."""

from array_networks import mobilenet_v2, resnet18  # noqa: F401

IN_PLACE = ("update", "jacobi", "put", "add_at", "set_masked", "add_masked", "copy_masked")  # these change their first argument: every contender gets inputs of its own


def mul_add(xp, a, b):
    return a * b + 1


def chain(xp, a, b):
    return a * b + xp.exp(-a) * xp.tanh(b)


def update(xp, a, b):
    a += b
    return a


def sin_sum(xp, a, b):
    return xp.sum(xp.sin(a) * 2 + b)


def total(xp, a):
    return xp.sum(a)


def sum_axis(xp, a, axis):
    return xp.sum(a, axis=axis)


def argmax(xp, a):
    return xp.argmax(a)


def cumsum(xp, a):
    return xp.cumsum(a)


def sort(xp, a):
    return xp.sort(a)


def argsort(xp, a):
    return xp.argsort(a)


def softmax(xp, x):
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def layernorm(xp, x, weight, bias):
    mean = xp.mean(x, axis=1, keepdims=True)
    centred = x - mean
    variance = xp.mean(centred * centred, axis=1, keepdims=True)
    return centred / xp.sqrt(variance + 1e-5) * weight + bias


def gelu(xp, x, bias):
    y = x + bias
    return 0.5 * y * (1 + xp.tanh(0.7978845608028654 * (y + 0.044715 * (y * y * y))))


def transpose(xp, x):
    return xp.permute_dims(x, (1, 0)).copy()


def logistic(xp, x, steps):
    for _ in range(steps):
        x = 22 * x * (x + 1) % 6700417
    return x


def pi(xp, x, y):
    return 4 * xp.mean(xp.sqrt(x * x + y * y) < 1)


def pi_random(xp, n):
    rng = xp.random.key(7).generator() if hasattr(xp.random, "key") else xp.random.default_rng(7)  # drawn where they are used
    x, y = rng.random(n, dtype=xp.float32), rng.random(n, dtype=xp.float32)
    return 4 * xp.mean(xp.sqrt(x * x + y * y) < 1)


def fourier(xp, x, odd, factor, step):
    series = xp.sum(xp.sin(odd[:, None] * x) * factor[:, None], axis=0)
    return series, (series[2:] - series[:-2]) / (2 * step)


def matmul(xp, a, b):
    return a @ b


def integrate(xp, a, b):
    return a @ b.T


def jacobi(xp, a, sweeps):
    b = a.copy()
    for _ in range(sweeps // 2):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a


def mandelbrot(xp, real, imaginary, steps):
    """How many of the steps each point stays within the circle of radius two."""
    zr, zi, count = xp.zeros_like(real), xp.zeros_like(real), xp.zeros_like(real, dtype=xp.int32)
    for _ in range(steps):
        inside = zr * zr + zi * zi < 4
        count = count + inside
        zr, zi = xp.where(inside, zr * zr - zi * zi + real, zr), xp.where(inside, 2 * zr * zi + imaginary, zi)
    return count


def mul_add3(xp, a, b, c):
    return a * b + c


def ten(xp, a, b, c):
    return (((((a * b + c) * a - b) * c + a) * b - c) * a + b) * c


def gather(xp, a, places):
    return a[places]


def gather_used(xp, a, places, b):
    return a[places] * 2 + b


def gather_pairs(xp, a, rows, columns):
    return a[rows, columns]


def gather_columns(xp, a, columns):
    return a[:, columns]


def take(xp, a, places):
    return xp.take(a, places)


def put(xp, a, places, values):
    a[places] = values
    return a


def add_at(xp, a, places, values):
    xp.add.at(a, places, values)
    return a


def masked(xp, a, mask):
    return a[mask]


def masked_sum(xp, a, mask):
    return xp.sum(a[mask])


def set_masked(xp, a, mask):
    a[mask] = 0.5
    return a


def add_masked(xp, a, mask):
    a[mask] += 1
    return a


def copy_masked(xp, a, b, mask):
    a[mask] = b[mask]
    return a


def choose(xp, mask, a, b):
    return xp.where(mask, a, b)


def true_places(xp, mask):
    return xp.nonzero(mask)[0]


def count_mask(xp, mask):
    return xp.cumsum(mask)


def search(xp, a, values):
    return xp.searchsorted(a, values)


def bincount(xp, x):
    return xp.bincount(x, minlength=1000)


def histogram(xp, x):
    return xp.histogram(x, bins=100, range=(0, 1))[0]
