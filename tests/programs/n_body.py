"""Gravity between all pairs of bodies, leapfrog steps."""

import numpy as np

SIZE, SMALL = 1000, 20


def acceleration(position, mass):
    d = position[np.newaxis, :, :] - position[:, np.newaxis, :]
    r2 = (d**2).sum(axis=-1) + 0.01
    inverse = r2 ** (-1.5)
    np.fill_diagonal(inverse, 0.0)
    return (d * (mass * inverse)[:, :, np.newaxis]).sum(axis=1)


def main(size, steps=10, dt=0.01):
    t = np.arange(size) * 1.0
    position = np.stack([np.cos(t) * (1 + t / size), np.sin(t) * (1 + t / size), np.cos(3 * t) / 4], axis=1)
    velocity = np.zeros((size, 3))
    mass = np.full(size, 1.0 / size)
    a = acceleration(position, mass)
    for _ in range(steps):
        velocity += a * dt / 2
        position += velocity * dt
        a = acceleration(position, mass)
        velocity += a * dt / 2
    energy = 0.5 * (mass * (velocity**2).sum(axis=1)).sum()
    return position, velocity, energy
