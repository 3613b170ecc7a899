#!/usr/bin/env python3
"""Fits the polynomials of MathToNVVM.cpp: minimax by Remez exchange, in 60 digits.

Needs mpmath. Prints coefficients, highest power first, rounded to f32, and the largest
error before rounding."""
import struct

from mpmath import erf, erfc, fabs, linspace, log, log1p, lu_solve, matrix, mp, mpf, sqrt, tanh

mp.dps = 60


def remez(f, weight, low, high, degree, rounds=12, grid=4000):
    """Minimises weight(x) * |f(x) - p(x)| over [low, high]; gives coefficients, lowest first."""
    low, high = mpf(low), mpf(high)
    count = degree + 2
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / (count - 1)) for i in range(count)]
    points = linspace(low, high, grid)
    values = [f(x) for x in points]
    weights = [weight(x) for x in points]
    for _ in range(rounds):
        system = matrix(count, count)
        right = matrix(count, 1)
        for i, x in enumerate(nodes):
            for j in range(degree + 1):
                system[i, j] = x**j
            system[i, degree + 1] = (-1) ** i / weight(x)
            right[i] = f(x)
        solution = lu_solve(system, right)
        coefficients = [solution[j] for j in range(degree + 1)]
        errors = [w * (v - mp.polyval(coefficients[::-1], x)) for x, v, w in zip(points, values, weights)]
        # The largest error of each stretch of one sign.
        extremes = []
        for x, e in zip(points, errors):
            if extremes and (extremes[-1][1] > 0) == (e > 0):
                if fabs(e) > fabs(extremes[-1][1]):
                    extremes[-1] = (x, e)
            else:
                extremes.append((x, e))
        while len(extremes) > count:
            del extremes[0 if fabs(extremes[0][1]) < fabs(extremes[-1][1]) else -1]
        if len(extremes) < count:
            break
        nodes = [x for x, _ in extremes]
    return coefficients, max(fabs(e) for e in errors)


def f32(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def report(name, coefficients, error):
    print(name, "error", mp.nstr(error, 3))
    print("   ", ", ".join(f"{f32(c).hex()}f" for c in reversed(coefficients)))


def even_part(f):
    """f(x) / x as a function of x^2."""
    return lambda s: f(sqrt(s)) / sqrt(s)


# tanh(x) = x + x^3 p(x^2) on [0, 0.625], relative to tanh.
tiny = mpf(10) ** -12
report("tanh", *remez(lambda s: (even_part(tanh)(s) - 1) / s, lambda s: s / even_part(tanh)(s), tiny, 0.625**2, 4))
# erf(x) = x p(x^2) on [0, 1], relative to erf.
report("erf", *remez(even_part(erf), lambda s: 1 / even_part(erf)(s), tiny, 1, 6))
# log2(erfc(x)) = p(x) on [1, 4]; what matters is the absolute error of erfc.
report("erfc", *remez(lambda x: log(erfc(x), 2), lambda x: erfc(x) * log(2) + mpf(2) ** -20, 1, 4, 7))
# log(1 + f) = f - f^2/2 + f^3 p(f) on [sqrt(1/2) - 1, sqrt(2) - 1], relative to log.
report("log", *remez(lambda f: (log1p(f) - f + f * f / 2) / f**3 if fabs(f) > 1e-9 else mpf(1) / 3,
                     lambda f: fabs(f**3 / log1p(f)) if fabs(f) > 1e-9 else mpf(10) ** -18,
                     sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1, 7))
