"""Read what the learner's function returned, compare it with what was expected, and write numbers."""

import numbers
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Array = NDArray[Any]
SHOWN = 30  # an array with more elements is shown by its shape
LINES = 40  # a dictionary with more arrays is shown by its names


class Unfit(Exception):
    """A result that can't be compared; the message is the sentence for the learner."""


def as_parts(value: Any, expected: Any, names: tuple[str, ...]) -> list[Array]:
    """Return each result as an array.

    Args:
        value: what the learner's function returned.
        expected: what the reference returned; it sets the types.
        names: a name for each result.

    Raises:
        Unfit: if number, type, shape or dtype of the results is wrong.
    """
    several = len(names) > 1
    wanted = f"{len(names)} results ({', '.join(names)})" if several else _wanted(expected)
    if value is None:
        raise Unfit(f"Expected {wanted}, got None. Is a `return` missing?")
    if isinstance(expected, dict):
        return _as_entries(value, expected, names[0])
    if not several:
        return [_as_part(value, expected, names[0])]
    if all(isinstance(result, float) for result in expected):
        value = _spread(value, len(names))
    if not isinstance(value, (tuple, list)):
        raise Unfit(f"Expected {wanted}, got {_got(value)}.")
    if len(value) != len(names):
        raise Unfit(f"Expected {wanted}, got {len(value)}.")
    return [_as_part(v, e, name) for v, e, name in zip(value, expected, names, strict=True)]


def _spread(value: Any, count: int) -> Any:
    """Return an array of `count` numbers as a list of them; anything else as it is."""
    is_array = isinstance(value, (np.ndarray, torch.Tensor))
    return list(value) if is_array and tuple(value.shape) == (count,) else value


def _as_entries(value: Any, expected: dict[str, Any], name: str) -> list[Array]:
    """Return each entry of a dictionary as an array, in the order of their names."""
    if not isinstance(value, dict):
        raise Unfit(f"`{name}`: expected {_wanted(expected)}, got {_got(value)}.")
    if value.keys() != expected.keys():
        wanted, got = (", ".join(map(repr, x)) or "none" for x in (expected, value))
        raise Unfit(f"`{name}`: expected the names {wanted}, got {got}.")
    entries = zip(sorted(expected, key=str), names_of_parts(expected, (name,)), strict=True)
    return [_as_part(value[key], expected[key], place) for key, place in entries]


def names_of_parts(value: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return a name for each part of a result: each entry of a dictionary is a part.

    >>> names_of_parts({"w": 1, "b": 2}, ("mean",))
    ("mean['b']", "mean['w']")
    """
    if not isinstance(value, dict):
        return names
    return tuple(f"{names[0]}[{key!r}]" for key in sorted(value, key=str))


def _as_part(value: Any, expected: Any, name: str) -> Array:
    """Return one result as an array of the expected type and shape."""
    wrong_type = Unfit(f"`{name}`: expected {_wanted(expected)}, got {_got(value)}.")
    if isinstance(expected, bool):
        if not isinstance(value, (bool, np.bool_)):
            raise wrong_type
        return np.asarray(value)
    if isinstance(expected, tuple):
        if not _is_shape(value):
            raise wrong_type
        return np.asarray(value)
    if isinstance(expected, float):
        scalar = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not scalar and not (isinstance(value, (np.ndarray, torch.Tensor)) and value.ndim == 0):
            raise wrong_type
        try:
            return np.asarray(float(_numpy(value)))
        except OverflowError:  # a whole number above 1.8e308, say of powers that never end
            return np.asarray(np.inf if value > 0 else -np.inf)
    return _as_array(value, expected, name, wrong_type)


def _as_array(value: Any, expected: Array, name: str, wrong_type: Unfit) -> Array:
    """Return an array or tensor as an array of the expected shape: floats, whole numbers, or True and False."""
    if not isinstance(value, (np.ndarray, np.generic, torch.Tensor)):
        raise wrong_type
    try:
        array = _numpy(value)
    except Exception:  # a tensor without numbers, say on the device "meta"
        raise wrong_type from None
    if array.shape != expected.shape:
        if is_row(expected) and is_row(array):
            raise Unfit(f"`{name}`: expected {expected.tolist()}, got {array.tolist()}.")
        raise Unfit(f"`{name}`: expected shape {expected.shape}, got {array.shape}.")
    if not array.size:  # NumPy makes decimal numbers of an empty list
        return np.zeros_like(expected)
    if expected.dtype.kind == "b":
        if array.dtype.kind != "b":
            raise Unfit(f"`{name}`: expected True and False (dtype bool), got dtype {array.dtype}.")
        return array
    if expected.dtype.kind in "iu":
        if array.dtype.kind not in "iu":
            raise Unfit(f"`{name}`: expected whole numbers, got dtype {array.dtype}.")
        return array
    if array.dtype.kind != "f":
        raise Unfit(f"`{name}`: expected numbers with a decimal point, got dtype {array.dtype}.")
    return array.astype(np.float64)


def is_row(array: Array) -> bool:
    """True for a short row of whole numbers, such as ids: it is shown whole."""
    return array.ndim == 1 and array.dtype.kind in "iu" and array.size <= SHOWN


def _numpy(value: Any) -> Array:
    """Return a number, array or tensor as a NumPy array."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        value = (value.double() if value.is_floating_point() else value).numpy()
    return np.asarray(value)


def _is_shape(value: Any) -> bool:
    """True for a tuple or list of whole numbers."""
    return isinstance(value, (tuple, list)) and all(
        isinstance(size, numbers.Integral) and not isinstance(size, bool) for size in value
    )


def _wanted(expected: Any) -> str:
    """Name what is expected."""
    if isinstance(expected, bool):
        return "True or False"
    if isinstance(expected, tuple):
        return "a shape such as (7, 9)"
    if isinstance(expected, dict):
        return "a dictionary"
    return "an array (NumPy or torch)" if isinstance(expected, np.ndarray) else "a number"


def _got(value: Any) -> str:
    """Name what was returned."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, numbers.Real):
        return "a number"
    if isinstance(value, (torch.Tensor, np.ndarray)):
        what = "a torch tensor" if isinstance(value, torch.Tensor) else "an array"
        return f"{what} of shape {tuple(value.shape)}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def loose_parts(value: Any, count: int) -> list[Array] | None:
    """Return the results as arrays of any shape, or None if they aren't `count` arrays of numbers.

    A single result may be a dictionary: each entry is an array then.
    """
    values = [value] if count == 1 else _spread(value, count)
    if count == 1 and isinstance(value, dict) and value:
        values, count = [value[key] for key in sorted(value, key=str)], len(value)
    if not isinstance(values, (tuple, list)) or len(values) != count:
        return None
    try:
        parts = [np.asarray(v.detach().cpu() if isinstance(v, torch.Tensor) else v) for v in values]
    except Exception:  # whatever the learner's own classes raise
        return None
    return parts if all(part.dtype.kind in "fiub" for part in parts) else None


def same(first: list[Array], second: list[Array], tolerance: float) -> bool:
    """True if all parts have the same shapes and, up to `tolerance`, the same numbers (NaN equals NaN)."""
    return len(first) == len(second) and all(
        a.shape == b.shape and bool(close(a, b, tolerance).all())
        for a, b in zip(first, second, strict=True)
    )


def close(actual: Array, expected: Array, tolerance: float) -> Array:
    """Return for each element whether it is as expected."""
    a, e = np.asarray(actual, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    with np.errstate(all="ignore"):
        near = np.abs(a - e) <= tolerance * (np.abs(e) + 0.01)  # 0.01: for numbers near 0
        near &= np.isfinite(e)
        return near | (a == e) | (np.isnan(a) & np.isnan(e))


def number(x: Any) -> str:
    """Write a number with four digits, so that it can be worked out by hand."""
    return "True" if x is np.True_ else "False" if x is np.False_ else f"{float(x) + 0:.4g}"


def _small_parts(name: str, value: Any) -> list[str]:
    """Return a line for each array in dictionaries, lists and tuples; none if one is large or they are many."""
    if isinstance(value, (dict, list, tuple)):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        parts = [_small_parts(f"{name}[{key!r}]", part) for key, part in inner]
        lines = [line for part in parts for line in part]
        return lines if all(parts) and len(lines) <= LINES else []
    array = _numpy(value)
    row = np.array2string(array, separator=", ", precision=4, floatmode="maxprec")
    return [f"{name} = {' '.join(row.split())}"] if array.size <= SHOWN else []


def show(name: str, value: Any) -> str:
    """Write one argument of a case as a line of Python."""
    if isinstance(value, torch.Tensor):
        value = value.numpy()
    if isinstance(value, float):
        return f"{name} = {number(value)}"
    if isinstance(value, dict) and all(type(part) in (int, float) for part in value.values()):
        return f"{name} = {value!r}"
    if isinstance(value, dict) and (lines := _small_parts(name, value)):
        return "\n".join(lines)
    if isinstance(value, dict):
        return f"{name}: a dictionary with {', '.join(map(repr, value))}"
    if not isinstance(value, np.ndarray):
        return f"{name} = {value!r}"
    if value.size > SHOWN:
        return f"{name}: numbers of shape {value.shape}"
    text = np.array2string(value, separator=", ", precision=4, floatmode="maxprec")
    indent = " " * (len(name) + 3)
    return (
        f"{name} = " + "\n".join(f"{indent}{line}".rstrip() for line in text.splitlines()).lstrip()
    )
