"""Simulates ML training on photonic rails.

    import photonrail
    result = photonrail.simulate("configs/quickstart.json")
    result.step_s                       # seconds
    result.ranks                        # a pandas frame, a row a rank, seconds

Times are seconds in frames (``_s``) and whole picoseconds in arrays (``_ps``); sizes are bytes; rates are GB/s of 1e9 bytes.
Errors are exceptions: ``ConfigError`` has ``where``, ``what`` and ``hint``; ``DeadlockError`` has ``stuck``.
"""
from ._requirements import check as _check

_check()
from ._native import (ConfigError, ControllerError, DeadlockError, Error, View, __version__)
from .extensions import Registries
from .figures import Figure, figure
from .runs import Result, Scenario, Timeline, scenario, simulate
from .slices import Allocation, allocate
from .studies import astra_cycles, goodput, import_astra, plan, run_sweep_file, sweep

__all__ = ["Allocation", "ConfigError", "ControllerError", "DeadlockError", "Error", "Figure", "Registries", "Result", "Scenario", "Timeline", "View",
           "__version__", "allocate", "astra_cycles", "figure", "goodput", "import_astra", "plan", "run_sweep_file", "scenario", "simulate", "sweep"]
