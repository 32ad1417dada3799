"""Forms of words: plurals, feminines, conjugations; what is irregular stands in the lexicon."""

from collections.abc import Sequence

FRENCH_VOWELS = frozenset("aàâeéèêëiîïoôœuùûü")
PRESENT_ENDINGS = {
    "er": ("e", "es", "e", "ons", "ez", "ent"),
    "ir": ("is", "is", "it", "issons", "issez", "issent"),
    "re": ("s", "s", "", "ons", "ez", "ent"),
}
FUTURE_ENDINGS = ("ai", "as", "a", "ons", "ez", "ont")
PARTICIPLE_ENDINGS = {"er": "é", "ir": "i", "re": "u"}
PLURAL_X_AFTER_OU = ("bijou", "caillou", "chou", "genou", "hibou", "joujou", "pou")
DOUBLING = ("appeler", "jeter")  # j'appelle, je jette; the others take è: j'achète


def french_plural(singular: str) -> str:
    """Plural of a French noun or adjective.

    >>> [french_plural(word) for word in ("chat", "souris", "oiseau", "animal", "caillou")]
    ['chats', 'souris', 'oiseaux', 'animaux', 'cailloux']
    """
    if singular[-1] in "sxz":
        return singular
    if singular.endswith(("au", "eu")) and singular not in ("bleu", "pneu"):
        return singular + "x"
    if singular.endswith("al"):
        return singular[:-1] + "ux"
    if singular in PLURAL_X_AFTER_OU:
        return singular + "x"
    return singular + "s"


FEMININE_ENDINGS = (  # the first that fits
    ("e", "e"),
    ("eux", "euse"),
    ("if", "ive"),
    ("er", "ère"),
    ("on", "onne"),
    ("en", "enne"),
    ("el", "elle"),
)


def french_feminine(masculine: str) -> str:
    """Feminine of a French adjective or participle.

    >>> [french_feminine(word) for word in ("rouge", "petit", "heureux", "actif", "léger")]
    ['rouge', 'petite', 'heureuse', 'active', 'légère']
    """
    for ending, feminine in FEMININE_ENDINGS:
        if masculine.endswith(ending):
            return masculine.removesuffix(ending) + feminine
    return masculine + "e"


def agree(masculine: str, gender: str, plural: bool) -> str:
    """Form of a regular adjective or participle.

    >>> agree("tombé", "f", plural=True)
    'tombées'
    """
    form = french_feminine_of_participle(masculine) if gender == "f" else masculine
    return french_plural(form) if plural else form


def french_feminine_of_participle(masculine: str) -> str:
    """Feminine of a participle: always with -e."""
    return masculine + "e"


def french_present(infinitive: str, pattern: str) -> tuple[str, ...]:
    """The six forms of the present.

    >>> " ".join(french_present("manger", "er"))
    'mange manges mange mangeons mangez mangent'
    >>> " ".join(french_present("acheter", "er"))
    'achète achètes achète achetons achetez achètent'
    """
    stem = infinitive[:-2]
    forms = []
    for person, ending in enumerate(PRESENT_ENDINGS[pattern]):
        weak = pattern == "er" and person not in (3, 4)  # the ending is silent
        body = silent_stem(infinitive) if weak else stem
        if ending == "ons" and body.endswith("g"):
            body += "e"  # nous mangeons
        elif ending == "ons" and pattern == "er" and body.endswith("c"):
            body = body[:-1] + "ç"  # nous commençons
        forms.append(body + ending)
    return tuple(forms)


def silent_stem(infinitive: str) -> str:
    """Stem of an -er verb before a silent ending: achet- becomes achèt-, nettoy- nettoi-.

    >>> [silent_stem(verb) for verb in ("acheter", "préférer", "nettoyer", "appeler", "parler")]
    ['achèt', 'préfèr', 'nettoi', 'appell', 'parl']
    """
    stem = infinitive[:-2]
    if infinitive in DOUBLING:
        return stem + stem[-1]
    if stem.endswith("oy"):
        return stem[:-1] + "i"
    head, vowel, tail = split_last_vowel(stem)
    return head + "è" + tail if vowel in ("e", "é") and tail else stem


def split_last_vowel(stem: str) -> tuple[str, str, str]:
    """What comes before the last vowel of a stem, the vowel, what comes after it.

    >>> split_last_vowel("préfér")
    ('préf', 'é', 'r')
    """
    for index in range(len(stem) - 1, -1, -1):
        if stem[index] in FRENCH_VOWELS:
            tail = stem[index + 1 :]
            single = len(tail) == 1 or tail in ("ch", "gn")
            return stem[:index], stem[index], tail if single else ""
    return stem, "", ""


def future_stem(infinitive: str, pattern: str) -> str:
    """What the endings of the future are added to.

    >>> [future_stem(verb, verb[-2:]) for verb in ("manger", "acheter", "préférer", "vendre")]
    ['manger', 'achèter', 'préférer', 'vendr']
    """
    if pattern == "re":
        return infinitive[:-1]
    changed = silent_stem(infinitive) if pattern == "er" else infinitive[:-2]
    if "é" in infinitive[:-2] and pattern == "er":
        changed = infinitive[:-2]  # il préférera: the accent stays
    return changed + infinitive[-2:]


def english_plural(singular: str) -> str:
    """Regular English plural.

    >>> [english_plural(word) for word in ("cat", "box", "story", "boy")]
    ['cats', 'boxes', 'stories', 'boys']
    """
    return with_s(singular)


def with_s(word: str) -> str:
    """An English word with -s, -es or -ies.

    >>> [with_s(word) for word in ("watch", "carry", "play", "go")]
    ['watches', 'carries', 'plays', 'goes']
    """
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeou":
        return word[:-1] + "ies"
    return word + "s"


IMPERFECT_ENDINGS = ("ais", "ais", "ait", "ions", "iez", "aient")
DOUBLED = ("begin", "forget", "prefer", "travel")  # of more than one syllable
VOWELS = frozenset("aeiou")


def french_imperfect(present: Sequence[str]) -> tuple[str, ...]:
    """The six forms of the imparfait, whose stem is that of nous in the present; not for être.

    >>> " ".join(french_imperfect(french_present("manger", "er")))
    'mangeais mangeais mangeait mangions mangiez mangeaient'
    """
    stem = present[3].removesuffix("ons")
    soft = stem[:-1] if stem.endswith("ge") else stem.replace("ç", "c")
    return tuple(
        (soft if ending.startswith("i") else stem) + ending for ending in IMPERFECT_ENDINGS
    )


def french_conditional(future: Sequence[str]) -> tuple[str, ...]:
    """The six forms of the conditional: stem of the future, endings of the imparfait.

    >>> french_conditional(("aurai",))[2]
    'aurait'
    """
    return tuple(future[0].removesuffix("ai") + ending for ending in IMPERFECT_ENDINGS)


def french_imperative(present: Sequence[str], person: int) -> str:
    """The imperative for tu (1), nous (3) or vous (4); not for être, avoir, savoir, vouloir.

    >>> [french_imperative(french_present("manger", "er"), person) for person in (1, 3, 4)]
    ['mange', 'mangeons', 'mangez']
    """
    form = present[person]
    return form[:-1] if person == 1 and form.endswith(("es", "as")) else form


def english_ing(base: str) -> str:
    """The form of an English verb in -ing.

    >>> [english_ing(word) for word in ("eat", "run", "write", "lie", "begin", "see", "open")]
    ['eating', 'running', 'writing', 'lying', 'beginning', 'seeing', 'opening']
    """
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith("ee"):
        return base[:-1] + "ing"
    single = sum(letter in VOWELS for letter in base) == 1 and base[-1] not in VOWELS | set("wxy")
    if base in DOUBLED or (single and len(base) > 2 and base[-2] in VOWELS):
        return base + base[-1] + "ing"
    return base + "ing"
