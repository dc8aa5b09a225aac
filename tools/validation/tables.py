#!/usr/bin/env python3
"""Makes the pages docs/validation/*.md from the data tests/validation/*.json.

usage: tools/validation/tables.py [--check]    --check: writes nothing, and fails where a page is not what the data say

A file of data has title, commands (each of which makes figures of it), test (the tests that hold them) and rows. A row has figure, unit,
published, ours, tolerance and reason, and its source where the file names none. `published` and `ours` are a number, a text, or an
object of points to such; `published` is absent where ours are errors themselves. A difference is in per cent of the published number.
"""
import json
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 158
LONGEST_CELL = 44


def number(value):
    if not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int) or value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    text = f"{value:.6f}".rstrip("0")
    return f"{int(text.split('.')[0]):,}.{text.split('.')[1]}" if abs(value) >= 1000 else text


def difference(published, ours):
    both_numbers = all(isinstance(v, (int, float)) for v in (published, ours))
    if not both_numbers:
        return "equal" if published == ours else ""
    if published == ours:
        return "equal"
    return f"{100 * (ours / published - 1):+.2f} %" if published else ""


def points(row):
    """(point, published, ours) of a row."""
    published, ours = row.get("published"), row["ours"]
    if not isinstance(ours, dict):
        return [("", published, ours)]
    return [(at, published.get(at) if isinstance(published, dict) else published, value) for at, value in ours.items()]


def line(cells):
    return "| " + " | ".join(cells) + " |"


def shortened(text, notes):
    """A cell's text, or the number of a note where the text is long."""
    if len(text) <= LONGEST_CELL:
        return text
    if text not in notes:
        notes.append(text)
    return f"[{notes.index(text) + 1}]"


def table(rows, notes):
    compares = any(row.get("published") is not None for row in rows)
    has_points = any(isinstance(row["ours"], dict) for row in rows)
    has_tolerance = any(row.get("tolerance") for row in rows)
    head = ["figure"] + ["at"] * has_points + (["published", "ours", "difference"] if compares else ["ours"])
    head += ["tolerance"] * has_tolerance + ["note"]
    out = [line(head), "|" + "---|" * len(head)]
    for row in rows:
        note = ""
        if row.get("reason"):
            if row["reason"] not in notes:
                notes.append(row["reason"])
            note = f"[{notes.index(row['reason']) + 1}]"
        figure = row["figure"] + (f", {row['unit']}" if row.get("unit") else "")
        for i, (at, published, ours) in enumerate(points(row)):
            cells = [figure if i == 0 else ""] + [at] * has_points
            missing = "–" if published is None else number(published)
            shown = shortened(number(ours), notes)
            cells += [shortened(missing, notes), shown, difference(published, ours)] if compares else [shown]
            cells += [shortened(str(row.get("tolerance", "")), notes) if i == 0 else ""] * has_tolerance + [note if i == 0 else ""]
            out.append(line(cells))
    return out


def page(data, name):
    out = [f"# {data['title']}", "", f"Made from `tests/validation/{name}.json` by `tools/validation/tables.py`."]
    out += textwrap.wrap(data["method"], WIDTH, break_long_words=False, break_on_hyphens=False) if data.get("method") else []
    if data.get("commands"):
        out += ["", *("    " + command for command in data["commands"])]
    if data.get("test"):
        out += ["", *textwrap.wrap("Held by " + data["test"] + ".", WIDTH, break_long_words=False, break_on_hyphens=False)]
    notes = []
    sources = list(dict.fromkeys(row.get("source", data.get("source", "")) for row in data["rows"]))
    for source in sources:
        rows = [row for row in data["rows"] if row.get("source", data.get("source", "")) == source]
        out += ["", *textwrap.wrap("Source: " + source + ".", WIDTH, break_long_words=False, break_on_hyphens=False), ""]
        out += table(rows, notes)
    if notes:
        out += ["", "Notes", ""]
    for i, note in enumerate(notes):
        out += textwrap.wrap(f"{i + 1}. {note}", WIDTH, subsequent_indent="   ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(out) + "\n"


def main():
    check = "--check" in sys.argv[1:]
    wrong = []
    made = {}
    for file in sorted((ROOT / "tests" / "validation").glob("*.json")):
        data = json.loads(file.read_text(encoding="utf-8"))
        if data.get("schema") == "photonrail.validation/1":
            made[ROOT / "docs" / "validation" / f"{file.stem}.md"] = page(data, file.stem)
    for target, text in made.items():
        if check and (not target.exists() or target.read_text(encoding="utf-8") != text):
            wrong.append(f"{target.relative_to(ROOT)} is not what its data say: run tools/validation/tables.py")
        elif not check:
            target.write_text(text, encoding="utf-8")
        words, longest = len(text.split()), max(map(len, text.splitlines()))
        if words > 3500 or longest > 160:
            wrong.append(f"{target.relative_to(ROOT)}: {words} words (3,500 at the most), a line of {longest} columns (160)")
    for target in sorted((ROOT / "docs" / "validation").glob("*.md")):
        if target not in made:
            wrong.append(f"{target.relative_to(ROOT)} has no data in tests/validation")
    for problem in wrong:
        print(problem, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
