"""ResNet-18 and MobileNetV2 (networks.py) as array programs: a convolution is a matrix product of the windows, one of single
channels a sum over the taps. Images and channels lie as (batch, rows, columns, channels); batch normalisation is a scale and
a shift a channel. `weights` gives the arrays in the order in which a forward pass takes them: for each convolution its taps
(rows, columns, inputs, outputs) and its (scale, shift), at the end the classifier's matrix and bias."""

from __future__ import annotations

import numpy as np

CLASSES = 1000
RESNET = ((64, 1), (128, 2), (256, 2), (512, 2))  # channels, stride of the first of two blocks
MOBILENET = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def _taps(xp, x, size, stride):
    """The windows' elements: one array a tap, as large as the result."""
    edge = size // 2
    rows, columns = [(n - 1) // stride + 1 for n in x.shape[1:3]]
    padded = xp.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0))) if edge else x
    return [padded[:, i:i + stride * (rows - 1) + 1:stride, j:j + stride * (columns - 1) + 1:stride]
            for i in range(size) for j in range(size)]


def convolution(xp, x, weights, stride=1):
    """Each output channel of all input channels, normalised."""
    kernel, (scale, shift) = next(weights), next(weights)
    taps = _taps(xp, x, kernel.shape[0], stride)
    windows = taps[0] if len(taps) == 1 else xp.stack(taps, axis=3)
    y = xp.reshape(windows, (-1, kernel.size // kernel.shape[-1])) @ xp.reshape(kernel, (-1, kernel.shape[-1]))
    return xp.reshape(y, (*taps[0].shape[:3], kernel.shape[-1])) * scale + shift


def of_channels(xp, x, weights, stride):
    """Each channel by itself, normalised."""
    kernel, (scale, shift) = next(weights), next(weights)
    taps = _taps(xp, x, kernel.shape[0], stride)
    filters = xp.reshape(kernel, (len(taps), kernel.shape[-1]))
    return sum(taps[i] * filters[i] for i in range(len(taps))) * scale + shift


def resnet18(xp, x, *arrays):
    weights = iter(arrays)
    y = xp.maximum(convolution(xp, x, weights, 2), 0)
    taps = _taps(xp, y, 3, 2)  # zeros at the borders, which no maximum of the values here is below
    y = taps[0]
    for tap in taps[1:]:
        y = xp.maximum(y, tap)
    channels = 64
    for width, first in RESNET:
        for stride in (first, 1):
            inside = xp.maximum(convolution(xp, y, weights, stride), 0)
            inside = convolution(xp, inside, weights)
            same = stride == 1 and channels == width
            y = xp.maximum(inside + (y if same else convolution(xp, y, weights, stride)), 0)
            channels = width
    return xp.mean(y, axis=(1, 2)) @ next(weights) + next(weights)


def mobilenet_v2(xp, x, *arrays):
    weights = iter(arrays)
    y = xp.clip(convolution(xp, x, weights, 2), 0, 6)
    channels = 32
    for wider, width, repeat, first in MOBILENET:
        for i in range(repeat):
            stride = first if i == 0 else 1
            inside = y if wider == 1 else xp.clip(convolution(xp, y, weights), 0, 6)
            inside = convolution(xp, xp.clip(of_channels(xp, inside, weights, stride), 0, 6), weights)
            y = y + inside if stride == 1 and channels == width else inside
            channels = width
    y = xp.clip(convolution(xp, y, weights), 0, 6)
    return xp.mean(y, axis=(1, 2)) @ next(weights) + next(weights)


def _layers(name: str):
    """(size, inputs of a filter, outputs) of the convolutions in order, and the classifier's inputs."""
    if name == "resnet18":
        yield 7, 3, 64
        channels = 64
        for width, first in RESNET:
            for stride in (first, 1):
                yield from ((3, channels, width), (3, width, width))
                if stride != 1 or channels != width:
                    yield 1, channels, width
                channels = width
        return
    yield 3, 3, 32
    channels = 32
    for wider, width, repeat, _ in MOBILENET:
        for _ in range(repeat):
            if wider > 1:
                yield 1, channels, channels * wider
            yield from ((3, 1, channels * wider), (1, channels * wider, width))
            channels = width
    yield 1, channels, 1280


def weights(name: str, rng: np.random.Generator) -> list:
    arrays, last = [], 0
    for size, inputs, outputs in _layers(name):
        deviation = np.float32(np.sqrt(2 / (size * size * inputs)))
        arrays.append(rng.standard_normal((size, size, inputs, outputs), np.float32) * deviation)
        arrays.append(np.stack([rng.random(outputs, np.float32) * 0.4 + 0.6, rng.standard_normal(outputs, np.float32) * 0.1]))
        last = outputs
    return [*arrays, rng.standard_normal((last, CLASSES), np.float32) / np.float32(np.sqrt(last)), np.zeros(CLASSES, np.float32)]
