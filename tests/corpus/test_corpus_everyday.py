"""Everyday speech: modes, places in texts, requests, and all that the rules write."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from transformer_course.corpus import everyday, grammar
from transformer_course.corpus.everyday import (
    clauses,
    compounds,
    patterns,
    predicates,
    slots,
    tails,
)
from transformer_course.corpus.everyday.modes import MODES, Action, english_group, french_groups
from transformer_course.corpus.everyday.words import ENGLISH, FRENCH, REFLEXIVE
from transformer_course.corpus.grammar import phrase_book
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, sentences_of
from transformer_course.corpus.grammar.mixture import Rule
from transformer_course.corpus.grammar.orthography import CAREFUL
from transformer_course.corpus.grammar.phrases import Reading, pronoun
from transformer_course.corpus.grammar.spelling import Word, join, spell
from transformer_course.corpus.pairs import Pair

PAGE = Path(__file__).parents[2] / "book" / "corpus.md"


def english(words: list[Word]) -> str:
    return " ".join(word for word, _ in words)


def french(words: list[Word]) -> str:
    return join(spell(words)[0])


@pytest.mark.parametrize(
    ("who", "verb", "mode", "form", "negation", "said"),
    [
        ("i", "sleep", "present", "", "", "i sleep"),
        ("she", "sleep", "present", "", "", "she sleeps"),
        ("she", "sleep", "present", "", "not", "she doesn't sleep"),
        ("she", "sleep", "present", "?", "", "does she sleep"),
        ("she", "sleep", "present", "?", "not", "doesn't she sleep"),
        ("they", "be", "present", "", "", "they are"),
        ("they", "be", "present", "?", "", "are they"),
        ("i", "be", "was", "", "not", "i wasn't"),
        ("he", "eat", "past", "", "", "he ate"),
        ("he", "eat", "past", "", "not", "he didn't eat"),
        ("he", "eat", "perfect", "", "never", "he has never eaten"),
        ("you", "eat", "perfect", "?", "", "have you eaten"),
        ("we", "turn on", "progressive", "", "", "we are turning on"),
        ("we", "go", "going to", "?", "", "are we going to go"),
        ("i", "go", "been doing", "", "", "i have been going"),
        ("she", "go", "want to", "", "", "she wants to go"),
        ("she", "go", "wanted to", "", "not", "she didn't want to go"),
        ("he", "go", "have to", "", "", "he has to go"),
        ("he", "go", "have to", "?", "", "does he have to go"),
        ("he", "go", "had to", "", "", "he had to go"),
        ("you", "go", "could you", "?", "", "could you go"),
        ("you", "go", "can", "", "not", "you can't go"),
        ("she", "go", "would like to", "", "", "she would like to go"),
        ("she", "work", "present", "", "no longer", "she doesn't work"),
        ("i", "see", "perfect", "", "not yet", "i haven't seen"),
    ],
)
def test_english(who: str, verb: str, mode: str, form: str, negation: str, said: str) -> None:
    words = english_group(
        pronoun(who, 1),
        ENGLISH[verb],
        MODES[mode],
        asked=bool(form),
        negation=negation,
        short=True,
        adverb="",
    )
    assert english(words) == said


TEST_MODES = [
    ("i", "dormir", "present", "", "", ["je dors"]),
    ("you", "dormir", "present", "?", "", ["est-ce que tu dors", "dors-tu"]),
    ("i", "dormir", "can", "?", "", ["est-ce que je peux dormir", "puis-je dormir"]),
    ("i", "dormir", "present", "?", "", ["est-ce que je dors"]),
    ("she", "dormir", "want to", "?", "", ["est-ce qu'elle veut dormir", "veut-elle dormir"]),
    ("he", "aller", "perfect", "", "never", ["il n'est jamais allé"]),
    ("she", "aller", "past", "", "", ["elle est allée"]),
    ("we", "manger", "had to", "", "", ["nous avons dû manger", "nous devions manger"]),
    ("we", "manger", "going to", "", "not", ["nous n'allons pas manger", "nous ne mangerons pas"]),
    (
        "they",
        "manger",
        "could not",
        "",
        "not",
        ["ils n'ont pas pu manger", "ils ne pouvaient pas manger"],
    ),
    ("he", "manger", "don't have to", "", "not", ["il n'a pas besoin de manger"]),
    ("he", "voir", "perfect", "", "not yet", ["il n'a pas encore vu"]),
    ("he", "travailler", "present", "", "no longer", ["il ne travaille plus"]),
    ("he", "être", "was", "", "", ["il était"]),
    ("she", "se lever", "past", "", "", ["elle s'est levée"]),
    ("i", "se lever", "want to", "", "not", ["je ne veux pas me lever"]),
    ("we", "se lever", "been doing", "", "", ["nous nous levons"]),
    ("i", "avoir besoin", "present", "", "", ["j'ai besoin"]),
]


@pytest.mark.parametrize(("who", "verb", "mode", "form", "negation", "said"), TEST_MODES)
def test_french(who: str, verb: str, mode: str, form: str, negation: str, said: list[str]) -> None:
    reflexive = verb.startswith("se ")
    action = Action(REFLEXIVE[verb[3:]] if reflexive else FRENCH[verb], reflexive)
    reading = next(
        r for r in pronoun(who, 1).readings if r.gender == ("f" if who == "she" else "m")
    )
    groups = french_groups(
        reading, action, MODES[mode], asked=bool(form), negation=negation, adverb=""
    )
    assert [french(words) for words in groups] == said


def test_object_pronouns_stand_before_the_verb_that_they_belong_to() -> None:
    who = pronoun("i", 1).readings[0]
    her = Reading([("la", 24)], 2, "f", False, [])
    action = Action(FRENCH["voir"], False, (("la", 24),), her)
    said = [
        french(french_groups(who, action, MODES[mode], asked=False, negation="not", adverb="")[0])
        for mode in ("past", "want to", "had to")
    ]
    assert said == ["je ne l'ai pas vue", "je ne veux pas la voir", "je n'ai pas dû la voir"]


@pytest.mark.parametrize(
    ("place", "pairs"),
    [
        ("own:luggage", {"her bag": "son sac", "her suitcase": "sa valise"}),
        (
            "some:drunk",
            {"some milk": "du lait", "water": "de l'eau", "too much tea": "trop de thé"},
        ),
        ("all:eaten", {"vegetables": "les légumes", "soup": "la soupe"}),
        ("bare:drunk", {"milk": "lait", "water": "eau"}),
        ("that:luggage", {"that bag": "ce sac"}),
        ("a:vehicle", {"a car": "une voiture", "another bus": "un autre bus"}),
        ("what*:dwelling", {"what a big house": "quelle grande maison"}),
        ("bare/your:luggage", {"bag": "ton sac"}),
        (
            "the:carried1",
            {"the key": "la clé"},
        ),
        ("two:years", {"two years": "deux ans"}),
        ("day", {"Monday": "lundi"}),
    ],
)
def test_places(place: str, pairs: dict[str, str]) -> None:
    dice = Dice(1)
    found = {}
    for _ in range(6000):
        phrase = slots.draw(dice, place, 2, "her")
        found[english(phrase.english)] = french(phrase.readings[0].words)
    assert {key: found.get(key) for key in pairs} == pairs


@pytest.mark.parametrize(
    ("place", "pairs"),
    [
        # Food is what one has some of; what can be counted stands in the plural.
        (
            "all:likeable",
            {
                "fish": "le poisson",
                "meat": "la viande",
                "chicken": "le poulet",
                "pizza": "la pizza",
                "coffee": "le café",
                "apples": "les pommes",
                "dogs": "les chiens",
                "strawberries": "les fraises",
                "vegetables": "les légumes",
                "pasta": "les pâtes",
            },
        ),
        ("some:treat", {"fish": "du poisson", "some cake": "du gâteau", "fruit": "des fruits"}),
        ("bare:eaten1", {"fish": "poisson", "rice": "riz"}),
        (
            "a*:goods",
            {
                "a bigger house": "une plus grande maison",
                "a smaller car": "une plus petite voiture",
                "a cheaper hotel": "un hôtel moins cher",
                "a more comfortable chair": "une chaise plus confortable",
                "a very expensive car": "une voiture très chère",
                "such a beautiful hotel": "un si bel hôtel",
                "an older car": "une plus vieille voiture",
                "a German car": "une voiture allemande",
                "an Italian restaurant": "un restaurant italien",
            },
        ),
        ("a*:lodging", {"a small but nice hotel": "un hôtel petit mais agréable"}),
        (
            "a*:matter1",
            {"a better idea": "une meilleure idée", "a worse mistake": "une pire erreur"},
        ),
        (
            "the*:goods",
            {
                "the best restaurant in the city": "le meilleur restaurant de la ville",
                "the biggest room": "la plus grande chambre",
                "the most expensive car": "la voiture la plus chère",
                "the cheapest hotel in town": "l'hôtel le moins cher de la ville",
            },
        ),
        (
            "the:vehicle",
            {"the next train": "le prochain train", "the first boat": "le premier bateau"},
        ),
        ("own:worn", {"her favourite shirt": "sa chemise préférée"}),
        ("my:friends", {"my parents": "mes parents"}),
        (
            "date",
            {
                "March 14": "le 14 mars",
                "the 14th of March": "le 14 mars",
                "1 May": "le 1er mai",
                "July 2nd": "le 2 juillet",
            },
        ),
        ("clock", {"8:30": "8 h 30", "3 pm": "15 h", "12 am": "0 h", "12 pm": "12 h"}),
        ("in country", {"France": "en France", "Japan": "au Japon"}),
        ("from country", {"Italy": "d'Italie", "the United States": "des États-Unis"}),
    ],
)
def test_places_of_all_sorts(place: str, pairs: dict[str, str]) -> None:
    dice = Dice(1)
    found = {}
    for _ in range(60_000):
        phrase = slots.draw(dice, place, 2, "her")
        found[join(english(phrase.english).split())] = french(phrase.readings[0].words)
    assert {key: found.get(key) for key in pairs} == pairs


def test_a_date_with_its_year() -> None:
    """With a comma and without one; French has none."""
    dice = Dice(1)
    drawn = [slots.draw(dice, "full date", 2) for _ in range(2000)]
    said = {join(english(p.english).split()): french(p.readings[0].words) for p in drawn}
    for text, date in said.items():
        day, year = re.search(r"\d{1,2}(?!\d)", text), re.search(r"\d{4}", text)
        assert day
        assert year
        number = "1er" if day.group() == "1" else day.group()
        assert re.fullmatch(rf"le {number} \S+ {year.group()}", date), (text, date)
    assert any("," in text for text in said)
    assert any("," not in text for text in said)


def test_fish_that_english_does_not_count() -> None:
    for pair in everyday.generate("train", 40_000, 4, CAREFUL):
        if re.search(r"\b(eat|eats|like|likes|hate|some|any|buy|bought) fish", pair.source):
            assert "poissons" not in pair.target, pair


@pytest.fixture(scope="module")
def typed() -> list[Pair]:
    rules: tuple[tuple[Rule, int], ...] = (
        (patterns.pattern, 60_000),
        (clauses.says, 30_000),
        (compounds.would_if, 10_000),
    )
    return [pair for rule, n in rules for pair in written(rule, n)]


@pytest.mark.parametrize(
    ("said", "translated"),
    [
        (r"If I had a (car|dog|job|new \w+), .*", r"Si j'avais .*"),
        (r"I would buy .*, if .*|I would buy .* if .*", r"J.*achèterais .*s(i |')[^,]+"),
        (r"I was born on \w+ \d+, \d+\.", r"Je suis née? le \d+(er)? \S+ \d+\."),
        (r"Yesterday,? I .*", r"Hier, j.*"),
        (r"I am \d+ years old\.", r"J'ai \d+ ans\."),
        (r"How often do you .*", r"À quelle fréquence .*"),
        (r"I moved here last \w+\.", r"J'ai emménagé ici .* derni(er|ère)\."),
        (r"I .* (at|in) the hospital\.", r"Je?('| ).* à l'hôpital\."),
        (r"I will .* this winter\.", r"J(e |').* cet hiver\."),
        (r".* (am|is|are) on the phone\.", r".* au téléphone\."),
        (r"I .* in bed\.", r"Je?('| ).* au lit\."),
        (r"I have never been to France\.", r"Je ne suis jamais allée? en France\."),
        (r".* (like|likes|love|loves) fish\.", r".* le poisson\."),
        (r".* (doesn't|don't) eat (any )?fish\.", r".* pas de poisson\."),
    ],
)
def test_what_newcomers_type(said: str, translated: str, typed: list[Pair]) -> None:
    """There are sentences like these, and all of them are right."""
    found = [pair for pair in typed if re.fullmatch(said, pair.source)]
    assert found
    for pair in found:
        assert any(re.fullmatch(translated, target) for target in pair.targets), pair


def test_clothes_are_neither_such_a_thing_nor_more_of_it() -> None:
    """A plural has "the" where the place asks for "a": its adjectives have no degrees of "a"."""
    dice = Dice(7)
    said = {english(slots.draw(dice, "a*:bought", 2).english) for _ in range(20_000)}
    assert any(text.startswith("such a ") for text in said)
    assert not any(re.match(r"such (?!an? )|the (very|more)\b", text) for text in said)


def test_nobody_is_taller_than_oneself() -> None:
    sources = [pair.source for pair in written(compounds.would_if, 6000)]
    assert not [
        text for text in sources if re.search(r"\bI (was|wasn't|was not) [^,]*\bme\b", text)
    ]


def test_a_singular_place_has_no_plurals() -> None:
    dice = Dice(2)
    drawn = [slots.draw(dice, "the:carried1", 2) for _ in range(300)]
    assert all(phrase.third for phrase in drawn)


def test_any_and_some() -> None:
    dice = Dice(3)
    negated = {english(slots.draw(dice, "some:drunk", 2, negated=True).english) for _ in range(300)}
    assert "any milk" in negated
    assert not any(text.startswith("some ") for text in negated)


def every_row() -> Iterator[str]:
    """The texts of all tables."""
    for row in predicates.ROWS:
        yield from row.places
    for one in patterns.PATTERNS:
        yield from one.places
    for tail in itertools.chain(*tails.TAILS.values()):
        yield from tail.places


@pytest.mark.parametrize("place", sorted(set(every_row()) - {"dat"}))
def test_every_place_can_be_filled(place: str) -> None:
    dice = Dice(4)
    for _ in range(20):
        assert tails.filled(dice, place, 2).english


def written(rule: Rule, n: int, split: str = "train") -> list[Pair]:
    return list(itertools.islice(sentences_of(split, (rule,), Dice(5), style=CAREFUL), n))


TU = re.compile(r"\b(tu|te|t'|ton|ta|tes|toi)\b", re.IGNORECASE)
VOUS = re.compile(r"\b(votre|vos)\b", re.IGNORECASE)
UNSPELLED = re.compile(
    r"\b(de|à) (le|les)\b(?! (\w+er|\w+ir|\w+re)\b)"  # not "décider de le lire"
    r"|(?<!-)\b(que|je|ne|se|me|te|de|le|la|ce) [aeéèêiouœâî]"
    r"|[{}<>\[\]|@*~_]|  "
)
# "le onze", "me et": what may stand before a vowel
ALLOWED = re.compile(r"\b(de|que|le) (onze|oui)")


@pytest.mark.parametrize("rule", everyday.RULES, ids=lambda rule: rule.__name__)
def test_what_a_rule_writes(rule: Rule) -> None:
    """Spelled and marked as French is; nobody is tu and vous; the right answers are different ones."""
    pairs = written(rule, 1500)
    assert len({pair.source for pair in pairs}) > 150
    for pair in pairs:
        assert pair.source[-1] in ".?!"
        assert len(set(pair.targets)) == len(pair.targets)
        for target in pair.targets:
            text = ALLOWED.sub("un", target)
            assert not UNSPELLED.search(text), target
            assert target[0].isupper()
            assert not (TU.search(target) and VOUS.search(target)), target
            assert target.endswith((" ?", " !")) == (pair.source[-1] in "?!"), target


def test_alignments_point_at_words() -> None:
    for rule in everyday.RULES:
        for pair in written(rule, 200):
            n_source, n_target = pair.source.split(), pair.target.split()
            assert pair.alignment
            assert max(i for i, _ in pair.alignment) <= len(n_source) + pair.source.count(",")
            assert max(j for _, j in pair.alignment) <= len(n_target) + pair.target.count(",")


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_each_split_has_all_kinds_of_sentences(split: str) -> None:
    for rule in everyday.RULES:
        assert len(written(rule, 30, split)) == 30


def test_splits_share_hardly_a_sentence() -> None:
    """A sentence that two rules write may have another combination by each: "I need a book"."""
    drawn = {
        split: {pair.source for pair in everyday.generate(split, 6000, 5, CAREFUL)}
        for split in ("train", "test")
    }
    assert len(drawn["train"] & drawn["test"]) < 0.002 * len(drawn["test"])


def test_the_same_seed_gives_the_same_pairs() -> None:
    one, two = (list(everyday.generate("train", 300, 7)) for _ in range(2))
    assert one == two
    assert one != list(everyday.generate("train", 300, 8))


def test_the_grammar_s_sentences_are_in_it() -> None:
    labels = {label for pair in everyday.generate("train", 20_000, 1) for label in pair.phenomena}
    assert labels >= set(grammar.PHENOMENA)
    assert "speech" in labels


def test_it_leaves_the_grammar_as_it_is() -> None:
    """Its hours without o'clock are in its own lists, and in its phrases, not in those of the grammar."""
    assert ["six"] not in [english for english, _ in phrase_book.SLOTS["hour"]]
    assert ["six"] in [english for english, _ in slots.LISTS["hour"]]
    sources = [p.source for p in everyday.generate("train", 100_000, 3, CAREFUL)]
    assert any(re.fullmatch(r"See you at (six|seven|ten|half past six).", s) for s in sources)


def test_contractions_are_as_frequent_as_full_forms() -> None:
    sources = [pair.source.lower() for pair in everyday.generate("train", 20_000, 2)]
    short = sum("i'm " in source for source in sources)
    full = sum(re.search(r"\bi am ", source) is not None for source in sources)
    assert 0.5 < short / full < 2


@pytest.mark.parametrize("bad", [("dev", 1), ("train", -1), ("train", 1, -1)])
def test_bad_arguments_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"split|n |seed"):
        everyday.generate(*bad)


def test_a_clause_can_be_in_a_wanted_mode() -> None:
    dice = Dice(6)
    drafts: list[Draft] = [
        clauses.clause(dice, asked=False, tails=0, wanted="going to") for _ in range(40)
    ]
    assert all(" going to " in f" {english(draft.english)} " for draft in drafts)


def test_the_numbers_of_the_book_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    n_tails = len({id(tail) for group in tails.TAILS.values() for tail in group})
    assert f"| {len(predicates.ROWS)} rows, and the verbs" in page
    assert f"| tenses and modal verbs | {len(MODES)} |" in page
    assert f"| times, places, companions | {n_tails} |" in page
    assert f"with places for nouns | {len(patterns.PATTERNS)} |" in page
    share = sum("speech" in p.phenomena for p in everyday.generate("train", 5000, 9)) / 5000
    assert 0.4 < share < 0.5  # "a little more than half are the grammar's"
