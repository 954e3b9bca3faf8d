"""JAX: jax.jit of each program, waiting for the result; its own softmax, gelu and loops where it has them."""

from __future__ import annotations

import numpy as np

import programs
from contenders import Entry, Missing

_state: dict = {}


def start(threads: int) -> str:
    import jax

    jax.config.update("jax_enable_x64", True)  # of dtypes that a row asks for; every input says its own
    _state.update(jax=jax, jnp=jax.numpy)
    return jax.__version__


def softmax(jax, jnp, x):
    return jax.nn.softmax(x, axis=1)


def gelu(jax, jnp, x, bias):
    return jax.nn.gelu(x + bias, approximate=True)


def transpose(jax, jnp, x):
    return x.T


def update(jax, jnp, a, b):
    return a + b


def pi_random(jax, jnp, n):
    x, y = jax.random.uniform(jax.random.key(1), (2, n), jnp.float32)
    return programs.pi(jnp, x, y)


def fourier(jax, jnp, x, odd, factor, step):
    series = jax.lax.fori_loop(0, odd.size, lambda i, s: s + factor[i] * jnp.sin(odd[i] * x), jnp.zeros_like(x))
    return series, (series[2:] - series[:-2]) / (2 * step)


def jacobi(jax, jnp, a, sweeps):
    def sweep(a):
        inner = a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        return a.at[1:-1, 1:-1].set(0.2 * inner)

    return jax.lax.fori_loop(0, sweeps // 2, lambda _, v: sweep(sweep(v)), a)


def mandelbrot(jax, jnp, real, imaginary, steps):
    def step(_, state):
        zr, zi, count = state
        inside = zr * zr + zi * zi < 4
        return (jnp.where(inside, zr * zr - zi * zi + real, zr), jnp.where(inside, 2 * zr * zi + imaginary, zi),
                count + inside)

    zero = jnp.zeros_like(real)
    return jax.lax.fori_loop(0, steps, step, (zero, zero, jnp.zeros(real.shape, jnp.int32)))[2]


FORMS = {f.__name__: f for f in (softmax, gelu, transpose, update, pi_random, fourier, jacobi, mandelbrot)}


def contenders(row, inputs) -> dict:
    jax, jnp = _state["jax"], _state["jnp"]
    form, program = FORMS.get(row.program), getattr(programs, row.program, None)
    if form is None and program is None:
        raise Missing("not written with it")
    donated = ()
    if form:
        function = lambda *values: form(jax, jnp, *values, **row.params)
        donated = (0,) if row.program in programs.IN_PLACE else ()
    else:
        function = lambda *values: program(jnp, *values, **row.params)
    jitted = jax.jit(function, donate_argnums=donated)
    arrays = [jnp.array(x, dtype=x.dtype) for x in inputs]
    if donated:  # the first argument is the state, as it is for those that update it in place
        def run():
            arrays[0] = jitted(*arrays)
            return arrays[0].block_until_ready()
    else:
        run = lambda: jax.block_until_ready(jitted(*arrays))
    return {"jax": Entry(run, lambda r: [np.asarray(x) for x in (r if isinstance(r, tuple) else (r,))])}
