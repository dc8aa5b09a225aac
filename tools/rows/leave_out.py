#!/usr/bin/env python3
"""The error of measured rows where each configuration (model x system x precision) is predicted without its own rows.

usage: tools/rows/leave_out.py PHOTONRAIL ROWS.json [OUTPUT]    OUTPUT: the file of `PHOTONRAIL calibrate --rows ROWS.json --fit --markdown`

The factor of a GPU is fitted to rows of some configurations. Each of these is left out in turn, the factor is fitted to the others, and all
rows of the configuration are predicted with it. Rows of other configurations have the factor of all, to which they add nothing. Prints the
median and the 90th percentile of |simulated / measured - 1| over the rows that are not fitted, over all rows with their configuration left
out, and over configurations (the median of each, so that one with many releases counts once).
"""
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

LINE = re.compile(r"^\| (.+?) \| [\d.]+ s \| [\d.]+ s \| ([+-][\d.]+) % \|")


def calibrate(program, rows, fit=True):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "rows.json"
        file.write_text(json.dumps(rows), encoding="utf-8")
        table = pathlib.Path(folder) / "rows.md"
        call = [program, "calibrate", "--rows", str(file), "--markdown", str(table)] + ["--fit"] * fit
        subprocess.run(call, capture_output=True, text=True, check=False)
        return table.read_text(encoding="utf-8")


def errors(text):
    found = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            found[match[1].strip()] = float(match[2]) / 100
    return found


def configuration(row):
    words = row["name"].split()
    return (words[0], words[1], words[3])


def quantile(values, p):
    values = sorted(values)
    at = p * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def said(name, values):
    sizes = [abs(v) for v in values]
    print(f"{name}: {len(sizes)}, median {100 * quantile(sizes, 0.5):.1f} %, 90th percentile {100 * quantile(sizes, 0.9):.1f} %, "
          f"mean {100 * statistics.fmean(values):+.1f} %")


def main():
    program, rows = sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8"))
    text = open(sys.argv[3], encoding="utf-8").read() if len(sys.argv) > 3 else calibrate(program, rows)
    known = errors(text)
    left_out = dict(known)
    for left in sorted({configuration(row) for row in rows["rows"] if row.get("fit")}):
        own = [dict(row, fit=False) for row in rows["rows"] if configuration(row) == left]
        others = [row for row in rows["rows"] if row.get("fit") and row["gpu"] == own[0]["gpu"] and configuration(row) != left]
        if not others:
            sys.exit(f"{' '.join(left)}: no other row is fitted")
        without = errors(calibrate(program, dict(rows, rows=own + others)))
        for row in own:
            left_out[row["name"]] = without[row["name"]]
        print(" ".join(left), *(f"{100 * without[row['name']]:+.1f} %" for row in own), flush=True)
    fitted = {row["name"] for row in rows["rows"] if row.get("fit")}
    by_configuration = {}
    for row in rows["rows"]:
        if row["name"] in left_out:
            by_configuration.setdefault(configuration(row), []).append(left_out[row["name"]])
    said("rows that are not fitted", [e for name, e in known.items() if name not in fitted])
    said("rows, each with its configuration left out", list(left_out.values()))
    said("configurations, each left out", [statistics.median(v) for v in by_configuration.values()])


main()
