"""Where a result first differs from what was expected: as a sentence, and as the cells around that place."""

from dataclasses import dataclass

import numpy as np

from transformer_course.checks.comparing import Array, close, is_row, number

CELLS = 6  # rows and columns of a table, at most: it fits a telephone
NEAR = 1e-4  # largest relative difference between numbers that count as the same
LAST = ("output", "context")  # results of attention, made from its weights


@dataclass(frozen=True, eq=False)
class Difference:
    """The first result that isn't as expected, and where in it the first wrong number is.

    Args:
        name: the result's name.
        expected: the right result, of any shape.
        actual: the learner's, of the same shape.
        index: place of the first wrong number; () for a single number.
        wrong: for each number whether it differs; same shape.
    """

    name: str
    expected: Array
    actual: Array
    index: tuple[int, ...]
    wrong: Array

    @property
    def place(self) -> str:
        """The first wrong number, as one would write it in Python."""
        return f"{self.name}[{', '.join(map(str, self.index))}]" if self.index else self.name

    @property
    def first(self) -> tuple[int, int]:
        """Row and column of the first wrong number; a vector is one row."""
        row, column = (0, 0, *self.index)[-2:]
        return row, column

    @property
    def sizes(self) -> tuple[int, int]:
        """How many rows and columns the last two axes have."""
        rows, columns = (1, 1, *self.expected.shape)[-2:]
        return rows, columns

    def sentence(self) -> str:
        """Say what was expected at the first wrong number, and what came."""
        if is_row(self.actual) and is_row(self.expected):
            return f"`{self.name}`: expected {self.expected.tolist()}, got {self.actual.tolist()}."
        expected, actual = self.expected[self.index], self.actual[self.index]
        if not np.isfinite(actual):
            what = "NaN (not a number)" if np.isnan(actual) else f"{actual:+}"
            return f"`{self.place}`: expected {number(expected)}, got {what}."
        count, size = np.count_nonzero(self.wrong), self.actual.size
        relation = _relation(self.actual, self.expected)
        more = f" ({count} of {size} numbers differ{relation})" if size > 1 else ""
        wanted, got = _computed(expected), _computed(actual)
        if wanted == got:  # they differ after the fourth digit
            wanted, got = f"{expected:.8g}", f"{actual:.8g}"
        return f"`{self.place}`: expected {wanted}, got {got}{more}."

    def window(self) -> tuple[range, range]:
        """Return the rows and columns of the last two axes that a table shows, around the first wrong number.

        >>> x = np.zeros((2, 9))
        >>> Difference("x", x, x + 1, (1, 8), x == x).window()
        (range(0, 2), range(3, 9))
        """
        (row, column), (rows, columns) = self.first, self.sizes
        return _around(row, rows), _around(column, columns)

    def slice_of(self, array: Array) -> Array:
        """Return those last two axes of an array, (rows, columns), that hold the first wrong number."""
        return np.atleast_2d(array[self.index[:-2]])


def find_difference(
    actual: list[Array], expected: list[Array], names: tuple[str, ...], tolerance: float
) -> Difference:
    """Return the first difference between results of the same shapes, the output of attention looked at last.

    Args:
        actual: the learner's results.
        expected: the right ones.
        names: a name for each.
        tolerance: largest difference that counts as none, relative to a number's size.

    Returns:
        The first difference.

    Raises:
        ValueError: if there is none.
    """
    # An output is made from the weights that are returned beside it: a wrong weight tells more.
    results = sorted(
        zip(actual, expected, names, strict=True), key=lambda result: result[2] in LAST
    )
    for a, e, name in results:
        wrong = ~close(a, e, tolerance)
        if wrong.any():
            return Difference(name, e, a, tuple(int(i) for i in np.argwhere(wrong)[0]), wrong)
    raise ValueError("actual and expected are the same")


def _relation(actual: Array, expected: Array) -> str:
    """Return what all numbers have in common, if anything: a factor, something added, other places.

    >>> _relation(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    '; each is 2 times what was expected'
    >>> _relation(np.array([[1.0, 3.0], [2.0, 4.0]]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    '; rows and columns are exchanged'
    """
    if expected.dtype.kind != "f" or not (np.isfinite(actual) & np.isfinite(expected)).all():
        return ""
    largest = np.argmax(np.abs(expected))
    factor = actual.flat[largest] / expected.flat[largest] if expected.any() else 0.0
    if factor and close(actual, factor * expected, NEAR).all():
        if np.isclose(factor, -1):
            return "; each has the other sign"
        return f"; each is {number(factor)} times what was expected"
    added = actual.flat[0] - expected.flat[0]
    if close(actual, expected + added, NEAR).all():
        return f"; each is {number(abs(added))} too {'large' if added > 0 else 'small'}"
    turned = expected.ndim > 1 and expected.shape[-1] == expected.shape[-2]
    if turned and close(actual, np.swapaxes(expected, -1, -2), NEAR).all():
        return "; rows and columns are exchanged"
    if expected.size > 2 and close(np.sort(actual, None), np.sort(expected, None), NEAR).all():
        return "; they are the right ones, in other places"
    return ""


def _computed(x: Array) -> str:
    """Write a computed number; what rounding leaves of 0 differs from one processor to the next."""
    return "almost 0" if 0 < abs(float(x)) < 1e-12 else number(x)


def _around(place: int, size: int) -> range:
    """Return at most CELLS neighbours of a place on an axis of this size."""
    start = max(0, min(place - CELLS // 2, size - CELLS))
    return range(start, min(size, start + CELLS))
