#!/usr/bin/env python3
"""Where the shape that a publisher ships stands among all shapes of its model on its GPUs.

    tools/rows/megatron_bridge_rows.py FOLDER > rows.json
    tools/rows/place_of_recipes.py rows.json FOLDER/rows.json [--seconds 300] [--only TEXT]

For each configuration's newest row of pre-training: every tp, pp, virtual stages, micro-batch and sharding, with and without the published cp, whose product is
the number of GPUs is simulated with all else as in the row, experts as published. Prints the shapes that fit the memory of a
GPU, how many of them are faster than the published one, its place in per cent, and the fastest. Where the shape of the row needs
more than a GPU has, as its publisher keeps activations in the memory of the host, all shapes may need as much. Configurations that would take longer than --seconds are told and left out.
"""
import argparse
import copy
import itertools
import json
import re
import time

import photonrail


def divisors(number, most):
    return [d for d in range(1, min(number, most) + 1) if number % d == 0]


def shapes(scenario):
    """Every shape as changed keys of `workload.training`."""
    cluster, training = scenario["cluster"], scenario["workload"]["training"]
    server, gpus = cluster["gpus_per_server"], cluster["servers"] * cluster["gpus_per_server"]
    model, published = training["model"], training["parallelism"]
    stages = sorted({1, 2, 4, published["virtual_stages"]})
    context = sorted({1, published["cp"]})
    sizes = itertools.product(divisors(server, 16), context, divisors(gpus, model["layers"]), stages, (1, 2, 4), (False, True))
    for tp, cp, pp, vp, micro_batch, fsdp in sizes:
        if gpus % (tp * cp * pp) or (vp > 1 and pp == 1) or model["layers"] % (pp * vp):
            continue
        if fsdp and pp > 1:
            continue
        changed = {"tp": tp, "cp": cp, "pp": pp, "dp": gpus // (tp * cp * pp), "virtual_stages": vp}
        changed["fsdp" if fsdp else "zero1"] = True
        for key in ("ep", "etp"):
            if key in published:
                changed[key] = published[key]
        yield changed, micro_batch


def with_shape(scenario, parallelism, micro_batch):
    changed = copy.deepcopy(scenario)
    training = changed["workload"]["training"]
    training["parallelism"], training["micro_batch"] = parallelism, micro_batch
    training["schedule"] = "interleaved" if parallelism["virtual_stages"] > 1 else "1f1b"
    training["sequence_parallel"] = True
    changed["run"] = {"iterations": 1}
    training.pop("stage_layers", None)
    training.pop("ends_count_as_layers", None)
    if parallelism.get("fsdp"):
        training.get("gradients", {}).pop("overlap_parameters", None)
    return changed


def step_of(scenario):
    """Seconds, or why it cannot be."""
    try:
        made = photonrail.scenario(scenario)
    except photonrail.ConfigError as error:
        return str(error)
    for warning in made.warnings:
        if "does not fit" in warning:
            return warning
    return photonrail.simulate(made).step_s


def place(row, seconds):
    began = time.monotonic()
    scenario = copy.deepcopy({**row["scenario"], "run": {"iterations": 1}})
    published = step_of(scenario)
    needed = isinstance(published, str) and re.search(r"needs ([0-9.]+) GB", published)
    if needed:
        scenario["cluster"]["gpu"]["memory_gb"] = 1.001 * float(needed[1])
        published = step_of(scenario)
    if isinstance(published, str):
        return published
    steps = []
    for parallelism, micro_batch in shapes(scenario):
        step = step_of(with_shape(scenario, parallelism, micro_batch))
        if not isinstance(step, str):
            steps.append((step, parallelism, micro_batch))
        if time.monotonic() - began > seconds:
            return "not in the time"
    faster = [s for s in steps if s[0] < published * (1 - 1e-9)]
    best = min(steps, key=lambda s: s[0], default=None)
    return {"needed_gb": float(needed[1]) if needed else None, "step_s": published, "feasible": len(steps), "faster": len(faster), "best": best}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("rows")
    arguments.add_argument("published")
    arguments.add_argument("--seconds", type=float, default=300)
    arguments.add_argument("--only", default="")
    asked = arguments.parse_args()
    with open(asked.rows) as file:
        rows = json.load(file)["rows"]
    with open(asked.published) as file:
        newest = {round(r["step_s"], 4) for r in json.load(file)["rows"] if r["newest_of_configuration"] and r["task"] == "pretrain"}
    for row in rows:
        if round(row["measured_step_s"], 4) not in newest or asked.only not in row["name"]:
            continue
        found = place(row, asked.seconds)
        if isinstance(found, str):
            print(f"{row['name']}: {found}", flush=True)
            continue
        step, parallelism, micro_batch = found["best"]
        told = " ".join(f"{k}{v}" if not isinstance(v, bool) else k for k, v in parallelism.items() if v != 1)
        more = f" with {found['needed_gb']:.0f} GB" if found["needed_gb"] else ""
        print(f"{row['name']}: {found['step_s']:.3f} s{more}, {found['faster']} of {found['feasible']} shapes are faster "
              f"({100 * found['faster'] / max(1, found['feasible']):.0f} %); the best {step:.3f} s: {told} mbs{micro_batch}", flush=True)


if __name__ == "__main__":
    main()
