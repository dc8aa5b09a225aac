#!/usr/bin/env python3
"""Errors of scale-up collectives on curves that the fit did not see.

usage: tools/rows/leave_out_curves.py OPERATORS_FOLDER [SYSTEM ...]

OPERATORS_FOLDER has nccl.csv. For each system, each curve (an operation on a number of GPUs, both element types) is left out in turn,
the costs of the protocols (src/collective/scale_up.hpp) are fitted to every second size of the others by coordinate descent on the
square root of the error of the logarithm, and the curve is predicted. Printed: geometric mean of the error of 64 KiB and more, and its bias.
"""
import csv
import math
import os
import sys

START = [8.0, 1.0, 20.0, 9.5, 1.0, 4.0, 13.0, 5.0, 2.5, 1.2, 45.0, 4.0, 9.0, 25.0, 16.0, 2.5]  # as in parts()


def parts(c):
    return {"rings": [c[0:3], c[3:6], c[6:9]], "copy": c[9], "nvls": c[10:12], "pairs": [(c[12], c[13], 0.0), (c[14], c[15], 1.0)]}


def predict(p, op, n, nbytes, nvls):
    mb = nbytes / 1e6
    if op == "all_to_all":
        return min(launch + (n - 1) / n * mb * per + copied * mb / n * p["copy"] for launch, per, copied in p["pairs"])
    passes = 2 if op == "all_reduce" else 1
    copied = 0.0 if op == "all_reduce" else mb / n * p["copy"]
    best = min(launch + passes * (n - 1) * step + passes * (n - 1) / n * mb * per + copied for launch, step, per in p["rings"])
    if nvls and op == "all_reduce":
        best = min(best, p["nvls"][0] + (1 + 1 / n) * mb * p["nvls"][1])
    return best


def loss(c, points, nvls):
    p = parts(c)
    return sum(math.sqrt(abs(math.log(predict(p, op, n, b, nvls) / t))) for op, n, b, t in points)


def fit(points, nvls, start):
    c, best, size = list(start), loss(start, points, nvls), 0.5
    while size > 0.02:
        improved = False
        for i in range(len(c)):
            for factor in (1 + size, 1 / (1 + size)):
                kept, c[i] = c[i], c[i] * factor
                tried = loss(c, points, nvls)
                if tried < best - 1e-9:
                    best, improved = tried, True
                else:
                    c[i] = kept
        size = size if improved else size / 2
    return c


def main():
    curves = {}
    for row in csv.DictReader(open(os.path.join(sys.argv[1], "nccl.csv"), encoding="utf-8")):
        curve = curves.setdefault(row["system"], {}).setdefault((row["op"], int(row["gpus"])), [])
        curve.append((row["op"], int(row["gpus"]), int(row["bytes"]), float(row["latency_us"])))
    everything = []
    for system in sys.argv[2:] or sorted(curves):
        nvls = system != "a100"
        seen = [point for points in curves[system].values() for point in points if (point[2].bit_length() - 1) % 2]
        start = fit(seen, nvls, START)
        for key, points in sorted(curves[system].items()):
            others = [point for point in seen if (point[0], point[1]) != key]
            if key[0] == "all_to_all":  # the only curve of its kind: nothing is left to fit it to
                continue
            p = parts(fit(others, nvls, start))
            errors = [math.log(predict(p, *point[:3], nvls) / point[3]) for point in points if point[2] >= 65536]
            everything += errors
            mean = math.exp(sum(map(abs, errors)) / len(errors)) - 1
            bias = math.exp(sum(errors) / len(errors)) - 1
            print(f"{system:6} {key[0]:15} {key[1]} members: {100 * mean:5.1f} %, bias {100 * bias:+5.1f} %", flush=True)
    mean = math.exp(sum(map(abs, everything)) / len(everything)) - 1
    bias = math.exp(sum(everything) / len(everything)) - 1
    print(f"all {len(everything)} points: {100 * mean:.1f} %, bias {100 * bias:+.1f} %")


main()
