"""Sentences with gaps, in both languages, whose alignment is computed once (chapter 12).

A template is written word by word, with spaces between:

    {S} lost:1 it:T {L} .
    {S} l'a:1T perdu|perdue@T:1 {L} .

`{S}` is a gap for the phrase of role S. `word:1` has the key 1: words with the same key in both languages mean
the same. A key that is a letter marks a pronoun or a description that stands for that role. `perdu|perdue@T`
is the first form if role T is masculine in French, else the second.
"""

from collections.abc import Sequence
from typing import NamedTuple

from transformer_course.corpus.pairs import Pair

Links = tuple[tuple[int, int], ...]


class Phrase(NamedTuple):
    """A phrase that fills a gap.

    Args:
        english: the English words.
        french: the French words.
        others: other right French wordings of it.
        shape: a number; phrases with the same one have the same build, alignment and gender.
        pronoun: its kind, if it is a pronoun ("he", "there", …).
    """

    english: str
    french: str
    others: tuple[str, ...]
    shape: int
    pronoun: str = ""


class Shape(NamedTuple):
    """How a phrase is built: lengths in words, alignment, gender, the places of its nouns."""

    english: int
    french: int
    links: Links
    gender: str
    head: tuple[int, int]


SHAPES: list[Shape] = []


def phrase(
    english: str,
    french: str,
    links: Links = ((0, 0),),
    gender: str = "m",
    others: tuple[str, ...] = (),
    pronoun: str = "",
) -> Phrase:
    """A phrase, given its words and their alignment.

    >>> SHAPES[phrase("the key", "la clé", ((0, 0), (1, 1)), "f").shape].head
    (1, 1)
    """
    last = len(english.split()) - 1
    head = (last, min((t for s, t in links if s == last), default=0))
    shape = Shape(last + 1, len(french.split()), links, gender, head)
    if shape not in SHAPES:
        SHAPES.append(shape)
    return Phrase(english, french, others, SHAPES.index(shape), pronoun)


class Spot(NamedTuple):
    """Where a role stands in a sentence; `gap` is False for a pronoun that the template itself writes."""

    role: int
    english: int
    french: int
    gap: bool
    kind: str


class Layout(NamedTuple):
    """A template for phrases of known shapes."""

    english: str
    french: tuple[str, ...]
    alignment: Links
    spots: tuple[Spot, ...]


class Token(NamedTuple):
    """One item of a template: its text for the genders at hand, its keys."""

    text: str
    keys: str


class Template:
    """A sentence with gaps.

    Args:
        roles: one letter for each phrase; a place comes last.
        english: the English words, as the module explains.
        french: the French words; the first line is trained on, the others are right too.
        kinds: for a role whose description the template writes, the kind of mention; else the English
            word is the kind.
    """

    def __init__(self, roles: str, english: str, *french: str, **kinds: str) -> None:
        self.roles = roles
        self.english = english
        self.french = french
        self.kinds = kinds
        self.layouts: dict[tuple[int, ...], Layout] = {}

    def fill(self, phrases: Sequence[Phrase]) -> tuple[Pair, tuple[Spot, ...]]:
        """The sentence with its gaps filled, and where each role stands in it.

        Args:
            phrases: one for each role, in their order.

        Returns:
            The pair, its alignment included, and the spots in the order of the English words.

        >>> anna, key = phrase("Anna", "Anna", gender="f"), phrase("key", "clé", gender="f")
        >>> lost = Template("ST", "{S} lost:1 it:T .", "{S} l'a:1T perdu|perdue@T:1 .")
        >>> pair, spots = lost.fill((anna, key))
        >>> pair.source, pair.target, pair.alignment
        ('Anna lost it.', "Anna l'a perdue.", ((0, 0), (1, 1), (1, 2), (2, 1), (3, 3)))
        >>> [(spot.english, spot.french, spot.kind) for spot in spots]
        [(0, 0, ''), (2, 1, 'it')]
        """
        shapes = tuple([p.shape for p in phrases])
        layout = self.layouts.get(shapes)
        if layout is None:
            layout = self.layouts[shapes] = self.lay_out([SHAPES[shape] for shape in shapes])
        french = [p.french for p in phrases]
        targets = [pattern.format(*french) for pattern in layout.french]
        for other in phrases[-1].others if phrases else ():
            french[-1] = other
            targets += [pattern.format(*french) for pattern in layout.french]
        english = layout.english.format(*[p.english for p in phrases])
        return Pair(english, tuple(targets), (), layout.alignment), layout.spots

    def lay_out(self, shapes: list[Shape]) -> Layout:
        """What is the same for all phrases of these shapes."""
        genders = {role: shape.gender for role, shape in zip(self.roles, shapes, strict=True)}
        english = [token(text, genders) for text in self.english.split()]
        french = [token(text, genders) for text in self.french[0].split()]
        found = positions(english, self.roles, shapes, 0), positions(french, self.roles, shapes, 1)
        return Layout(
            pattern_of(english, self.roles, english=True),
            tuple(
                pattern_of([token(text, genders) for text in line.split()], self.roles)
                for line in self.french
            ),
            alignment(english, french, found, dict(zip(self.roles, shapes, strict=True))),
            self.spots(english, french, found, shapes),
        )

    def spots(
        self,
        english: list[Token],
        french: list[Token],
        found: tuple[list[int], list[int]],
        shapes: list[Shape],
    ) -> tuple[Spot, ...]:
        """Where the roles stand, in the order of the English words."""
        spots = []
        for index, role in enumerate(self.roles):
            gap = f"{{{role}}}"
            for place, item in zip(found[0], english, strict=True):
                if item.text == gap:
                    there = next(p for p, t in zip(found[1], french, strict=True) if t.text == gap)
                    head = shapes[index].head
                    spots.append(Spot(index, place + head[0], there + head[1], True, ""))
                elif role in item.keys:
                    kind = self.kinds.get(role, item.text.lower())
                    there = next(p for p, t in zip(found[1], french, strict=True) if role in t.keys)
                    spots.append(Spot(index, place, there, False, kind))
        return tuple(sorted(spots, key=lambda spot: spot.english))


def token(text: str, genders: dict[str, str]) -> Token:
    """One item of a template, for given genders.

    >>> token("perdu|perdue@T:1", {"T": "f"})
    Token(text='perdue', keys='1')
    """
    text, _, keys = text.partition(":")
    text, _, role = text.partition("@")
    if role:
        text = text.split("|")[genders[role] == "f"]
    return Token(text, keys)


def positions(tokens: list[Token], roles: str, shapes: list[Shape], language: int) -> list[int]:
    """The first word of each item, once the gaps are filled."""
    lengths = [shape.french if language else shape.english for shape in shapes]
    starts, position = [], 0
    for item in tokens:
        starts.append(position)
        gap = item.text.startswith("{")
        position += lengths[roles.index(item.text[1])] if gap else 1
    return starts


def pattern_of(tokens: list[Token], roles: str, english: bool = False) -> str:
    """The sentence for `format`, its marks joined to the words before them."""
    texts = [f"{{{roles.index(t.text[1])}}}" if t.text[0] == "{" else t.text for t in tokens]
    written = " ".join(texts).replace(" .", ".").replace(" ,", ",")
    return written.replace(" ?", "?") if english else written


def alignment(
    english: list[Token],
    french: list[Token],
    found: tuple[list[int], list[int]],
    shapes: dict[str, Shape],
) -> Links:
    """Which English word gave which French word; marks give marks."""
    links = []
    for source, item in zip(found[0], english, strict=True):
        for target, other in zip(found[1], french, strict=True):
            if item.text == other.text and item.text[0] == "{":
                links += [(source + s, target + t) for s, t in shapes[item.text[1]].links]
            elif (item.text == other.text and item.text in ".,?") or set(item.keys) & set(
                other.keys
            ):
                links.append((source, target))
    return tuple(sorted(links))
