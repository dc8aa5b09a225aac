"""What the module needs of the interpreter that imports it, said in words where it is missing."""
import importlib.machinery
import importlib.util
import pathlib
import sys


def check(folder=pathlib.Path(__file__).parent):
    """Raises ImportError where this interpreter cannot load the module: it was built for another version, or has no numpy or pandas,
    as when another python3 stands before the system's in PATH."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    built = sorted(file.name for file in folder.glob("_native.*") if file.suffix != ".pyi")
    if not any((folder / f"_native{suffix}").exists() for suffix in importlib.machinery.EXTENSION_SUFFIXES):
        what = f"was built for another one: {', '.join(built)}" if built else "has no _native beside it: build it"
        raise ImportError(f"photonrail: {sys.executable} is Python {version}, and the module in {folder} {what}")
    missing = [name for name in ("numpy", "pandas") if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(f"photonrail needs {' and '.join(missing)}, which {sys.executable} does not have; Debian's python3-numpy and "
                          "python3-pandas are for /usr/bin/python3")
