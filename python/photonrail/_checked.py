"""Checks what the module is called with: the compiled part knows the types of C++, and complains in their words."""
import functools
import json
import operator


def whole(name, value, least=0, greatest=2**32 - 1):
    """The value as an int. Raises TypeError or ValueError with the name where it is none from `least` to `greatest`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it must be a whole number") from None
    if not least <= number <= greatest:
        raise ValueError(f"{name} is {number}; it must be from {least} to {greatest}")
    return number


def text(name, value):
    """The value, a string that is not empty and can be written as UTF-8."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; it must be a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is {value!r}, which has half a character") from None
    if not value:
        raise ValueError(f"{name} is empty")
    return value


def overrides(set):
    """{pointer: value} as the compiled part takes it."""
    if not isinstance(set or {}, dict):
        raise TypeError(f"set is {set!r}; it must be a dict, {{\"/cluster/servers\": 8}}")
    return [(text("a pointer of set", pointer), json.dumps(value)) for pointer, value in (set or {}).items()]


def named_values(what, values):
    """The pairs of a dict whose keys are names."""
    if not isinstance(values, dict):
        raise TypeError(f"{what} is {values!r}; it must be a dict, {{name: default}}")
    return [(text(f"a name in {what}", name), value) for name, value in values.items()]


def said_plainly(method):
    """The compiled method; where a value has the wrong type, the error says how it was called and what it wants."""
    name = method.__name__
    wants = method.__doc__.splitlines()[0].replace("photonrail._native.", "").replace("self: WorkSink, ", "").split(" -> ")[0]

    @functools.wraps(method)
    def call(self, *values, **named):
        try:
            return method(self, *values, **named)
        except TypeError as error:
            if "incompatible function arguments" not in str(error):
                raise
        given = ", ".join([*map(repr, values), *(f"{key}={value!r}" for key, value in named.items())])
        raise TypeError(f"{name}({given}) is not {wants}, where an int is a whole number of at most 64 bits") from None

    return call
