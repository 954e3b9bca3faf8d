"""Where a small image lies in a large one: squared differences over all offsets, by slices."""

import numpy as np

SIZE, SMALL = 1000, 40


def main(size, small=5):
    i, j = np.arange(size)[:, None], np.arange(size)[None, :]
    image = ((i * 31 + j * 17 + i * j) % 251).astype(np.float64)
    at = (size // 3, size // 2)
    needle = image[at[0] : at[0] + small, at[1] : at[1] + small].copy()
    rows, columns = size - small + 1, size - small + 1
    error = np.zeros((rows, columns))
    for y in range(small):
        for x in range(small):
            error += (image[y : y + rows, x : x + columns] - needle[y, x]) ** 2
    best = error.argmin()
    row, column = divmod(int(best), columns)
    return error, best, np.asarray([row, column]), error.min() == 0
