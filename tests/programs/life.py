"""Conway's game of life on a torus, by sums of shifted grids."""

import numpy as np

SIZE, SMALL = 1024, 24


def main(size, steps=20):
    rows, columns = np.arange(size)[:, None], np.arange(size)[None, :]
    grid = ((rows * 7 + columns * columns * 3 + rows * columns) % 5 == 0).astype(np.int8)
    for _ in range(steps):
        neighbours = sum(
            np.roll(np.roll(grid, i, axis=0), j, axis=1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)
        )
        grid = ((neighbours == 3) | ((grid == 1) & (neighbours == 2))).astype(np.int8)
    return grid, grid.sum()
