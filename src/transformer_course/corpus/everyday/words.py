"""The verbs and adjectives of everyday speech by their names, those of the grammar and those that it lacks."""

from transformer_course.corpus.grammar import lexicon


def read_table(name: str) -> list[list[str]]:
    """Rows of a table in `data`, without comment and heading.

    >>> read_table("adjectives")[0][:3]
    ['hurried', '', 'pressé']
    """
    return list(lexicon.read_table(name, __package__))


OWN = [lexicon.make_verb(*row) for row in read_table("verbs")]
OWN_ADJECTIVES = [lexicon.make_adjective(*row) for row in read_table("adjectives")]
ADJECTIVES = lexicon.ADJECTIVE | {adjective.name: adjective for adjective in OWN_ADJECTIVES}
# By their English names; and by their French infinitives, with what belongs to them: "avoir besoin".
ENGLISH = {
    verb.name: verb for verb in (*reversed(lexicon.REFLEXIVES), *reversed(lexicon.VERBS), *OWN)
}
FRENCH = {
    f"{verb.infinitive} {verb.complement}".strip(): verb
    for verb in (*OWN, *reversed(lexicon.VERBS))
}
REFLEXIVE = {verb.infinitive: verb for verb in (*OWN, *lexicon.REFLEXIVES) if verb.etre}
