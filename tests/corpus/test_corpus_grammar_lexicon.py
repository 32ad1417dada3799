"""Every French form of the grammar's lexicon against Lefff, an independent lexicon.

Lefff (Sagot 2010) comes as two npm packages, for tests only; `python tools/fetch_vendor.py` installs
them. What Lefff lacks or has otherwise is listed below, each with its reason, and nothing else.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from transformer_course.corpus.everyday import slots, words
from transformer_course.corpus.grammar import (
    clauses,
    commands,
    idioms,
    irregular_commands,
    morphology,
    parts,
)
from transformer_course.corpus.grammar.lexicon import (
    ADJECTIVES,
    NOUNS,
    PROFESSIONS,
    REFLEXIVES,
    VERBS,
    Noun,
    Verb,
)

MODULES = Path(__file__).parents[2] / "tools" / "node_modules"
MISSING = "Lefff is not installed: run `python tools/fetch_vendor.py`"


def load(package: str, name: str, needs: Any) -> dict[str, Any]:
    file = MODULES / package / "dist" / name
    needs(file.is_file(), MISSING)
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


@pytest.fixture(scope="module")
def conjugations(needs: Any) -> dict[str, Any]:
    return load("french-verbs-lefff", "conjugations.json", needs)


@pytest.fixture(scope="module")
def genders(needs: Any) -> dict[str, Any]:
    return load("french-words-gender-lefff", "words.json", needs)


# être: below; of asseoir Lefff has the other conjugation, il s'assoit
SPOKEN = [verb for verb in words.OWN if verb.infinitive not in ("être", "asseoir")]


@pytest.mark.parametrize(
    "verb", [*VERBS, *REFLEXIVES, *SPOKEN], ids=lambda verb: f"{verb.name}-{verb.infinitive}"
)
def test_conjugation(verb: Verb, conjugations: dict[str, Any]) -> None:
    forms = conjugations[verb.infinitive]
    if verb.infinitive in (
        "payer",
        "essayer",
    ):  # il paie and il paye are right; Lefff has the other
        mute = re.compile(r"ay(?=e(s|nt|r\w*)?$)")
        forms = {tense: [mute.sub("ai", form) for form in forms[tense]] for tense in "PFKIC"}
    present = list(verb.present)
    if verb.infinitive == "pouvoir":
        assert present[0] == "peux"  # Lefff gives the other right form, puis
        present[0] = "puis"
    assert present == forms["P"]
    assert list(verb.future) == forms["F"]
    assert [verb.participle] == forms["K"][:1]
    assert list(clauses.forms(verb, "imperfect")) == forms["I"]
    assert list(clauses.forms(verb, "conditional")) == forms["C"]


COMMANDED = dict.fromkeys(
    (*commands.DONE, *commands.DOING, *commands.HANDED, *parts.MOTION, *REFLEXIVES)
)


@pytest.mark.parametrize("verb", COMMANDED, ids=lambda verb: f"{verb.name}-{verb.infinitive}")
def test_imperative(verb: Verb, conjugations: dict[str, Any]) -> None:
    wanted = conjugations[verb.infinitive]["Y"]
    found = [morphology.french_imperative(verb.present, person) for person in (1, 3, 4)]
    assert found == [wanted[person] for person in (1, 3, 4)]


def test_imperative_of_etre(conjugations: dict[str, Any]) -> None:
    wanted = conjugations["être"]["Y"]
    assert {person: wanted[person] for person in (1, 3, 4)} == irregular_commands.BE
    for infinitive, forms in (
        ("avoir", irregular_commands.HAVE),
        ("savoir", irregular_commands.KNOW),
    ):
        wanted = conjugations[infinitive]["Y"]
        assert {person: wanted[person] for person in (1, 3, 4)} == forms
    assert list(clauses.BE["conditional"]) == conjugations["être"]["C"]


@pytest.mark.parametrize(
    "verb", [v for v in VERBS if v.etre], ids=lambda verb: f"{verb.name}-{verb.infinitive}"
)
def test_participles_that_agree(verb: Verb, conjugations: dict[str, Any]) -> None:
    ms, mp, fs, fp = conjugations[verb.infinitive]["K"]
    wanted = {("m", False): ms, ("m", True): mp, ("f", False): fs, ("f", True): fp}
    for (gender, plural), form in wanted.items():
        assert morphology.agree(verb.participle, gender, plural) == form


@pytest.mark.parametrize("tense", ["present", "past", "future"])
@pytest.mark.parametrize(("forms", "infinitive"), [(clauses.BE, "être"), (idioms.HAVING, "avoir")])
def test_etre_and_avoir(
    forms: dict[str, tuple[str, ...]], infinitive: str, tense: str, conjugations: dict[str, Any]
) -> None:
    key = {"present": "P", "past": "I", "future": "F"}[tense]
    assert list(forms[tense]) == conjugations[infinitive][key]


@pytest.mark.parametrize("noun", [*NOUNS, *slots.OWN_NOUNS.values()], ids=lambda noun: noun.name)
def test_gender(noun: Noun, genders: dict[str, Any]) -> None:
    head = noun.french[0].split(" ")[0]
    listed = genders.get(head.replace("œ", "oe"))  # Lefff writes soeur, oeuf
    if head in NOT_IN_LEFFF:
        assert listed is None
        assert noun.gender == NOT_IN_LEFFF[head]
    else:
        assert listed == noun.gender.upper()


def test_trades(genders: dict[str, Any]) -> None:
    for _, masculine, feminine in PROFESSIONS:
        assert genders.get(masculine.split("/")[0], "M") == "M"
        for form in feminine.split("/"):
            assert genders.get(form) in (None, "F") or form in masculine.split("/")


def test_adjectives_that_are_participles(conjugations: dict[str, Any]) -> None:
    """Lefff's two packages have no adjectives but those that are participles too."""
    participles = {forms["K"][0]: forms["K"] for forms in conjugations.values() if forms.get("K")}
    checked = 0
    for adjective in (*ADJECTIVES, *words.ADJECTIVES.values()):
        if adjective.french["m"][0] in participles and adjective.name != "deserted":
            ms, mp, fs, fp = participles[adjective.french["m"][0]]
            assert adjective.french == {"m": (ms, mp), "f": (fs, fp)}
            checked += 1
    assert checked >= 15


# Missing in Lefff's list, most because they have two genders there (un livre, une livre); ours is that of
# the meaning that the English word gives.
NOT_IN_LEFFF = {
    "pirate": "m",
    "aigle": "m",
    "souris": "f",
    "chèvre": "f",
    "orange": "f",
    "livre": "m",
    "trompette": "f",
    "tour": "f",
    "cave": "f",
    "rose": "f",
    "plume": "f",
    "poste": "f",
    "vidéo": "f",
    "enfant": "m",
    "pompier": "m",
    "élève": "m",
    "touriste": "m",
    "crème": "f",
    "prune": "f",
    "crêpe": "f",
    "radio": "f",
    "pied": "m",
    # Everyday speech: plurals, and people who may be men or women.
    "petit-déjeuner": "m",
    "parents": "m",
    "enfants": "m",
    "dentiste": "m",
    "collègue": "m",
    "lunettes": "f",
    "vacances": "f",
    "légumes": "m",
    "frites": "f",
    "vêtements": "m",
    "devoirs": "m",
    "cheveux": "m",
    "gens": "m",
    "petits-enfants": "m",
    "page": "f",
    "burger": "m",
    "pâtes": "f",
    "noix": "f",
    "bagages": "m",
    "grands-parents": "m",
}
