"""Black-Scholes prices and a binomial tree."""

import numpy as np

SIZE, SMALL = 1_000_000, 200


def normal_cdf(x):
    t = 1 / (1 + 0.2316419 * np.abs(x))
    poly = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = poly * np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
    return np.where(x >= 0, 1 - tail, tail)


def main(size, steps=50):
    spot = np.linspace(20, 180, size)
    strike, rate, sigma, years = 100.0, 0.05, 0.2 + 0.1 * (np.arange(size) % 3), 1.5
    d1 = (np.log(spot / strike) + (rate + sigma**2 / 2) * years) / (sigma * np.sqrt(years))
    d2 = d1 - sigma * np.sqrt(years)
    call = spot * normal_cdf(d1) - strike * np.exp(-rate * years) * normal_cdf(d2)
    put = call - spot + strike * np.exp(-rate * years)
    dt = years / steps
    up = np.exp(0.2 * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    values = np.maximum(100.0 * up ** (2.0 * np.arange(steps + 1) - steps) - strike, 0)
    for _ in range(steps):
        values = np.exp(-rate * dt) * (p * values[1:] + (1 - p) * values[:-1])
    return call, put, values[0], call.max()
