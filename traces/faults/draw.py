#!/usr/bin/env python3
"""Draws faults of 400 servers at the rates of a published record; see ../README.md. usage: draw.py > 400-servers.csv"""
import random

DAYS = 348.98
SERVERS = 400
# Faults of each class in the record, without tests and changes.
COUNTS = {"GPU": 158, "Unknown Error": 144, "Parameter Plane Cable": 40, "Fan": 33, "NIC": 30, "Power Supply": 26, "Other Failures": 36}

draw = random.Random(1)
weights = [draw.gammavariate(0.6, 1.0) for _ in range(SERVERS)]  # some servers fail much oftener than others
busy = {}
faults = []
for kind, count in COUNTS.items():
    for _ in range(count):
        length = min(draw.lognormvariate(-0.16, 2.5), 92.0)  # median 0.85 days, mean about 5.5
        while True:
            server = draw.choices(range(SERVERS), weights)[0]
            start = draw.uniform(0.0, DAYS)
            end = min(start + length, DAYS)
            if all(end < a or b < start for a, b in busy.get(server, [])):
                break
        busy.setdefault(server, []).append((start, end))
        faults.append((start, end, server, kind))
print("server,start_day,end_day,class")
for start, end, server, kind in sorted(faults):
    print(f"{server},{start:.4f},{end:.4f},{kind}")
