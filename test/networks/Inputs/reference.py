#!/usr/bin/env python3
"""Writes inputs and the expected output of a hand-written network as .npy files.

usage: reference.py two_loads|mma_mma|load_scale_mma DIR

The inputs are small integers, so that every sum is exact and the output must be equal; bf16 is
written as raw bits.
"""
import os
import random
import struct
import sys


def bf16(value):
    """The bits of value rounded to the nearest bf16, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def widened(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def save(path, kind, rows):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" % (
        {"H": "<u2", "f": "<f4"}[kind], len(rows), len(rows[0]))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            file.write(struct.pack("<%d%s" % (len(row), kind), *row))


def matrix(rows, columns):
    return [[random.randint(-3, 3) for _ in range(columns)] for _ in range(rows)]


def product(a, b):
    """a times the transpose of b."""
    return [[sum(x * y for x, y in zip(row, column)) for column in b] for row in a]


def main():
    network, folder = sys.argv[1:]
    random.seed(network)
    os.makedirs(folder, exist_ok=True)
    m, n, k, p = 200, 136, 152, 72
    a = matrix(m, k)
    inputs = {"A": a}
    if network == "two_loads":
        b = inputs["B"] = matrix(k, n)
        d = [[max(x, 0) for x in row] for row in product(a, list(zip(*b)))]
    elif network == "mma_mma":
        b = inputs["B"] = matrix(n, k)
        c = inputs["C"] = matrix(p, n)
        middle = [[widened(bf16(x)) for x in row] for row in product(a, b)]
        d = product(middle, c)
    elif network == "load_scale_mma":
        b = inputs["B"] = matrix(n, k)
        d = [[0.5 * x for x in row] for row in product(a, b)]
    else:
        sys.exit(__doc__)
    for name, rows in inputs.items():
        save(os.path.join(folder, name + ".npy"), "H", [[bf16(x) for x in row] for row in rows])
    save(os.path.join(folder, "D.npy"), "f", d)


main()
