"""An interpreter that cannot load the module is told so in words."""
import subprocess
import sys

import pytest

from photonrail import _requirements


def test_this_interpreter_will_do():
    _requirements.check()


def test_a_module_of_another_version_is_named(tmp_path):
    (tmp_path / "_native.cpython-27-x86_64-linux-gnu.so").touch()
    with pytest.raises(ImportError, match=r"built for another one: _native\.cpython-27") as raised:
        _requirements.check(tmp_path)
    assert sys.executable in str(raised.value)


def test_a_module_that_was_not_built_is_named(tmp_path):
    (tmp_path / "_native.pyi").touch()  # what it would have, in words
    with pytest.raises(ImportError, match="has no _native beside it"):
        _requirements.check(tmp_path)


def test_missing_packages_are_named(monkeypatch):
    found = _requirements.importlib.util.find_spec
    monkeypatch.setattr(_requirements.importlib.util, "find_spec", lambda name: None if name == "pandas" else found(name))
    with pytest.raises(ImportError, match="needs pandas, which .*does not have"):
        _requirements.check()


def test_the_import_is_quick_because_it_imports_neither_numpy_nor_pandas():
    script = "import sys, photonrail; print(sorted({'numpy', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
