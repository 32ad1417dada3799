"""The interactive figure of chapter 11: who sees whom in four families, and whether an answer leaks."""

import anywidget
import traitlets

from transformer_course.figures.widget import joined

TOKENS = ("the", "cat", "sleeps", "⇒", "le", "chat", "dort")
START = 3  # the place of ⇒, after which the answer begins
HIDDEN = (1, 5)  # what is guessed where hidden tokens are guessed
END = "</s>"
FAMILIES = ("encoder–decoder", "encoder only", "decoder only", "prefix")
OBJECTIVES = ("next", "hidden")


class FamilyMasks(anywidget.AnyWidget):
    """The masks of four families over one source and its target, and what a token sees there.

    Switch the family and the objective, and choose a token; a sentence says what it sees, and another whether
    any token can see what it must guess. All is computed in the browser. In JupyterLab, the state is up to date
    on the Python side too.

    Args:
        family: "encoder–decoder", "encoder only", "decoder only" or "prefix".
        objective: "next" (guess the token that follows) or "hidden" (guess tokens that are hidden).
        layers: 1 or 2; in two layers a token can hear of what it doesn't see.
        spared: whether the square of each answer is hidden, beside what the family's mask hides.
        token: the one that is shown, 0 to 6.

    Raises:
        ValueError: if there is no such family, objective, number of layers or token.

    >>> FamilyMasks("encoder only", "hidden")
    Interactive figure: the masks of 4 families over 7 tokens
    """

    _esm = joined("family_masks", "js")
    _css = joined("family_masks", "css")

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    hidden = traitlets.List(traitlets.Int()).tag(sync=True)
    start = traitlets.Int().tag(sync=True)
    end = traitlets.Unicode().tag(sync=True)
    family = traitlets.Unicode().tag(sync=True)
    objective = traitlets.Unicode().tag(sync=True)
    layers = traitlets.Int().tag(sync=True)
    spared = traitlets.Bool().tag(sync=True)
    token = traitlets.Int().tag(sync=True)

    def __init__(
        self,
        family: str = "encoder–decoder",
        objective: str = "next",
        layers: int = 2,
        spared: bool = False,
        token: int = 5,
    ) -> None:
        if family not in FAMILIES:
            raise ValueError(f"family ({family!r}) must be one of {', '.join(FAMILIES)}")
        if objective not in OBJECTIVES:
            raise ValueError(f"objective ({objective!r}) must be one of {', '.join(OBJECTIVES)}")
        if layers not in (1, 2):
            raise ValueError(f"layers ({layers}) must be 1 or 2")
        if not 0 <= token < len(TOKENS):
            raise ValueError(f"token ({token}) must be from 0 to {len(TOKENS) - 1}")
        super().__init__(
            tokens=list(TOKENS),
            hidden=list(HIDDEN),
            start=START,
            end=END,
            family=family,
            objective=objective,
            layers=layers,
            spared=spared,
            token=token,
        )

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        return (
            f"Interactive figure: the masks of {len(FAMILIES)} families over {len(TOKENS)} tokens"
        )
