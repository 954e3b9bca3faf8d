"""The canonical float reductions and matrix products, written a second time.

Independent of the compiler: straight NumPy over Python loops, following docs/numerics.md. A result of graphc must
equal these bit for bit, whatever schedule, thread count or device computed it.
"""

import numpy as np

from . import exact

LANES = 256
ROWS = 32
ROW_BLOCK = 32
K_BLOCK = 2048
RUN = 4


def lane_tree(x, combine):
    """Reduces the last axis: 256 lanes, 32 rows a block, lanes folded by halves, block results by the same tree."""
    while True:
        n = x.shape[-1]
        blocks = [_lane_block(x[..., i : i + LANES * ROWS], combine) for i in range(0, n, LANES * ROWS)]
        if len(blocks) == 1:
            return blocks[0]
        x = np.stack(blocks, axis=-1)


def _lane_block(x, combine):
    n = x.shape[-1]
    present = min(n, LANES)
    lanes = x[..., :present].copy()
    for start in range(LANES, n, LANES):
        row = x[..., start : start + LANES]
        lanes[..., : row.shape[-1]] = combine(lanes[..., : row.shape[-1]], row)
    half = LANES // 2
    while half:
        pairs = max(0, min(present - half, half))
        lanes[..., :pairs] = combine(lanes[..., :pairs], lanes[..., half : half + pairs])
        present = min(present, half)
        half //= 2
    return lanes[..., 0]


SCAN_GROUP = 16
SCAN_BLOCK = 4096


def scan(x, axis, combine):
    """Running combination along an axis: doubling in groups of 16, groups of 4096 in order, then the blocks before."""
    x = np.moveaxis(x, axis, -1)
    blocks = [_scan_groups(x[..., i : i + SCAN_BLOCK], combine) for i in range(0, x.shape[-1], SCAN_BLOCK)]
    if len(blocks) > 1:
        before = _scan_groups(np.stack([b[..., -1] for b in blocks[:-1]], axis=-1), combine)
        blocks[1:] = [combine(before[..., i : i + 1], b) for i, b in enumerate(blocks[1:])]
    result = np.concatenate(blocks, axis=-1) if blocks else x.copy()
    return np.ascontiguousarray(np.moveaxis(result, -1, axis))


def _scan_groups(x, combine):
    result = x.copy()
    for start in range(0, x.shape[-1], SCAN_GROUP):
        y = result[..., start : start + SCAN_GROUP]
        for apart in (1, 2, 4, 8):
            if apart < y.shape[-1]:
                y[..., apart:] = combine(y[..., :-apart], y[..., apart:].copy())
        if start:
            y[...] = combine(result[..., start - 1 : start], y)
    return result


def row_tree(x, combine):
    """Reduces the last axis: in order in blocks of 32, block results by the same tree."""
    while True:
        n = x.shape[-1]
        blocks = []
        for i in range(0, n, ROW_BLOCK):
            total = x[..., i]
            for j in range(i + 1, min(i + ROW_BLOCK, n)):
                total = combine(total, x[..., j])
            blocks.append(total)
        if len(blocks) == 1:
            return blocks[0]
        x = np.stack(blocks, axis=-1)


def reduce(x, axes, combine, identity):
    """The canonical reduction of a row-major array over `axes` (distinct, non-negative)."""
    result = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
    # Axes of size 1 are left out before anything else, so that x and x[:, None] have the same bits.
    long = [axis for axis, size in enumerate(x.shape) if size != 1]
    axes = tuple(number for number, axis in enumerate(long) if axis in axes)
    x = x.reshape([x.shape[axis] for axis in long])
    groups = []
    for axis in axes:
        if groups and groups[-1][-1] == axis - 1:
            groups[-1].append(axis)
        else:
            groups.append([axis])
    for group in reversed(groups):
        last = group[-1] == x.ndim - 1
        x = np.moveaxis(x, group, range(x.ndim - len(group), x.ndim))
        kept = x.shape[: x.ndim - len(group)]
        count = int(np.prod(x.shape[len(kept) :]))
        x = np.ascontiguousarray(x).reshape(kept + (count,))
        if count == 0:
            x = np.full(kept, identity, x.dtype)
        else:
            x = (lane_tree if last else row_tree)(x, combine)
        # The removed axes lie behind; groups still to do lie before them, so their numbers stand.
    return x.reshape(result)


def sum(x, axes):
    return reduce(x, axes, np.add, 0) + x.dtype.type(0)  # as NumPy's: the sum of negative zeros is +0


def prod(x, axes):
    return reduce(x, axes, np.multiply, 1)


def mean(x, axes):
    count = int(np.prod([x.shape[a] for a in axes]))
    with np.errstate(all="ignore"):
        return (sum(x, axes) / x.dtype.type(count)).astype(x.dtype)


def matmul(x, y):
    """x @ y for 2-d floats: fma chains of 2048 from zero, four blocks a run, runs in order; one row times one column is a sum
    of products."""
    k = x.shape[1]
    if x.shape[0] == y.shape[1] == 1:
        with np.errstate(all="ignore"):
            return sum(x * y.T, (1,)).reshape(1, 1)
    blocks = []
    for start in range(0, k, K_BLOCK):
        chain = np.zeros((x.shape[0], y.shape[1]), x.dtype)
        for i in range(start, min(start + K_BLOCK, k)):
            chain = exact.fma(x[:, i : i + 1], y[i : i + 1, :], chain)
        blocks.append(chain)
    if not blocks:
        return np.zeros((x.shape[0], y.shape[1]), x.dtype)
    runs = []
    for i in range(0, len(blocks), RUN):
        total = blocks[i]
        for block in blocks[i + 1 : i + RUN]:
            total = total + block
        runs.append(total)
    total = runs[0]
    for run in runs[1:]:
        total = total + run
    return total
