"""A damped pendulum by Runge-Kutta steps: states of two numbers, put together from elements."""

import numpy as np

SIZE, SMALL = 1000, 12


def slope(state):
    return np.array([state[1], -np.sin(state[0]) - 0.1 * state[1]])


def main(size):
    state, h, path = np.array([1.0, 0.0]), 0.02, []
    for _ in range(size):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(state)
    path = np.array(path)
    energy = 0.5 * path[:, 1] ** 2 - np.cos(path[:, 0])
    return path, energy
