"""Requests: open the window, please; let's go home."""

from transformer_course.corpus.everyday.clauses import POLITE
from transformer_course.corpus.everyday.predicates import (
    ACTIONS,
    ROWS,
    from_table,
    verb_with_object,
)
from transformer_course.corpus.everyday.slots import Text, fill_french
from transformer_course.corpus.everyday.tails import Words, end, keyed_tail
from transformer_course.corpus.grammar.commands import NOUS, TU, VOUS, french_command
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.phrases import Reading
from transformer_course.corpus.grammar.reflexives import OWN


def asks(dice: Dice) -> Draft:
    """Open the window, please. Don't forget your keys! Let's go home."""
    chance = dice.random()
    people: tuple[int, ...] = (TU, VOUS)
    start, negated = "", False
    if chance < 0.2:
        start, negated = ("don't" if dice.chance(0.85) else "do not"), True
    elif chance < 0.36:
        start, people = "let's", (NOUS,)
    polite = chance >= 0.36 and dice.chance(0.45)
    owner = "our" if start == "let's" else "your"
    if dice.chance(0.65):
        rows = [row for row in ROWS if "i" in row.kinds]
        predicate = from_table(dice, rows, owner, negated)
    else:
        predicate = verb_with_object(dice, ACTIONS, "ai", negated)
        while (
            predicate.clitic
            and predicate.english[0][0] in ("you", "me", "us")[: 1 if not start else 3]
        ):
            predicate = verb_with_object(dice, ACTIONS, "ai", negated)
    tail = end(
        dice,
        dice.pick(("future", "future", "habit")) if not start and dice.chance(0.15) else "",
        owner,
        2 + len(predicate.phrases),
    )
    verb = predicate.verb
    english: Words = [(word, 81) for word in start.split()]
    english += [(verb.base, 80), *((word, 80) for word in verb.particle.split())]
    english += [*predicate.english, *tail.english]
    first = polite and dice.chance(0.5)
    if polite:
        english = (
            [("please", POLITE), *english]
            if first
            else [*english, (",", POLITE), ("please", POLITE)]
        )
    n = len(predicate.phrases)

    def french(*readings: Reading) -> Variants:
        registers = {r.register for r in readings}
        variants = []
        for action, rest in predicate.french(None, readings[:n], negated):
            for ending in tail.french or (Text(()),):
                quand = keyed_tail(fill_french(ending, readings[n:]))
                for person in people:
                    if ("vous" in registers and person == TU) or (
                        "tu" in registers and person == VOUS
                    ):
                        continue
                    own: Words = [(OWN[person], 80)] if action.reflexive else []
                    command = french_command(action.verb, person, [*own, *action.clitics], negated)
                    said = "s'il te plaît" if person == TU else "s'il vous plaît"
                    please: Words = [(",", POLITE), *((word, POLITE) for word in said.split())]
                    variants.append([*command, *rest, *quand, *(please if polite else [])])
        return variants

    labels = ["speech", "imperative"]
    mark = "." if polite else dice.pick(".!")
    phrases = [*predicate.phrases, *tail.phrases]
    return Draft(english, phrases, french, labels, predicate.combinations, 2, mark)
