"""Figures with matplotlib, one call each. All return the axes."""
from ._lazy import np


def _axes(ax, size=(7, 4)):
    import matplotlib.pyplot as plt
    return ax if ax is not None else plt.subplots(figsize=size, constrained_layout=True)[1]


def step_against_delay(frame, delay="reconfiguration_ms", by=None, ax=None):
    """Step time against the delay of a reconfiguration, from a frame of sweep(); a line for each value of `by`, one for those that coincide."""
    ax = _axes(ax)
    lines = {}
    for label, rows in (frame.groupby(by) if by else [(None, frame)]):
        rows = rows.sort_values(delay)
        lines.setdefault((tuple(rows[delay]), tuple(rows["step_s"].map("{:.4g}".format))), []).append((label, rows))
    for same in lines.values():
        rows = same[0][1]
        ax.plot(rows[delay], rows["step_s"] * 1e3, marker="o", label=" = ".join(str(label) for label, _ in same))
    ax.set(xscale="log", xlabel=f"{delay.rsplit('_', 1)[0]} ({delay.rsplit('_', 1)[-1]})", ylabel="step (ms)")
    if by:
        ax.legend(title=by)
    return ax


def breakdown(results, ax=None):
    """Where the time of the mean rank goes, a stacked bar a result."""
    results = results if isinstance(results, (list, tuple)) else [results]
    ax, bottom = _axes(ax), np.zeros(len(results))
    means = [result.ranks.mean() * 1e3 for result in results]
    for part in means[0].index:
        values = np.array([mean[part] for mean in means])
        if part == "detection_s" and not values.any():
            continue  # no fault that has to be found
        ax.bar([result.name for result in results], values, bottom=bottom, label=part[:-2].replace("_", " "))
        bottom += values
    ax.set(ylabel="ms of the mean rank")
    ax.legend()
    return ax


def timeline(timeline, ranks=None, ax=None):
    """Computations (upper bar) and operations (lower) of ranks against time."""
    ax = _axes(ax, (9, 4))
    computes, operations = timeline.computes, timeline.operations
    shown = sorted(set(computes["rank"]) | set(operations["rank"]))
    shown = [rank for rank in shown if ranks is None or rank in ranks]
    for row, rank in enumerate(shown):
        own = computes[computes["rank"] == rank]
        ax.broken_barh(list(zip(own["start_s"] * 1e3, (own["finish_s"] - own["start_s"]) * 1e3)), (row, 0.45), color="tab:blue")
        own = operations[operations["rank"] == rank]
        start = own[own["state"] == "running"].groupby("operation")["at_s"].min()
        end = own[own["state"] == "done"].groupby("operation")["at_s"].max()
        spans = [(start[o] * 1e3, (end[o] - start[o]) * 1e3) for o in start.index if o in end.index]
        ax.broken_barh(spans, (row + 0.45, 0.45), color="tab:orange")
    ax.set(yticks=np.arange(len(shown)) + 0.45, yticklabels=shown, xlabel="ms", ylabel="rank")
    return ax


def circuits(timeline, rail=0, ax=None):
    """When which circuit of a rail was lit."""
    ax = _axes(ax, (9, 4))
    frame = timeline.circuits
    frame = frame[frame["rail"] == rail]
    pairs = sorted(set(zip(frame["from"], frame["to"])))
    last = frame["at_s"].max() if len(frame) else 0.0
    for row, (source, target) in enumerate(pairs):
        own = frame[(frame["from"] == source) & (frame["to"] == target)]
        lit, spans = None, []
        for at, state in zip(own["at_s"], own["state"]):
            if state == "lit":
                lit = at
            elif lit is not None:
                spans.append((lit * 1e3, (at - lit) * 1e3))
                lit = None
        if lit is not None:
            spans.append((lit * 1e3, (last - lit) * 1e3))
        ax.broken_barh(spans, (row, 0.8), color="tab:green")
    ax.set(yticks=np.arange(len(pairs)) + 0.4, yticklabels=[f"{a}→{b}" for a, b in pairs], xlabel="ms", ylabel="circuit (ports)")
    return ax


def windows(result, ax=None):
    """The distribution of windows between phases, a line a change."""
    ax = _axes(ax)
    for change, rows in result.windows.groupby("change"):
        rows = rows.sort_values("window_s")
        share = rows["count"].cumsum() / rows["count"].sum()
        ax.step(np.append(rows["window_s"] * 1e3, rows["window_s"].iloc[-1] * 1e3), np.append(0.0, share), where="post", label=change)
    ax.set(xlabel="window (ms)", ylabel="share of windows")
    if len(result.windows):
        ax.legend()
    return ax
