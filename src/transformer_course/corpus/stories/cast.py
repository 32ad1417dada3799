"""Who and what stories are about: people, animals, things, places (chapter 12)."""

from collections.abc import Iterator
from typing import NamedTuple

from transformer_course.corpus.grammar.draft import align
from transformer_course.corpus.grammar.lexicon import NOUN, Noun
from transformer_course.corpus.grammar.phrases import plain_noun_phrase
from transformer_course.corpus.grammar.spelling import Word, spell
from transformer_course.corpus.grammar.splits import SPLITS, Combination, allowed, split_of
from transformer_course.corpus.stories.templates import Phrase, phrase

# First names that are written alike in both languages; none begins with an h.
WOMEN = [
    "Anna",
    "Alice",
    "Emma",
    "Julia",
    "Laura",
    "Clara",
    "Sarah",
    "Eva",
    "Nina",
    "Charlotte",
    "Caroline",
    "Sophie",
    "Olivia",
    "Victoria",
    "Lisa",
    "Claire",
    "Nora",
    "Rachel",
    "Elsa",
    "Marion",
]
MEN = [
    "Thomas",
    "Martin",
    "Simon",
    "Daniel",
    "Gabriel",
    "David",
    "Robert",
    "Victor",
    "Oscar",
    "Arthur",
    "Benjamin",
    "Samuel",
    "Adam",
    "Max",
    "Patrick",
    "Vincent",
    "Albert",
    "Paul",
    "Bruno",
    "Lucas",
]

ANIMAL_NAMES = {  # as many of each gender
    "m": ["dog", "cat", "rabbit", "fox", "donkey", "monkey", "squirrel", "hedgehog"],
    "f": ["mouse", "goat", "hen", "turtle", "frog", "cow", "swallow", "panther"],
}

THING_TEXT = (  # what one carries; as many of each gender, so that neither can be guessed
    "book newspaper poem novel magazine dictionary pillow bag basket glass knife toy kite phone computer "
    "camera umbrella painting jewel hammer gift flag ticket hat coat sweater violin drum accordion backpack "
    "letter blanket box suitcase bottle cup plate fork spoon ball doll key clock watch picture "
    "statue ring stone axe rope sculpture dress skirt shirt scarf tie guitar flute trumpet envelope"
)
THING_NAMES = THING_TEXT.split()

SMALL = frozenset(  # what animals carry
    [
        "toy",
        "jewel",
        "ticket",
        "hat",
        "gift",
        "book",
        "letter",
        "spoon",
        "ball",
        "doll",
        "key",
        "watch",
        "ring",
        "stone",
        "scarf",
        "rope",
    ]
)

# place: English preposition, French ones at rest, French ones for going there; the first is trained on.
PLACE_NAMES = {
    **dict.fromkeys(
        [
            "hotel",
            "hospital",
            "museum",
            "library",
            "station",
            "market",
            "bakery",
            "restaurant",
            "theater",
            "cinema",
            "farm",
            "airport",
            "school",
            "bank",
        ],
        ("at", ("à+",), ("à+",)),
    ),
    **dict.fromkeys(
        ["garden", "park", "castle", "church", "attic", "cellar", "village", "kitchen", "shop"],
        ("in", ("dans", "à+"), ("à+", "dans")),
    ),
    "beach": ("on", ("sur", "à+"), ("à+", "sur")),
    "island": ("on", ("sur",), ("sur", "à+")),
}


class Being(NamedTuple):
    """A person or an animal; `first` is the phrase that begins a sentence, `subject` the pronoun."""

    name: str
    gender: str
    animal: bool
    phrase: Phrase
    first: Phrase
    subject: Phrase
    fits: dict[str, tuple["Thing", ...]]


class Thing(NamedTuple):
    """A thing: "the key" and "a key"."""

    name: str
    gender: str
    the: Phrase
    a: Phrase


class Place(NamedTuple):
    """A place: "in the garden", "to the garden", and both as an answer."""

    name: str
    there: Phrase
    to: Phrase


def written(
    english: list[Word], french: list[Word]
) -> tuple[str, str, tuple[tuple[int, int], ...]]:
    """English and French words as they are written, and their alignment."""
    spelled, keys = spell(french)
    apart = [(part, key) for word, key in english for part in word.split()]
    links = align(tuple(key for _, key in apart), tuple(keys))
    return " ".join(word for word, _ in apart), " ".join(spelled), links


def noun_phrase(noun: Noun, determiner: str) -> Phrase:
    """A noun with its article in both languages."""
    both = plain_noun_phrase(noun, 1, False, determiner)
    return phrase(*written(both.english, both.readings[0].words), noun.gender)


def capital(words: Phrase) -> Phrase:
    """The phrase at the beginning of a sentence.

    >>> capital(phrase("the key", "la clé", ((0, 0), (1, 1)))).french
    'La clé'
    """
    english, french = words.english, words.french
    others = tuple(other[0].upper() + other[1:] for other in words.others)
    return words._replace(
        english=english[0].upper() + english[1:],
        french=french[0].upper() + french[1:],
        others=others,
    )


def place_phrase(noun: Noun, english: str, french: tuple[str, ...]) -> Phrase:
    """A place after its prepositions."""
    both = plain_noun_phrase(noun, 1, False, "the")
    words = both.readings[0].words
    first, *others = [
        written([(english, 1), *shifted(both.english)], [(p, 1), *shifted(words)]) for p in french
    ]
    return phrase(*first, noun.gender, tuple(other[1] for other in others))


def shifted(words: list[Word]) -> list[Word]:
    """The words with keys that leave 1 free."""
    return [(word, key + 100) for word, key in words]


def thing(name: str) -> Thing:
    """A thing of the lexicon."""
    noun = NOUN[name]
    return Thing(name, noun.gender, noun_phrase(noun, "the"), noun_phrase(noun, "a"))


def place(name: str) -> Place:
    """A place of the lexicon."""
    english, rest, going = PLACE_NAMES[name]
    return Place(
        name, place_phrase(NOUN[name], english, rest), place_phrase(NOUN[name], "to", going)
    )


def fitting(name: str) -> dict[str, tuple[Thing, ...]]:
    """The things that a person may have, by the split of the two."""
    return {s: tuple(t for t in THINGS if split_of((name, t.name)) == s) for s in SPLITS}


def person(name: str, gender: str) -> Being:
    """A person."""
    english, french = ("She", "Elle") if gender == "f" else ("He", "Il")
    subject = phrase(english, french, gender=gender, pronoun=english.lower())
    alone = phrase(name, name, gender=gender)
    return Being(name, gender, False, alone, alone, subject, fitting(name))


def animal(name: str) -> Being:
    """An animal; in French it is il or elle as its noun is."""
    noun = NOUN[name]
    alone = noun_phrase(noun, "the")
    subject = phrase("It", "Elle" if noun.gender == "f" else "Il", gender=noun.gender, pronoun="it")
    return Being(name, noun.gender, True, alone, capital(alone), subject, {})


THINGS = tuple(thing(name) for name in THING_NAMES)
PLACES = tuple(place(name) for name in PLACE_NAMES)
PEOPLE = {
    "f": tuple(person(name, "f") for name in WOMEN),
    "m": tuple(person(name, "m") for name in MEN),
}
ANIMALS = {g: tuple(animal(name) for name in names) for g, names in ANIMAL_NAMES.items()}
THERE = phrase("there", "là-bas", others=("là",), pronoun="there")


def combinations() -> Iterator[Combination]:
    """Who could have what, and what could lie where."""
    for something in THINGS:
        for being in (*PEOPLE["f"], *PEOPLE["m"]):
            yield being.name, something.name
        if something.name in SMALL:
            for being in (*ANIMALS["f"], *ANIMALS["m"]):
                yield being.name, something.name
        for somewhere in PLACES:
            yield something.name, somewhere.name


# For each split, the combinations that its stories may bring together.
FIT = {split: {c for c in combinations() if split_of(c) in allowed(split)} for split in SPLITS}
