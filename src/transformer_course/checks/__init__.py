"""Checks of the exercises: they run the learner's function and say what is wrong with it, not only that it is.

One module or package per chapter, of the same name: `from transformer_course.checks import attention as check`.
`task` says what an exercise declares, `engine` judges an answer, `running` keeps the notebook alive
whatever the learner's function does, and `comparing` puts differences into words.

`keep` and `part` gather the learner's own Transformer in `my_transformer.py`, beside the notebook. `progress`
shows on a map what is solved, what comes next, and how long the rest takes.
"""

from transformer_course.checks.array_kinds import for_tensors, in_32_bits
from transformer_course.checks.own_parts import keep, part
from transformer_course.checks.own_progress import progress

__all__ = ["for_tensors", "in_32_bits", "keep", "part", "progress"]
