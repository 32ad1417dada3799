"""Names of people, towns, countries, games and languages: what French puts before them."""

from collections.abc import Callable
from itertools import islice

import pytest

from transformer_course.corpus.grammar import mixture, names, pastimes
from transformer_course.corpus.grammar.clauses import french_verb
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, sentences_of
from transformer_course.corpus.grammar.lexicon import VERB
from transformer_course.corpus.grammar.names import Name, from_there, in_or_to
from transformer_course.corpus.grammar.orthography import CAREFUL
from transformer_course.corpus.grammar.spelling import spell
from transformer_course.corpus.grammar.splits import SPLITS
from transformer_course.corpus.pairs import Pair

# Seeds that soon draw a rare sentence.
SEEDS = {"She went to Canada.": 13, "He comes from Spain.": 19, "He visited Italy.": 68}
PLACE = {name.english: name for name in names.NAMES}


def found(rule: Callable[[Dice], Draft], *sources: str) -> Pair:
    """The first pair of a rule with one of the sources, in whatever split."""
    seed = SEEDS.get(sources[0], 2)
    streams = [sentences_of(split, (rule,), Dice(seed), style=CAREFUL) for split in SPLITS]
    for row in islice(zip(*streams, strict=True), 50_000):
        for pair in row:
            if pair.source in sources:
                return pair
    raise AssertionError(f"{rule.__name__} doesn't say {sources}")


@pytest.mark.parametrize(
    ("place", "where", "whence"),
    [
        ("Paris", "à Paris", "de Paris"),
        ("Athens", "à Athènes", "d'Athènes"),
        ("France", "en France", "de France"),
        ("Italy", "en Italie", "d'Italie"),
        ("Japan", "au Japon", "du Japon"),
        ("the United States", "aux États-Unis", "des États-Unis"),
    ],
)
def test_in_to_and_from_a_place(place: str, where: str, whence: str) -> None:
    assert " ".join(spell(in_or_to(PLACE[place]))[0]) == where
    assert " ".join(spell(from_there(PLACE[place]))[0]) == whence


@pytest.mark.parametrize(
    ("rule", "source", "targets"),
    [
        (names.lives_there, "She lives in Japan.", {"Elle habite au Japon.", "Elle vit au Japon."}),
        (
            names.lives_there,
            "We live in Rome.",
            {"Nous habitons à Rome.", "Nous vivons à Rome.", "Nous habitons Rome."},
        ),
        (names.lives_there, "He is in Italy.", {"Il est en Italie."}),
        (names.goes_there, "She went to Canada.", {"Elle est allée au Canada."}),
        (names.goes_there, "He comes from Spain.", {"Il vient d'Espagne."}),
        (names.visits, "He visited Italy.", {"Il a visité l'Italie."}),
        (pastimes.plays, "She plays chess.", {"Elle joue aux échecs."}),
        (pastimes.plays, "He plays tennis.", {"Il joue au tennis."}),
        (pastimes.plays, "He plays hide-and-seek.", {"Il joue à cache-cache."}),
        (pastimes.speaks, "He speaks French.", {"Il parle français.", "Il parle le français."}),
        (pastimes.speaks, "She learned Italian.", {"Elle a appris l'italien."}),
        (names.is_called, "My brother is called Paul.", {"Mon frère s'appelle Paul."}),
        (
            names.is_called,
            "My sister's name is Anna.",
            {"Ma sœur s'appelle Anna.", "Le nom de ma sœur est Anna."},
        ),
    ],
)
def test_sentences_with_names(
    rule: Callable[[Dice], Draft], source: str, targets: set[str]
) -> None:
    assert set(found(rule, source).targets) == targets


def test_two_women_are_feminine_and_a_man_and_a_woman_are_masculine() -> None:
    anna, marie = names.FIRST_NAMES[:2]
    paul = next(name for name in names.FIRST_NAMES if name.english == "Paul")
    assert names.called_so((anna, marie)).readings[0].gender == "f"
    assert names.called_so((anna, paul)).readings[0].gender == "m"
    assert names.called_so((anna,)).third
    assert not names.called_so((anna, paul)).third
    women = names.called_so((anna, marie)).readings[0]
    went = [*women.words, *french_verb(women, VERB["go"], "past")]
    assert " ".join(spell(went)[0]) == "Anna et Marie sont allées"


def test_a_name_keeps_its_capital_within_a_sentence() -> None:
    for pair in islice(sentences_of("train", (pastimes.speaks,), Dice(0)), 200):
        languages = {name.english for name in names.LANGUAGES}
        assert languages & set(pair.source.rstrip(".").split())
        assert not any(name.french.capitalize() in pair.target for name in names.LANGUAGES)


def test_no_two_names_are_the_same() -> None:
    assert len({(name.kind, name.english) for name in names.NAMES}) == len(names.NAMES)
    assert {name.gender for name in names.FIRST_NAMES} == {"m", "f"}
    assert all(isinstance(name, Name) for name in names.NAMES)


@pytest.mark.parametrize("label", ["name", "town or country", "game or language"])
def test_each_kind_of_name_is_a_phenomenon(label: str) -> None:
    for rule in mixture.PHENOMENA[label]:
        assert rule in mixture.RULES
        assert label in rule(Dice(0)).phenomena
