"""The sieve of Eratosthenes by stepped slices."""

import numpy as np

SIZE, SMALL = 10_000_000, 500


def main(size):
    prime = np.ones(size, dtype=bool)
    prime[:2] = False
    prime[4::2] = False
    for i in range(3, int(size**0.5) + 1, 2):
        if prime[i]:
            prime[i * i :: i] = False
    found = np.flatnonzero(prime)
    return prime, found, found[-5:].sum(), np.diff(found).max()
