"""The lexicon: nouns, adjectives and verbs read from the tables in `data`."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from transformer_course.corpus.grammar import morphology as m

MODALS = ("can", "must")  # no -s, no do-support

# A class and what belongs to it besides the nouns that name it in the table.
CLASSES = {
    "any": "animate thing vehicle building way plant land",
    "animate": "person animal",
    "wildbeast": "lion bear wolf snake panther",
    "family": "kin",
    "thing": "object furniture clothing readable instrument",
    "readable": "",
    "shop": "shop museum bank library school",
    "town": "",
    "place": "building",
}


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun: `english` and `french` are (singular, plural)."""

    name: str
    english: tuple[str, str]
    french: tuple[str, str]
    gender: str
    mass: bool
    classes: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective: `french[gender]` is (singular, plural)."""

    name: str
    comparative: str
    french: dict[str, tuple[str, str]]
    before_vowel: str
    before_noun: bool
    classes: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb: `present` and `future` hold the six persons; `particle` follows the English verb."""

    name: str
    base: str
    third: str
    past: str
    perfect: str
    particle: str
    infinitive: str
    present: tuple[str, ...]
    future: tuple[str, ...]
    participle: str
    complement: str  # besoin in "avoir besoin"
    etre: bool
    subject: frozenset[str]
    object: frozenset[str]
    frame: frozenset[str]


def read_table(name: str, package: str = __package__) -> Iterator[list[str]]:
    """Rows of a table in the `data` of a package, without comment and heading."""
    text = (files(package) / "data" / f"{name}.tsv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    for line in lines[1:]:
        yield line.split("\t")


def read_nouns() -> list[Noun]:
    """All nouns."""
    return [make_noun(*row) for row in read_table("nouns")]


def make_noun(
    english: str, plural: str, french: str, gender: str, pluriel: str, classes: str
) -> Noun:
    """One row of the table of nouns, its regular forms filled in."""
    tags = frozenset(classes.split()) | {english}
    return Noun(
        english,
        (english, plural or m.english_plural(english)),
        (french, pluriel or m.french_plural(french)),
        gender,
        "mass" in tags,
        tags,
    )


def read_adjectives() -> list[Adjective]:
    """All adjectives."""
    return [make_adjective(*row) for row in read_table("adjectives")]


def make_adjective(
    name: str,
    comparative: str,
    french: str,
    feminine: str,
    pluriel: str,
    vowel: str,
    place: str,
    classes: str,
) -> Adjective:
    """One row of the table of adjectives, its regular forms filled in."""
    feminine = feminine or m.french_feminine(french)
    forms = {
        "m": (french, pluriel or m.french_plural(french)),
        "f": (feminine, m.french_plural(feminine)),
    }
    return Adjective(
        name,
        comparative,
        forms,
        vowel or french,
        place == "before",
        frozenset(classes.split()),
    )


def read_verbs() -> list[Verb]:
    """All verbs."""
    return [make_verb(*row) for row in read_table("verbs")]


def read_reflexives() -> list[Verb]:
    """All reflexive verbs, without their se."""
    return [make_verb(*row) for row in read_table("reflexives")]


def make_verb(
    name: str,
    past: str,
    perfect: str,
    french: str,
    pattern: str,
    present: str,
    future: str,
    participle: str,
    auxiliary: str,
    subject: str,
    obj: str,
    frame: str,
) -> Verb:
    """One row of the table of verbs, its regular forms filled in."""
    infinitive, _, complement = french.partition(" ")
    base, _, particle = name.partition(" ")
    stem = future or m.future_stem(infinitive, pattern)
    return Verb(
        name,
        base,
        "has" if base == "have" else base if base in MODALS else m.with_s(base),
        past.split()[0],
        perfect.split()[0],
        particle,
        infinitive,
        tuple(present.split()) or m.french_present(infinitive, pattern),
        tuple(stem + ending for ending in m.FUTURE_ENDINGS),
        participle or infinitive[:-2] + m.PARTICIPLE_ENDINGS[pattern],
        complement,
        auxiliary == "être",
        frozenset(subject.split()),
        frozenset(obj.split()),
        frozenset(frame.split()),
    )


def expand(classes: frozenset[str]) -> frozenset[str]:
    """A set of classes with all that belongs to them."""
    found = set(classes)
    todo = list(classes)
    while todo:
        for name in CLASSES.get(todo.pop(), "").split():
            if name not in found:
                found.add(name)
                todo.append(name)
    return frozenset(found)


NOUNS = read_nouns()
ADJECTIVES = read_adjectives()
VERBS = read_verbs()
REFLEXIVES = read_reflexives()
PROFESSIONS = list(read_table("professions"))
NOUN = {noun.name: noun for noun in NOUNS}
ADJECTIVE = {adjective.name: adjective for adjective in ADJECTIVES}
VERB = {verb.name: verb for verb in reversed(VERBS)}


def nouns_of(classes: frozenset[str] | str) -> tuple[Noun, ...]:
    """Nouns that belong to one of the classes, in the order of the table.

    >>> [noun.name for noun in nouns_of("cycle")]
    ['bicycle', 'scooter', 'motorcycle']
    """
    wanted = expand(frozenset(classes.split()) if isinstance(classes, str) else classes)
    return tuple(noun for noun in NOUNS if noun.classes & wanted)


def adjectives_for(noun: Noun) -> tuple[Adjective, ...]:
    """Adjectives that can describe a noun."""
    return tuple(a for a in ADJECTIVES if expand(a.classes) & noun.classes)


OBJECTS = {verb: nouns_of(verb.object) for verb in VERBS}
SUBJECTS = {verb: nouns_of(verb.subject) for verb in (*VERBS, *REFLEXIVES)}
ABLE = {verb: frozenset(nouns) for verb, nouns in SUBJECTS.items()}  # for quick questions
SUITABLE = {verb: frozenset(nouns) for verb, nouns in OBJECTS.items()}
DESCRIBING = {noun: adjectives_for(noun) for noun in NOUNS}

YELL = VERB["yell"]  # hurler
H_ASPIRE = frozenset(
    (
        *(form for noun in NOUNS if "h_aspiré" in noun.classes for form in noun.french),
        *("haut", "haute", "hauts", "hautes", "huit"),
        *(YELL.infinitive, YELL.participle, *YELL.present, *YELL.future),
    )
)
