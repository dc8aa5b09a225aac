"""Every notebook of docs/notebooks: by nbconvert where it is installed, else its cells one after another."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_there_is_one_for_each_kind_of_study():
    assert {file.stem for file in NOTEBOOKS} >= {"astra", "delay", "run", "policy", "collective"}


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_it_runs(file, tmp_path):
    pytest.importorskip("matplotlib")
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    if all(importlib.util.find_spec(name) for name in ("nbconvert", "ipykernel")):
        command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", str(tmp_path), str(file)]
    else:
        cells = [cell for cell in json.loads(file.read_text())["cells"] if cell["cell_type"] == "code"]
        program = tmp_path / (file.stem + ".py")
        program.write_text("\n".join("".join(cell["source"]) for cell in cells))
        command = [sys.executable, str(program)]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
