#!/usr/bin/env python3
"""How often the simulated steps put two published shapes in the published order.

    tools/rows/order_of_shapes.py tests/validation/megatron-bridge.json $PHOTONRAIL_SHARED_DATA/training_rows/rows.json

Pairs have the same model, system, GPUs, precision, sequence and task, and another shape; they are compared by tokens a second
and GPU. Prints the pairs in the published order, the others, and Kendall's tau; then the same whatever the precision.
"""
import itertools
import json
import sys

SHAPE = ("tp", "pp", "cp", "vp", "ep", "mbs", "fsdp", "gbs")


def simulated_steps(table, rows):
    """By index of the row: the simulated step, where the table of validation has one."""
    steps = {}
    for figure in table:
        words = figure["figure"].split()
        for release, published in figure["published"].items():
            ours = figure["ours"].get(release)
            if not isinstance(ours, (int, float)):
                continue
            for i, row in enumerate(rows):
                same = row["release"] == release and row["model"] == words[0] and str(row["gpus"]) in words
                if same and abs(row["step_s"] - published) < 0.006:
                    steps[i] = ours
    return steps


def count_pairs(rows, steps, keys):
    alike, others = 0, []
    for a, b in itertools.combinations(sorted(steps), 2):
        first, second = rows[a], rows[b]
        if any(first[key] != second[key] for key in keys) or all(first[key] == second[key] for key in SHAPE):
            continue
        published = first["tokens_per_s_gpu"] - second["tokens_per_s_gpu"]
        ours = first["gbs"] * first["seq"] / steps[a] - second["gbs"] * second["seq"] / steps[b]
        if published * ours > 0:
            alike += 1
        elif published * ours < 0:
            others.append((first["model"], first["system"], first["gpus"]))
    return alike, others


def main():
    with open(sys.argv[1]) as file:
        table = json.load(file)["rows"]
    with open(sys.argv[2]) as file:
        rows = json.load(file)["rows"]
    steps = simulated_steps(table, rows)
    keys = ["model", "system", "gpus", "seq", "task"]
    for what, by in (("one precision", keys + ["precision"]), ("any precision", keys)):
        alike, others = count_pairs(rows, steps, by)
        pairs = alike + len(others)
        print(f"{what}: {pairs} pairs, {alike} in order, tau {(alike - len(others)) / pairs:.2f}; misses {sorted(set(others))}")


if __name__ == "__main__":
    main()
