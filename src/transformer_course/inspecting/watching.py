"""Seeing and changing what the parts of a model give out, while it runs (chapter 10)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from transformer_course.encoder_decoder import DecoderLayer, EncoderLayer

Visitor = Callable[[Tensor], Tensor | None]


@contextmanager
def watching(model: nn.Module, visitors: Mapping[str, Visitor]) -> Iterator[None]:
    """Let functions see what parts of a model give out, and replace it, while the block runs.

    Args:
        model: any module.
        visitors: name of a part, as in `model.named_modules()` → a function of its output. What the function
            returns takes the output's place; None leaves it as it is. Of an attention, which gives output and
            weights, the function sees the output.

    Yields:
        Nothing.

    Raises:
        ValueError: if the model has no part of a name; inside the block, if a function returns another shape
            than it was given.

    >>> net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    >>> with watching(net, {"0": lambda x: x * 0 - 1}):
    ...     net(Tensor([[1.0, 1.0]])).tolist()
    [[0.0, 0.0]]
    """
    parts = dict(model.named_modules())
    missing = [name for name in visitors if not name or name not in parts]
    if missing:
        raise ValueError(f"visitors: the model has no part {', '.join(missing)}")
    with ExitStack() as hooks:
        for name, visit in visitors.items():
            handle = parts[name].register_forward_hook(_hook(name, visit))
            hooks.callback(handle.remove)
        yield


def _hook(name: str, visit: Visitor) -> Callable[[nn.Module, Any, Any], Any]:
    def hook(_module: nn.Module, _inputs: Any, output: Any) -> Any:
        seen = output[0] if isinstance(output, tuple) else output
        new = visit(seen)
        if new is None:
            return None
        if new.shape != seen.shape:
            raise ValueError(
                f"the visitor of {name} returned the shape {tuple(new.shape)} for {tuple(seen.shape)}"
            )
        return (new, *output[1:]) if isinstance(output, tuple) else new

    return hook


@contextmanager
def recorded(model: nn.Module, names: Iterable[str]) -> Iterator[dict[str, Tensor]]:
    """Collect what parts of a model give out while the block runs.

    Args:
        model: any module.
        names: the parts, as in `model.named_modules()`.

    Yields:
        A dictionary that fills up: name → its latest output, without gradient. An embedding that source and
        target share runs twice, so its latest output is the target's.

    Raises:
        ValueError: as `watching` does.
    """
    found: dict[str, Tensor] = {}

    def keep(name: str) -> Visitor:
        def visit(x: Tensor) -> None:
            found[name] = x.detach()

        return visit

    with watching(model, {name: keep(name) for name in names}):
        yield found


@contextmanager
def patched(model: nn.Module, values: Mapping[str, Tensor], position: int) -> Iterator[None]:
    """Put vectors of another run into this one, at one position (activation patching, Vig et al. 2020).

    Args:
        model: any module.
        values: name of a part → what it gave in the other run, (batch, length, width). It is put in each time
            that the part runs, so twice for an embedding that source and target share.
        position: where; the other positions keep their own vectors.

    Yields:
        Nothing.

    Raises:
        ValueError: as `watching` does; inside the block, if the position is outside of the sequence, or the
            values don't fit it.
    """

    def put(name: str, value: Tensor) -> Visitor:
        def visit(x: Tensor) -> Tensor:
            if x.shape != value.shape or not 0 <= position < x.shape[1]:
                raise ValueError(
                    f"position ({position}) of a value of shape {tuple(value.shape)} can't be put into "
                    f"{name}, which gives {tuple(x.shape)}"
                )
            x = x.clone()
            x[:, position] = value[:, position]
            return x

        return visit

    with watching(model, {name: put(name, value) for name, value in values.items()}):
        yield


def layer_names(model: nn.Module, side: str = "") -> list[str]:
    """The names of the encoder's and decoder's layers, in the order in which vectors pass them.

    Args:
        model: any module with layers of chapter 06; it may contain a Transformer, as those of chapter 13 do.
        side: only the layers of one stack, "encoder" or "decoder"; all if empty.

    Returns:
        The names, as `watching` takes them.
    """
    kinds = (EncoderLayer, DecoderLayer)
    names = [name for name, part in model.named_modules() if isinstance(part, kinds)]
    return [name for name in names if f".{side}" in f".{name}"]
