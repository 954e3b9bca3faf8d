"""Gray-Scott reaction and diffusion, updated in place through interior views."""

import numpy as np

SIZE, SMALL = 512, 32


def laplacian(z):
    return z[:-2, 1:-1] + z[1:-1, :-2] - 4 * z[1:-1, 1:-1] + z[1:-1, 2:] + z[2:, 1:-1]


def main(size, steps=40):
    du, dv, f, k = 0.16, 0.08, 0.060, 0.062
    u_all, v_all = np.zeros((size + 2, size + 2)), np.zeros((size + 2, size + 2))
    u, v = u_all[1:-1, 1:-1], v_all[1:-1, 1:-1]
    u[...] = 1.0
    r = size // 8
    middle = slice(size // 2 - r, size // 2 + r)
    u[middle, middle] = 0.50
    v[middle, middle] = 0.25
    for _ in range(steps):
        lu, lv = laplacian(u_all), laplacian(v_all)
        reaction = u * v * v
        u += du * lu - reaction + f * (1 - u)
        v += dv * lv + reaction - (f + k) * v
        for z in (u_all, v_all):
            z[0, :] = z[-2, :]
            z[-1, :] = z[1, :]
            z[:, 0] = z[:, -2]
            z[:, -1] = z[:, 1]
    return u, v
