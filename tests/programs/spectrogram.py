"""A spectrogram: windows of a signal, Fourier transforms, decibels."""

import numpy as np

SIZE, SMALL = 1_000_000, 2000


def main(size, window=64, hop=32):
    t = np.arange(size) / 1000.0
    signal = np.sin(2 * np.pi * (50 + 20 * t) * t) + 0.5 * np.cos(2 * np.pi * 120 * t)
    count = (size - window) // hop + 1
    index = np.arange(window)[None, :] + hop * np.arange(count)[:, None]
    frames = signal[index] * np.hanning(window)
    spectrum = np.fft.rfft(frames, axis=1)
    power = np.abs(spectrum) ** 2
    return power, 10 * np.log10(power + 1e-12), np.fft.rfftfreq(window, 0.001)[power.mean(axis=0).argmax()]
