"""Print sentences of the grammar (chapter 07): python -m transformer_course.corpus --show 20."""

import argparse
from collections.abc import Sequence

from transformer_course.corpus import grammar
from transformer_course.corpus.grammar.splits import SPLITS
from transformer_course.corpus.pairs import Pair, words
from transformer_course.streams import watched_streams


def describe(pair: Pair) -> str:
    """A pair on several lines: both sentences, other right answers, labels, alignment.

    Args:
        pair: a pair of the grammar.

    Returns:
        The lines, without a line feed at the end.

    Raises:
        IndexError: if the alignment names a word that isn't there.

    >>> print(describe(Pair("I sleep", ("Je dors",), ("plain",), ((0, 0), (1, 1)))))
    I sleep
    Je dors
        plain
        I–Je, sleep–dors
    """
    source, target = words(pair.source), words(pair.target)
    lines = [pair.source, pair.target, *(f"or: {other}" for other in pair.targets[1:])]
    lines.append("    " + ", ".join(pair.phenomena))
    lines.append("    " + ", ".join(f"{source[i]}–{target[j]}" for i, j in pair.alignment))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and print.

    Args:
        arguments: the words after the command's name; those of the process if left out.

    Raises:
        SystemExit: with status 2 for a wrong option, with 0 after --help.
    """
    parser = argparse.ArgumentParser(
        prog="python -m transformer_course.corpus",
        description="Print sentences of the English–French grammar.",
    )
    parser.add_argument("--show", type=int, default=20, metavar="N", help="how many sentences")
    parser.add_argument("--split", choices=SPLITS, default="train", help="from which split")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other sentences")
    parser.add_argument("--phenomenon", help="only sentences that show this, as printed below each")
    options = parser.parse_args(arguments)
    if options.show < 1:
        parser.error(f"--show ({options.show}) must be at least 1")
    if options.phenomenon not in (None, *grammar.PHENOMENA):
        parser.error(
            f"--phenomenon ({options.phenomenon}) must be one of: {', '.join(grammar.PHENOMENA)}"
        )
    wanted = options.split, options.show, options.seed
    try:
        pairs = list(
            grammar.sentences_with(options.phenomenon, *wanted)
            if options.phenomenon
            else grammar.generate(*wanted)
        )
    except ValueError as error:
        parser.error(str(error))
    print("\n\n".join(map(describe, pairs)))


if __name__ == "__main__":
    with watched_streams():
        main()
