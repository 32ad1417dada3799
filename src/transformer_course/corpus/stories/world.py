"""The world of a story: who is where, who has what, and what was named where (chapter 12)."""

from collections.abc import Sequence

from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.splits import Combination
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.stories.cast import FIT, THERE, Being, Place, Thing
from transformer_course.corpus.stories.labels import Mention
from transformer_course.corpus.stories.templates import Phrase, Template

NEVER = -1


class Named:
    """What can be named, and what pronouns and descriptions can stand for.

    Args:
        name: its English name.
        at: (sentence, word) where it was last named.
    """

    __slots__ = ("at", "name")

    def __init__(self, name: str, at: tuple[int, int] = (NEVER, 0)) -> None:
        self.name = name
        self.at = at


class Site(Named):
    """A place in a story."""

    __slots__ = ("place",)

    def __init__(self, place: Place) -> None:
        super().__init__(place.name)
        self.place = place


class Item(Named):
    """A thing in a story: `holder` has it, or it lies at `site`; `changed` is the sentence that said so."""

    __slots__ = ("changed", "holder", "kept", "lost", "site", "thing")

    def __init__(self, thing: Thing) -> None:
        super().__init__(thing.name)
        self.thing = thing
        self.holder: Actor | None = None
        self.site: Site | None = None
        self.lost = False
        self.kept = False
        self.changed = NEVER


class Meeting(Named):
    """Somebody met `friend` at `site` in the sentence `met`; `at`, `place_at`: where both were last named."""

    __slots__ = ("friend", "met", "place_at", "site")

    def __init__(
        self, friend: "Actor", at: tuple[int, int], site: Site, place_at: tuple[int, int], met: int
    ) -> None:
        super().__init__(friend.name, at)
        self.friend = friend
        self.site = site
        self.place_at = place_at
        self.met = met


class Actor(Named):
    """A person or an animal in a story.

    `moved` and `changed` are the sentences after which the place and the thing are as they are. An actor
    who sleeps does nothing before the sentence `wakes`.
    """

    __slots__ = ("been", "being", "changed", "item", "meetings", "moved", "site", "wakes")

    def __init__(self, being: Being) -> None:
        super().__init__(being.name)
        self.being = being
        self.site: Site
        self.item: Item | None = None
        self.moved = NEVER
        self.changed = NEVER
        self.meetings: list[Meeting] = []
        self.been: list[Site] = []
        self.wakes = NEVER


class World:
    """The state of a story while it is told, and what has been told.

    Args:
        dice: decides everything.
        split: which combinations may meet.
    """

    def __init__(self, dice: Dice, split: str) -> None:
        self.dice = dice
        self.fit = FIT[split]
        self.pairs: list[Pair] = []
        self.mentions: list[Mention] = []
        self.combinations: list[Combination] = []
        self.actors: list[Actor] = []  # those who have been introduced
        self.waiting: list[Actor] = []  # those who haven't
        self.items: list[Item] = []
        self.unseen: list[Item] = []
        self.sites: list[Site] = []
        self.last: Actor | None = (
            None  # he, she: who did something in the sentence before, if it is clear
        )
        self.two: tuple[Actor, Actor] | None = None  # the two of the sentence before
        self.beginning: Meeting  # where the story began
        self.couple = Named("")  # two people, of whom only the gender matters

    def say(
        self, template: Template, phrases: Sequence[Phrase], meant: Sequence[Named]
    ) -> list[tuple[int, int]]:
        """Tell a sentence, and note what it names and what its pronouns stand for.

        Args:
            template: the sentence.
            phrases: one for each of its roles.
            meant: what each role stands for.

        Returns:
            (sentence, word) of each role that has a gap, in the order of the words.
        """
        number = len(self.pairs)
        pair, spots = template.fill(phrases)
        found = []
        for role, word, french, gap, kind in spots:
            entity = meant[role]
            kind = kind or phrases[role].pronoun
            here = (number, word)
            if kind:
                at = entity.at
                self.mentions.append(
                    Mention(number, word, french, kind, entity.name, at, number - at[0])
                )
            else:
                entity.at = here
            if gap:
                found.append(here)
        self.pairs.append(pair)
        return found

    def subject(self, actor: Actor) -> Phrase:
        """A name or a pronoun that begins a sentence; an animal is always clear, a person if just named."""
        if actor.being.animal:
            clear = actor is self.last or self.dice.chance(0.6)
        else:
            clear = actor is self.last and self.dice.chance(0.8)
        return actor.being.subject if clear else actor.being.first

    def here(self, actor: Actor) -> Phrase:
        """Where an actor is: the place, or "there" if that can be known."""
        return THERE if self.dice.chance(0.35) else actor.site.place.there

    def move(self, actor: Actor, site: Site) -> None:
        """The sentence just told has brought an actor to a place."""
        actor.site = site
        actor.moved = len(self.pairs) - 1
        if site not in actor.been:
            actor.been.append(site)

    def receive(self, actor: Actor, item: Item) -> None:
        """The sentence just told has given a thing to an actor."""
        if item.holder is not None:
            item.holder.item = None
            item.holder.changed = len(self.pairs) - 1
        actor.item = item
        actor.changed = item.changed = len(self.pairs) - 1
        item.holder, item.site, item.lost, item.kept = actor, None, False, False
        self.combinations.append((actor.name, item.name))

    def lay(self, item: Item, site: Site) -> None:
        """The sentence just told has left a thing at a place."""
        if item.holder is not None:
            item.holder.item = None
            item.holder.changed = len(self.pairs) - 1
        item.changed = len(self.pairs) - 1
        item.holder, item.site = None, site
        self.combinations.append((item.name, site.name))

    def fits(self, one: Named, other: Named) -> bool:
        """Whether two may come together in this split."""
        return (one.name, other.name) in self.fit

    def clear(self, actor: Actor | None, *others: Actor) -> None:
        """Who "he" or "she" is in the next sentence: the actor, if nobody else named could be."""
        self.two = None
        for other in others:
            if actor and other.being.gender == actor.being.gender and not other.being.animal:
                actor = None
        self.last = actor
