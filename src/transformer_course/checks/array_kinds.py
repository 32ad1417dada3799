"""Let a part take the other kind of arrays, too, and give its numbers the usual precision."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.running import in_depth


def for_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function written for NumPy take torch tensors and return them; no gradient flows through it.

    Args:
        function: takes arrays, and returns one or a tuple of them.

    Returns:
        The same function for tensors. Arrays it takes as before.

    >>> for_tensors(lambda x: x.astype(float).mean(axis=0, keepdims=True))(torch.tensor([1.0, 2.0]))
    tensor([1.5000])
    """

    @functools.wraps(function)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        tensors = [x for x in (*arguments, *named.values()) if torch.is_tensor(x)]
        if not tensors:
            return function(*arguments, **named)
        results = function(*in_depth(arguments, _array), **in_depth(named, _array))
        if isinstance(results, tuple):
            return tuple(_beside(x, tensors) for x in results)
        return _beside(results, tensors)

    return wrapped


def for_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function written for torch take NumPy arrays: it returns arrays if it gets no tensor.

    Args:
        function: takes tensors, or dictionaries, lists and tuples of them, and returns one or a tuple of them.

    Returns:
        The same function for arrays. Tensors it takes as before; an array beside them becomes one.

    >>> for_arrays(lambda x: x.mean(dim=0, keepdim=True))(np.array([1.0, 2.0]))
    array([1.5])
    """

    @functools.wraps(function)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        given: list[Any] = []
        in_depth((arguments, named), given.append)
        if not any(isinstance(x, np.ndarray) for x in given):
            return function(*arguments, **named)
        tensors = [x for x in given if torch.is_tensor(x)]

        def tensor(value: Any) -> Any:
            return _beside(value, tensors) if isinstance(value, np.ndarray) else value

        results = function(*in_depth(arguments, tensor), **in_depth(named, tensor))
        return results if tensors else in_depth(results, _array)

    return wrapped


def _beside(array: Any, tensors: list[torch.Tensor]) -> torch.Tensor:
    """Return an array as a tensor, on the device of the tensors given and with their precision."""
    made = torch.as_tensor(array)
    floats = [x for x in tensors if x.is_floating_point()]
    dtype = floats[0].dtype if floats and made.is_floating_point() else made.dtype
    return made.to(tensors[0].device if tensors else made.device, dtype)


def _array(value: Any) -> Any:
    """Return a tensor as a NumPy array, anything else as it is."""
    return value.numpy(force=True) if torch.is_tensor(value) else value


def in_32_bits(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function return numbers of 32 bits, torch's usual ones, where it returns an array of 64.

    Args:
        function: makes an array or tensor of nothing but whole numbers, such as a table of positions.

    Returns:
        The same function, for what torch multiplies with its own numbers.

    >>> in_32_bits(np.zeros)(2).dtype
    dtype('float32')
    """

    @functools.wraps(function)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        if not has_64_bits(result):
            return result
        return result.float() if torch.is_tensor(result) else result.astype(np.float32)

    return wrapped


def has_64_bits(value: Any) -> bool:
    """True for an array or tensor of numbers with a decimal point and 64 bits."""
    return isinstance(value, (np.ndarray, torch.Tensor)) and str(value.dtype).endswith("float64")
