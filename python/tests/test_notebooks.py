"""Every notebook of docs/notebooks: by nbconvert where it is installed, else its cells one after another. All together stay below
a minute of the processor."""
import importlib.util
import json
import os
import pathlib
import resource
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
NBCONVERT = all(importlib.util.find_spec(name) for name in ("nbconvert", "ipykernel"))
LIMIT_S = 60  # of the processor, all notebooks together


def run(command, folder):
    # Figures are drawn into the notebook; no state of a user's Jupyter is read or written.
    environment = {**os.environ, "MPLBACKEND": "Agg", "JUPYTER_CONFIG_DIR": str(folder), "JUPYTER_DATA_DIR": str(folder),
                   "IPYTHONDIR": str(folder)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def failures_under_nbconvert(folder):
    """Notebook -> what its cells raised. One process for all: most of the time of a short notebook is the start of nbconvert."""
    ended = run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--allow-errors", "--output-dir", str(folder),
                 *map(str, NOTEBOOKS)], folder)
    assert ended.returncode == 0, ended.stderr
    found = {}
    for file in NOTEBOOKS:
        cells = [cell for cell in json.loads((folder / file.name).read_text())["cells"] if cell["cell_type"] == "code"]
        assert cells and all(cell["execution_count"] for cell in cells), f"{file.name}: cells were not executed"
        found[file] = "\n".join(f"{output['ename']}: {output['evalue']}" for cell in cells for output in cell["outputs"]
                                if output["output_type"] == "error")
    return found


def failures_as_programs(folder):
    found = {}
    for file in NOTEBOOKS:
        cells = [cell for cell in json.loads(file.read_text())["cells"] if cell["cell_type"] == "code"]
        program = folder / (file.stem + ".py")
        program.write_text("\n".join("".join(cell["source"]) for cell in cells))
        ended = run([sys.executable, str(program)], folder)
        found[file] = "" if ended.returncode == 0 else ended.stderr
    return found


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    pytest.importorskip("matplotlib")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = (failures_under_nbconvert if NBCONVERT else failures_as_programs)(tmp_path_factory.mktemp("notebooks"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_there_is_one_for_each_kind_of_study():
    assert {file.stem for file in NOTEBOOKS} >= {"astra", "delay", "run", "policy", "collective"}


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_it_runs(file, executed):
    assert executed[0][file] == ""


def test_all_together_stay_below_a_minute(executed):
    assert executed[1] < LIMIT_S
