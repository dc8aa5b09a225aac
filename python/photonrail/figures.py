"""The figures of the page of `photonrail report`, by name, for a notebook or a file. Node draws them."""
import base64
import json
import pathlib
import subprocess
import tempfile
import zlib

from . import _native
from ._lazy import np, pd

_CHOICES = ("metric", "against", "series", "baseline", "log", "title")


class Figure:
    """A figure as SVG; a notebook shows it."""

    def __init__(self, name, svg):
        self.name = name
        self.svg = svg

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        return f"Figure({self.name!r})"

    def save(self, path):
        """Writes the SVG to a file."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")


def _by_place(values, kind):
    raw = np.asarray(values, dtype=kind)
    return raw.view(np.uint8).reshape(len(raw), raw.itemsize).T.tobytes()


def _packed(values):
    """A column as the page unpacks it: codes into its distinct values."""
    distinct, codes = [], []
    seen = {}
    for value in values:
        value = None if value is None or value != value else value.item() if hasattr(value, "item") else value
        if value is not None and not isinstance(value, (int, float, str)):
            value = str(value)
        key = (type(value).__name__, value)
        if key not in seen:
            seen[key] = len(distinct)
            distinct.append(value)
        codes.append(seen[key])
    data = base64.b64encode(zlib.compress(_by_place(codes, "<u4"))).decode()
    return {"encoding": "codes32", "data": data, "values": distinct}


def _table(frame, parameters):
    numbers = [name for name in frame.columns if name not in parameters and pd.api.types.is_numeric_dtype(frame[name])]
    names = ["; ".join(str(row[name]) for name in parameters) for _, row in frame.iterrows()]
    columns = [{"name": "name", "role": "info", "data": _packed(names)}]
    columns += [{"name": name, "role": "parameter", "data": _packed(frame[name])} for name in parameters]
    columns += [{"name": name, "role": "metric", "data": _packed(frame[name])} for name in numbers if name not in ("point", "seed", "repetition")]
    columns += [{"name": name, "role": "replicate", "data": _packed(frame[name])} for name in ("seed", "repetition") if name in frame.columns]
    return {"rows": len(frame), "columns": columns}


def _details(results):
    details = []
    for result in results:
        if "rl" in result.json:
            details.append({"kind": "rl", "name": result.name, "result": result.json["rl"]})
        if "serving" in result.json:
            serving = result.json["serving"]
            details.append({"kind": "serving", "name": result.name, "result": serving, "parts": list(serving.get("ttft_parts_s", {}))})
    return details


def _document(what, parameters, choices):
    from .runs import Result
    from .studies import _numbers
    details = []
    if isinstance(what, Result):
        what = [what]
    if isinstance(what, (list, tuple)) and all(isinstance(one, Result) for one in what):
        details = _details(what)
        what = pd.DataFrame([{"scenario": result.name, **dict(_numbers(result.json))} for result in what])
        parameters = ["scenario"]
    if not hasattr(what, "columns"):
        raise TypeError(f"a figure is of a folder, a frame of sweep(), a Result or a list of them, not of {type(what).__name__}")
    parameters = list(parameters or what.attrs.get("parameters", ()))
    missing = [name for name in parameters if name not in what.columns]
    if missing or not parameters:
        raise ValueError(f"the frame has no column {missing[0]!r}" if missing else "say which columns are parameters: parameters=[...]")
    empty = {"rows": 0, "columns": []}
    return {"notes": [], "explanations": [], "about": [], "choices": choices, "table": _table(what, parameters), "windows": empty, "traces": [],
            "details": details}


def _drawn(program, name):
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "figures.cjs"
        script.write_text(program, encoding="utf-8")
        out = pathlib.Path(folder) / "out"
        out.mkdir()
        try:
            run = subprocess.run(["node", str(script), str(out)], capture_output=True, text=True)
        except FileNotFoundError:
            raise RuntimeError("figures are drawn by Node, version 18 or later, which is not installed") from None
        problem = out / "error"
        if problem.exists():
            raise ValueError(problem.read_text(encoding="utf-8"))
        drawn = out / f"{name}.svg"
        if run.returncode != 0 or not drawn.exists():
            raise RuntimeError(f"node could not draw {name}: {run.stderr.strip()[-400:]}")
        return drawn.read_text(encoding="utf-8")


def figure(what, name="comparison", parameters=None, **choices):
    """A figure of the page by its name: "comparison", "break-even", "breakdown", "exposure", "pareto-cost", "ttft-parts" ...

    `what`: a folder of the command, a frame of `sweep()`, a Result or a list of them. `choices` as the options of `photonrail
    report`: metric, against, series ("NAME" or values "a,b"), baseline, log, title; of a frame `series` is a column.
    `parameters`: the columns of a frame that are parameters, where sweep() did not make it. Raises ValueError, with the names
    that there are, for a figure that is not there.
    """
    unknown = [key for key in choices if key not in _CHOICES]
    if unknown:
        raise TypeError(f"{unknown[0]!r} is no choice of a figure; there are {', '.join(_CHOICES)}")
    if isinstance(what, (str, pathlib.Path)):
        return Figure(name, _drawn(_native.folder_figures(pathlib.Path(what), name, "svg", choices), name))
    if "against" in choices:
        choices["x"] = choices.pop("against")
    document = _document(what, parameters, {**choices, "figure": name})
    return Figure(name, _drawn(_native.document_figures(json.dumps(document), "svg"), name))
