"""The most bytes that tensors hold at once, which the experiments on costs measure."""

# torch gives its classes no types here.
# mypy: disable-error-code="no-untyped-call"

from typing import Any

from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Peak(TorchDispatchMode):
    """The most bytes that tensors held at once, of all that were made while the block ran.

    What torch needs inside one operation isn't seen. In long_costs its profiler, which sees it, counted up to a
    sixth more at 2048 tokens, and for the fused kernel up to six tenths more.
    """

    def __init__(self) -> None:
        super().__init__()
        self.alive: dict[int, tuple[StorageWeakRef, int]] = {}
        self.peak = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        given = {id_ for id_, _ in _storages((args, kwargs))} - self.alive.keys()
        self.alive = {i: kept for i, kept in self.alive.items() if not kept[0].expired()}
        for id_, storage in _storages(result):
            if id_ not in given:  # it isn't a view of what was there before
                self.alive[id_] = StorageWeakRef(storage), storage.nbytes()
        self.peak = max(self.peak, sum(size for _, size in self.alive.values()))
        return result


def _storages(values: Any) -> list[tuple[int, Any]]:
    found = (x.untyped_storage() for x in tree_leaves(values) if isinstance(x, Tensor))
    return [(storage._cdata, storage) for storage in found]
