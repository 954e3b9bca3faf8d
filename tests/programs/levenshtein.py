"""Edit distance of two strings, an element of the table at a time."""

import numpy as np

SIZE, SMALL = 300, 12


def main(size):
    a = [(i * 7 + i * i) % 11 for i in range(size)]
    b = [(i * 5 + i * i) % 11 for i in range(size + 3)]
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    table[:, 0] = np.arange(len(a) + 1)
    table[0, :] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
    return table, table[-1, -1]
