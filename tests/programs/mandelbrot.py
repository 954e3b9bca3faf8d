"""Escape times of the Mandelbrot and a Julia set, in real arithmetic."""

import numpy as np

SIZE, SMALL = 1000, 40


def escape(zr, zi, cr, ci, steps):
    times = np.zeros(zr.shape, dtype=np.int32)
    for _ in range(steps):
        alive = zr * zr + zi * zi <= 4.0
        times += alive
        zr, zi = np.where(alive, zr * zr - zi * zi + cr, zr), np.where(alive, 2 * zr * zi + ci, zi)
    return times


def main(size, steps=30):
    x = np.linspace(-2.0, 0.5, size)
    y = np.linspace(-1.25, 1.25, size)
    cr, ci = np.meshgrid(x, y)
    mandelbrot = escape(np.zeros_like(cr), np.zeros_like(ci), cr, ci, steps)
    julia = escape(cr.copy(), ci.copy(), -0.8, 0.156, steps)
    return mandelbrot, julia, mandelbrot.max(), julia.mean()
