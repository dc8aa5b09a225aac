#!/usr/bin/env python3
"""Errors of the core of attention as training runs it, each measured sequence predicted from the others of its kernel.

usage: tools/rows/leave_out_attention.py [FOLDER]    FOLDER: configs/operators

As photonrail takes it: the ratio of a training kernel to the table of inference kernels, linear in the logarithm of the sequence; where the
table has not the shape, to the square of the sequence. Apart: sequences between two measured ones, and the shortest and longest.
"""
import csv
import gzip
import math
import os
import sys

SHAPE = ("head_dim", "window", "kv_heads", "heads", "batch")


def rows(file):
    opened = gzip.open(file, "rt") if file.endswith("gz") else open(file, encoding="utf-8")
    with opened as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def curves(found, keys):
    result = {}
    for row in found:
        result.setdefault(tuple(int(row[key]) for key in keys), {})[int(row["sequence"])] = float(row["time_us"])
    return result


def between(curve, at):
    """In logarithms; beyond the last points with the square of the sequence."""
    low, high = [s for s in curve if s <= at], [s for s in curve if s >= at]
    if not low or not high:
        end = max(low) if low else min(high)
        return curve[end] * (at / end) ** 2
    a, b = max(low), min(high)
    share = 0.0 if a == b else math.log(at / a) / math.log(b / a)
    return math.exp((1 - share) * math.log(curve[a]) + share * math.log(curve[b]))


def quantile(values, p):
    values = sorted(values)
    at = p * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..", "configs", "operators")
    errors = {}
    for gpu in ("b200", "gb200", "h200"):  # H100 has the rows of H200
        for precision in ("bf16", "fp8"):
            table = next(f for f in sorted(os.listdir(os.path.join(folder, gpu))) if f.startswith(f"attention_{precision}."))
            inference = curves(rows(os.path.join(folder, gpu, table)), SHAPE)
            training = curves(rows(os.path.join(folder, gpu, f"training_attention_{precision}.csv")), ("backward", *SHAPE))
            for key, curve in training.items():
                known = inference.get(key[1:])
                base = {s: between(known, s) if known else float(s * s if key[2] == 0 else s) for s in curve}
                ordered = sorted(curve)
                for i, s in enumerate(ordered):
                    ends = i in (0, len(ordered) - 1)
                    near = [ordered[1] if i == 0 else ordered[-2]] * 2 if ends else [ordered[i - 1], ordered[i + 1]]
                    ratios = [math.log(curve[x] / base[x]) for x in near]
                    share = 0.0 if ends else math.log(s / near[0]) / math.log(near[1] / near[0])
                    predicted = math.exp((1 - share) * ratios[0] + share * ratios[1]) * base[s]
                    kind = ("ends" if ends else "between", "all keys" if key[2] == 0 else "windows")
                    errors.setdefault(kind, []).append(abs(predicted / curve[s] - 1))
    for kind, sizes in sorted(errors.items()):
        print(f"{', '.join(kind)}: {len(sizes)} points, median {100 * quantile(sizes, 0.5):.1f} %, 95th percentile {100 * quantile(sizes, 0.95):.1f} %")


main()
