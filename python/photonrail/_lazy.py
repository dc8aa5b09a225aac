"""Modules that are imported when they are first used: numpy and pandas take nine tenths of the time of an import."""
import importlib


class Lazy:
    """Stands for a module, and imports it at the first look at one of its names."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        return getattr(importlib.import_module(self._name), attribute)


np = Lazy("numpy")
pd = Lazy("pandas")
