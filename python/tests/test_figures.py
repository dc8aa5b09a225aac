"""Figures of the page by name, of frames, results and folders."""
import pathlib
import shutil
import subprocess
import os

import pandas as pd
import pytest

import photonrail

ROOT = pathlib.Path(__file__).resolve().parents[2]
node = pytest.mark.skipif(shutil.which("node") is None, reason="SKIPPED, NOT CHECKED: no node")


def drawn(*arguments, **choices):
    try:
        return photonrail.figure(*arguments, **choices)
    except photonrail.ConfigError as error:
        if "no page for reports" in str(error):
            pytest.skip(f"SKIPPED, NOT CHECKED: {error}")
        raise


@node
def test_a_frame_of_a_sweep_has_the_figures_of_the_page(tmp_path):
    frame = photonrail.sweep(ROOT / "configs/quickstart.json", {"/controller/mode": ["on_demand", "provisioned"],
                                                                "/cluster/rail/switch/reconfiguration_ms": [1, 10, 100]})
    assert frame.attrs["parameters"] == ["mode", "reconfiguration_ms"]
    figure = drawn(frame, "comparison", title="my title")
    assert figure._repr_svg_().startswith("<svg ") and "my title" in figure.svg
    assert "on_demand" in figure.svg and "provisioned" in figure.svg
    figure.save(tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").read_text() == figure.svg
    assert "compute" in drawn(frame, "breakdown").svg
    with pytest.raises(ValueError, match='there is no figure "nothing": comparison'):
        drawn(frame, "nothing")


@node
def test_results_and_folders_have_them_too(tmp_path):
    result = photonrail.simulate(ROOT / "configs/rl/quickstart.json")
    assert "generation" in drawn(result, "rl-phases").svg
    command = os.environ.get("PHOTONRAIL_COMMAND")
    if not command:
        pytest.skip("SKIPPED, NOT CHECKED: no command")
    subprocess.run([command, "run", ROOT / "configs/quickstart.json", "--quiet", "--out", tmp_path / "run"], check=True, capture_output=True)
    assert "compute" in drawn(tmp_path / "run", "breakdown").svg


def test_what_is_wrong_is_said():
    frame = pd.DataFrame([{"a": 1, "step_s": 2.0}])
    with pytest.raises(ValueError, match="which columns are parameters"):
        photonrail.figure(frame)
    with pytest.raises(ValueError, match="no column 'b'"):
        photonrail.figure(frame, parameters=["b"])
    with pytest.raises(TypeError, match="'colour' is no choice"):
        photonrail.figure(frame, colour="red")
    with pytest.raises(TypeError, match="not of int"):
        photonrail.figure(3)
