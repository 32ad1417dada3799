"""Texts with places for nouns, in both languages: "{own:carried}" becomes my keys and mes clés.

A place names a determiner and a class of nouns, "{a:snack}". The determiners are those of the grammar and

    own     my, your, his, …: whose the subject is
    all     in general: chocolate, le chocolat; spiders, les araignées
    some    bread, some bread, any bread: du pain; negated, pas de pain
    bare    without any: for a French "de" or "sans"

A class with a 1 after it has no plurals; a star asks for an adjective, "{a*:dwelling}". A list of slots.tsv is
a place, too, "{day}", and so is a time, "{@past}". In French, "<tired>" is an adjective that agrees with the
subject, "<open@0>" with the first place, and "~bien" an adverb that stands before a participle.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from transformer_course.corpus.everyday.dates import drawn
from transformer_course.corpus.everyday.degrees import OF_ALL, degree_of
from transformer_course.corpus.everyday.words import ADJECTIVES, OWN_ADJECTIVES, read_table
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.lexicon import (
    NOUN,
    NOUNS,
    Adjective,
    Noun,
    adjectives_for,
    expand,
    make_noun,
    nouns_of,
)
from transformer_course.corpus.grammar.names import (
    COUNTRIES,
    FIRST_NAMES,
    LANGUAGES,
    TOWNS,
    Name,
    from_there,
    in_or_to,
)
from transformer_course.corpus.grammar.phrase_book import FIRST_PART, SLOTS
from transformer_course.corpus.grammar.phrases import (
    Phrase,
    Reading,
    starts_with_vowel_letter,
    write_noun_phrase,
)
from transformer_course.corpus.grammar.spelling import Word
from transformer_course.corpus.grammar.splits import Combination
from transformer_course.corpus.grammar.times import in_digits
from transformer_course.corpus.pairs import words as words_of

POSSESSED = frozenset(("carried", "vehicle", "device", "read", "home", "luggage", "job", "fact"))
ADJECTIVE_SHARE = 0.12  # how often a noun has one


OWN_NOUNS = {row[0]: make_noun(*row) for row in read_table("nouns")}
PLURALS = {noun.english[1]: noun for noun in (*OWN_NOUNS.values(), *reversed(NOUNS))}


@cache
def uncounted(name: str) -> Noun:
    """A noun of things, as what one has some of: I like pizza, we eat cake.

    >>> uncounted("pizza").mass, NOUN["pizza"].mass
    (True, False)
    """
    return replace(NOUN[name], mass=True)


def read_classes() -> dict[str, tuple[tuple[Noun, bool], ...]]:
    """The nouns of each class, and whether they stand in the plural."""
    classes = {}
    for name, text in read_table("classes"):
        found: list[tuple[Noun, bool]] = []
        for part in text.split(", "):
            if part[0] == "*":
                kinds = part.replace("*", "")
                found += [(OWN_NOUNS.get(noun.name, noun), False) for noun in nouns_of(kinds)]
            elif part[0] == "~":
                found.append((uncounted(part[1:]), False))
            elif noun := OWN_NOUNS.get(part) or NOUN.get(part):
                found.append((noun, "plural" in noun.classes))
            else:
                found.append((PLURALS[part], True))
        classes[name] = tuple(found)
    return classes


CLASSES = read_classes()


def read_lists() -> dict[str, list[tuple[list[str], list[str]]]]:
    """The grammar's lists of slots, and those of everyday speech."""
    lists = {name: list(fillings) for name, fillings in SLOTS.items()}  # those of the grammar stay
    for name, english, french in read_table("slots"):
        lists.setdefault(name, []).append((english.split(), french.split()))
    men, women = ([one for one in FIRST_NAMES if one.gender == gender] for gender in "mf")
    names_of = {
        "town": TOWNS,
        "language": LANGUAGES,
        "man": men,
        "woman": women,
        "name": FIRST_NAMES,
    }
    for kind, names in names_of.items():
        known = [english for english, _ in lists[kind]]
        more = [(one.english.split(), one.french.split()) for one in names]
        lists[kind] += [filling for filling in more if filling[0] not in known]
    for kind, write in (
        ("country", itself),
        ("in country", in_or_to),
        ("from country", from_there),
    ):
        lists[kind] = [(one.english.split(), [word for word, _ in write(one)]) for one in COUNTRIES]
    return lists


def itself(place: Name) -> list[Word]:
    """A country with its article: la France."""
    return [(place.article, 0), (place.french, 0)]


LISTS = read_lists()


@cache
def describing(noun: Noun) -> tuple[Adjective, ...]:
    """The adjectives for a noun: the grammar's, and those of everyday speech."""
    own = [a for a in OWN_ADJECTIVES if expand(a.classes) & noun.classes]
    return (*adjectives_for(noun), *own)


SAID_MOST = (
    "big small good bad new old beautiful nice expensive cheap long short great young little interesting "
    "easy difficult important warm"
)
COMMON = frozenset(SAID_MOST.split())


@cache
def common(noun: Noun) -> tuple[Adjective, ...]:
    """Those of its adjectives that people say most; all, if it has none of them."""
    return tuple(a for a in describing(noun) if a.name in COMMON) or describing(noun)


def adjective_for(dice: Dice, noun: Noun) -> Adjective:
    """An adjective for a noun that has any, oftener a common one."""
    return dice.pick(common(noun) if dice.chance(0.4) else describing(noun))


@dataclass(frozen=True, slots=True)
class Text:
    """A text in one language: each part a word with its key, the number of a place, or an adjective."""

    parts: tuple[Word | int | tuple[str, int, int], ...]
    register: str = ""  # "tu" or "vous", where it says one of them


def read_places(text: str) -> list[str]:
    """The places of a text, in their order.

    >>> read_places("{own:carried} in {the:city}")
    ['own:carried', 'the:city']
    """
    return [part.split("}")[0] for part in text.split("{")[1:]]


def read_text(text: str, places: Sequence[str]) -> Text:
    """Read one text; its places are numbered as in the list.

    >>> read_text("T: mange / {the:snack}", ["the:snack"])
    Text(parts=(('mange', 200), 0), register='tu')
    """
    register = {"T:": "tu", "V:": "vous"}.get(text[:2], "")
    parts: list[Word | int | tuple[str, int, int]] = []
    for key, segment in enumerate((text[2:] if register else text).split(" / "), FIRST_PART):
        for index, piece in enumerate(segment.replace("{", "\0{").replace("}", "}\0").split("\0")):
            if index % 2:
                parts.append(places.index(piece[1:-1]))
            else:
                for chunk in piece.replace("<", "\1<").replace(">", ">\1").split("\1"):
                    if chunk.startswith("<"):
                        name, _, number = chunk[1:-1].partition("@")
                        parts.append((name, key, int(number or -1)))
                    else:
                        parts += [
                            (word, key)
                            for text in chunk.split()
                            for word in ([text] if text[0] == "~" else words_of(text))
                        ]
    return Text(tuple(parts), register)


# English before a plural, English before what can't be counted, French
QUANTITIES = (
    ("a lot of", "a lot of", "beaucoup de"),
    ("a lot of", "a lot of", "beaucoup de"),
    ("too many", "too much", "trop de"),
    ("enough", "enough", "assez de"),
    ("more", "more", "plus de"),
    ("a few", "a little", "quelques/un peu de"),
    ("so many", "so much", "tant de"),
)


def quantity(dice: Dice, noun: Noun, role: int) -> Phrase:
    """A lot of bread: beaucoup de pain; too many dogs: trop de chiens."""
    if dice.chance(0.15):  # some more bread: encore du pain
        phrase = write_noun_phrase(noun, role, not noun.mass, "a", ())
        first, key = phrase.readings[0], 10 * role + 1
        words = [("encore", key), *first.words]
        return phrase._replace(
            english=[("some", key), ("more", key), *phrase.english],
            readings=(first._replace(words=words, negated=words),),
        )
    many, much, french = dice.pick(QUANTITIES)
    french = french.split("/")[-1 if noun.mass else 0]
    bare = write_noun_phrase(noun, role, not noun.mass, "the", ())
    key = 10 * role + 1
    words = [*((word, key) for word in french.split()), *without_determiner(bare.readings[0]).words]
    english = [*((w, key) for w in (much if noun.mass else many).split()), *bare.english[1:]]
    return bare._replace(
        english=english, readings=(bare.readings[0]._replace(words=words, negated=words),)
    )


def of_somebody(dice: Dice, noun: Noun, plural: bool, role: int) -> Phrase:
    """My brother's bag: le sac de mon frère."""
    owner = draw(dice, "my:owner1", role)
    thing = write_noun_phrase(noun, role, plural, "the", ())
    first = owner.readings[0]
    last, key = owner.english[-1]
    english = [*owner.english[:-1], (last + "'s", key), (thing.english[-1][0], key + 1)]
    french = [(word, key + 1 if k == key else k) for word, k in thing.readings[0].words]
    words = [*french, ("de+", key), *first.words]
    return thing._replace(
        english=english, readings=(thing.readings[0]._replace(words=words, negated=words),)
    )


def at_home_of(dice: Dice, name: str, role: int) -> Phrase:
    """My mother's house, my mother's: chez ma mère."""
    owner = draw(dice, f"my:{name}1", role)
    last, key = owner.english[-1]
    house = dice.pick(("house", "house", "place", "home", "")).split()
    english = [*owner.english[:-1], (last + "'s", key), *((word, key) for word in house)]
    words = [("chez", key), *owner.readings[0].words]
    return owner._replace(
        english=english,
        readings=(owner.readings[0]._replace(words=words, negated=words),),
        noun=None,
    )


def several(dice: Dice, determiner: str, name: str, role: int, negated: bool) -> Phrase:
    """Bread and butter: du pain et du beurre; or three things."""
    number = 2 if dice.chance(0.8) else 3
    nouns: list[Noun] = []
    for _ in range(8):  # a class may have less than three
        noun, _plural = dice.pick(CLASSES[name])
        if noun not in nouns:
            nouns.append(noun)
    nouns = nouns[:number]
    phrases = [
        write_noun_phrase(noun, role, not noun.mass, "a" if determiner == "some" else "the", ())
        for noun in nouns
    ]
    key = 10 * role + 5
    english: list[Word] = []
    french: list[Word] = []
    without: list[Word] = []  # pas de pain ni de beurre
    for index, phrase in enumerate(phrases):
        reading, last = phrase.readings[0], index == len(nouns) - 1
        own = phrase.english if determiner == "some" else phrase.english[1:]
        own = [("any", key), *own] if negated and not index and determiner == "some" else own
        link, lien, ni = (
            ("or", "ou", "ni") if negated and determiner == "some" else ("and", "et", "et")
        )
        between, entre, sans = [(word, key) if last else (",", 0) for word in (link, lien, ni)]
        english += [*([between] if index else []), *own]
        french += [*([entre] if index else []), *reading.words]
        without += [*([sans] if index else []), *reading.negated]
    return phrases[0]._replace(
        english=english,
        readings=(
            phrases[0].readings[0]._replace(words=french, negated=without, plural=True, person=5),
        ),
        third=False,
    )


PLACED = frozenset(("carried", "device", "read", "told"))
WHERE = (
    ("on", "sur"),
    ("on", "sur"),
    ("under", "sous"),
    ("next to", "à côté de+"),
    ("behind", "derrière"),
)


def with_place(dice: Dice, noun: Noun, role: int) -> Phrase:
    """The lamp on the table: la lampe sur la table."""
    there, _ = dice.pick(CLASSES["furniture"])
    thing = write_noun_phrase(noun, role, False, "the", ())
    place = write_noun_phrase(there, role, False, "the", ())
    english, french = dice.pick(WHERE)
    key = 10 * role + 6
    words = [
        *thing.readings[0].words,
        *((w, key) for w in french.split()),
        *moved(place.readings[0].words),
    ]
    return thing._replace(
        english=[*thing.english, *((w, key) for w in english.split()), *moved(place.english)],
        readings=(thing.readings[0]._replace(words=words, negated=words),),
    )


def moved(words: Sequence[Word]) -> list[Word]:
    """The words of a second noun in the same place: with keys of their own."""
    return [(word, key + 4) for word, key in words]


class Place(NamedTuple):
    """A place for a noun: its determiner, its class, and whether an adjective is asked for."""

    determiner: str
    name: str
    starred: bool

    def noun(self, dice: Dice) -> tuple[Noun, bool]:
        """A noun of the class, and whether it stands in the plural."""
        name = self.name
        noun, plural = dice.pick(CLASSES[name] if name in CLASSES else singular(name[:-1]))
        return noun, plural or (self.determiner in ("all", "some", "bare") and not noun.mass)


def draw(dice: Dice, place: str, role: int, owner: str = "my", negated: bool = False) -> Phrase:
    """A phrase for a place.

    Args:
        role: it gives the keys of the words, as in `grammar.phrases`.
        owner: what "own" is in English.
        negated: whether the verb before it is: then it is "any bread", not "some bread".
    """
    determiner, _, name = place.rstrip("2").partition(":")
    if not name:
        return drawn(dice, determiner, role) or listed(dice, determiner, role)
    if determiner == "chez":
        return at_home_of(dice, name, role)
    if "/" in determiner:  # another determiner in French, or only there
        in_english, in_french = determiner.split("/")
        phrase = draw(dice, f"{in_french}:{name}", role, owner)
        start = [(owner, 10 * role + 1)] if in_english == "own" else []
        return phrase._replace(english=[*start, *phrase.english[1:]])
    wanted = Place(determiner.rstrip("*"), name, determiner.endswith("*"))
    noun, plural = wanted.noun(dice)
    special = said_otherwise(dice, wanted, noun, plural, role, negated)
    return special or with_adjective(dice, wanted, noun, plural, role, owner, negated)


def said_otherwise(
    dice: Dice, place: Place, noun: Noun, plural: bool, role: int, negated: bool
) -> Phrase | None:
    """Sometimes more than a noun: a lot of bread, my brother's bag, another car, bread and butter."""
    determiner, name, starred = place
    if determiner == "some" and not negated and dice.chance(0.2):
        return quantity(dice, noun, role)
    if determiner in ("own", "the") and name in POSSESSED and dice.chance(0.07):
        return of_somebody(dice, noun, plural, role)
    if determiner == "a" and not plural and not noun.mass and not starred and dice.chance(0.05):
        phrase = write_noun_phrase(noun, role, False, "a", [ADJECTIVES["other"]])
        return phrase._replace(english=[("another", 10 * role + 1), phrase.english[-1]])
    if determiner in ("some", "all") and name != "means" and dice.chance(0.08):
        return several(dice, determiner, name, role, negated)
    if determiner == "the" and name in PLACED and not plural and dice.chance(0.06):
        return with_place(dice, noun, role)
    return None


# What the determiners of places are in the grammar.
KNOWN = {"all": "the", "some": "a", "bare": "the", "that": "this", "what": "which"}


def with_adjective(
    dice: Dice, place: Place, noun: Noun, plural: bool, role: int, owner: str, negated: bool
) -> Phrase:
    """A noun, sometimes with an adjective, and its determiner."""
    determiner = place.determiner
    if determiner == "two":
        number = 2 + int(dice.random() * (9 if dice.chance(0.8) else 48))
        plural, determiner = True, str(number)
    elif determiner == "a" and plural:
        determiner = "the"
    wanted = 1 if place.starred else 0 if determiner in ("bare", "which") else ADJECTIVE_SHARE
    chosen, degree = [], ""
    if describing(noun) and dice.chance(wanted):
        adjective = adjective_for(dice, noun)
        adjective, degree = degree_of(dice, determiner, adjective, describing(noun))
        chosen = [adjective]
    elif ranked := rank_of(dice, determiner, noun, plural):
        chosen = [ranked]
    in_grammar = owner if determiner == "own" else KNOWN.get(determiner, determiner)
    phrase = write_noun_phrase(noun, role, plural, in_grammar, chosen)
    if determiner.isdigit() and dice.chance(0.35):
        phrase = in_digits(phrase, int(determiner))
    if phrase.english[0][0] == "a" and phrase.english[1][0][0] in "AEIOU":
        phrase = phrase._replace(english=[("an", 10 * role + 1), *phrase.english[1:]])
    if degree == "such" and not noun.mass:  # "such a big house"
        phrase = phrase._replace(english=[("such", 10 * role + 2), *phrase.english])
    if degree == "most" and dice.chance(0.25):
        phrase = of_all(dice, phrase, role)
    return determined(dice, phrase, determiner, role, negated)


def determined(dice: Dice, phrase: Phrase, determiner: str, role: int, negated: bool) -> Phrase:
    """The phrase with a determiner that the grammar doesn't have: some, any, that, what a, or none."""
    key = 10 * role + 1
    if determiner == "all":
        return phrase._replace(english=phrase.english[1:])
    if determiner == "bare":
        readings = tuple(without_determiner(r) for r in phrase.readings)
        return phrase._replace(english=phrase.english[1:], readings=readings)
    if determiner == "that":
        word = "that" if phrase.third else "those"
        return phrase._replace(english=[(word, key), *phrase.english[1:]])
    if determiner == "some" and (negated or dice.chance(0.6)):
        return phrase._replace(english=[("any" if negated else "some", key), *phrase.english])
    if determiner == "what":  # "what a beautiful house": quelle belle maison
        an = "an" if starts_with_vowel_letter(phrase.english[1][0]) else "a"
        return phrase._replace(english=[("what", key), (an, key), *phrase.english[1:]])
    return phrase


def same_thing(one: Phrase, other: Phrase, place: str) -> bool:
    """Whether two phrases name the same thing: "I speak French and French" is not written; two years are."""
    if one.noun and not place.startswith("two:"):
        return one.noun is other.noun
    return [word for word, _ in one.english] == [word for word, _ in other.english]


def fill_places(places: Sequence[str], fill: Callable[[str, int], Phrase]) -> list[Phrase]:
    """A phrase for each place of a text; one whose name ends in 2 isn't the same as the one before it.

    Args:
        fill: gives a phrase for a place and its role.
    """
    phrases: list[Phrase] = []
    for role, place in enumerate(places, 2):
        phrase = fill(place, role)
        while phrases and place.endswith("2") and same_thing(phrase, phrases[-1], place):
            phrase = fill(place, role)
        phrases.append(phrase)
    return phrases


RANKS = ("next", "last", "first", "second", "same", "only", "other")


def rank_of(dice: Dice, determiner: str, noun: Noun, plural: bool) -> Adjective | None:
    """Sometimes an adjective that says which one it is: the next train, the same room, my favourite shirt."""
    if noun.mass or plural or determiner not in ("the", "own") or not dice.chance(0.04):
        return None
    return ADJECTIVES[dice.pick(RANKS) if determiner == "the" else "favourite"]


def of_all(dice: Dice, phrase: Phrase, role: int) -> Phrase:
    """The best restaurant in the city: le meilleur restaurant de la ville."""
    key = 10 * role + 6
    english, french = dice.pick(OF_ALL)
    there = [(word, key) for word in french.split()]
    readings = tuple(
        r._replace(words=[*r.words, *there], negated=[*r.negated, *there]) for r in phrase.readings
    )
    words = [*phrase.english, *((word, key) for word in english.split())]
    return phrase._replace(english=words, readings=readings)


@cache
def singular(name: str) -> tuple[tuple[Noun, bool], ...]:
    """The nouns of a class that stand in the singular: "{the:carried1}" is never "the keys"."""
    return tuple((noun, plural) for noun, plural in CLASSES[name] if not plural)


def without_determiner(reading: Reading) -> Reading:
    """The same without its first word."""
    words = [word for word in reading.words if word[1] % 10 != 1]
    return reading._replace(words=words, negated=words)


def listed(dice: Dice, name: str, role: int) -> Phrase:
    """A phrase from a list of slots: "Monday", "Anna"."""
    key = 10 * role + 4
    english, french = dice.pick(LISTS[name])
    words = [(word, key) for word in french]
    reading = Reading(words, 2, "m", False, words)
    return Phrase([(word, key) for word in english], (reading,), True)


def fill_english(text: Text, phrases: Sequence[Phrase]) -> list[Word]:
    """The English words of a text."""
    filled: list[Word] = []
    for part in text.parts:
        if isinstance(part, int):
            filled += phrases[part].english
        elif part[0] == "'s":  # of a phrase: {my:relative1}'s
            word, key = filled[-1]
            filled[-1] = (word + "'s", key)
        elif len(part) == 2:
            filled.append(part)
    return filled


def fill_french(
    text: Text, readings: Sequence[Reading], who: Reading | None = None, negated: bool = False
) -> list[Word]:
    """The French words of a text, for one reading of each phrase.

    Args:
        who: the subject, with which adjectives agree.
        negated: whether the verb is: pas *de* pain.
    """
    filled: list[Word] = []
    for part in text.parts:
        if isinstance(part, int):
            # only of the direct object: "never goes to a match" stays à un match
            direct = negated and not filled
            words = readings[part].negated if direct else readings[part].words
            filled += spread(filled[-1][0], words) if filled else words
        elif len(part) == 2:
            filled.append(part)
        else:
            name, key, number = part
            owner = who if number < 0 else readings[number]
            assert owner is not None
            filled.append((ADJECTIVES[name].french[owner.gender][owner.plural], key))
    return without_article(filled) if negated else filled


def spread(before: str, words: Sequence[Word]) -> list[Word]:
    """Several things after a preposition, which stands before each: allergique au lait et aux œufs.

    >>> spread("à+", [("le", 21), ("lait", 24), ("et", 25), ("les", 21), ("œufs", 24)])[2:4]
    [('et', 25), ('à+', 25)]
    """
    if before not in ("à+", "de+"):
        return list(words)
    several = [(word, key) for word, key in words if word in ("et", "ou") and key % 10 == 5]
    if not several:
        return list(words)
    written: list[Word] = []
    for word, key in words:
        written.append((word, key))
        if word == "," or (word, key) in several:
            written.append((before, several[0][1]))
    return written


def without_article(words: list[Word]) -> list[Word]:
    """After a negated verb "un taxi" is "de taxi", "de la fièvre" is "de fièvre".

    >>> without_article([("une", 200), ("douche", 200)])
    [('de', 200), ('douche', 200)]
    """
    if words and words[0][0] in ("un", "une", "des", "du"):
        return [("de", words[0][1]), *words[1:]]
    if len(words) > 1 and words[0][0] == "de" and words[1][0].startswith("l'"):
        return [words[0], (words[1][0].removeprefix("l'"), words[1][1]), *words[2:]]
    if [word for word, _ in words[:2]] == ["de", "la"]:
        return [words[0], *words[2:]]
    return words


def combinations_of(name: str, phrases: Sequence[Phrase]) -> list[Combination]:
    """What may not meet in another split: the text's own word with each noun in it."""
    return [(name, phrase.noun.name) for phrase in phrases if phrase.noun is not None]
