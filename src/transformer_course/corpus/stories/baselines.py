"""Guesses about stories that understand nothing (chapter 12); a model must do better than these."""

from collections import Counter
from collections.abc import Callable, Sequence

from transformer_course.corpus.stories.cast import ANIMALS, PEOPLE, PLACES, THINGS
from transformer_course.corpus.stories.labels import Mention, Story, words

Summariser = Callable[[Story], str]
Resolver = Callable[[Story, Mention], str]

KIND_OF = {
    **{being.name: "person" for beings in PEOPLE.values() for being in beings},
    **{being.name: "animal" for beings in ANIMALS.values() for being in beings},
    **{thing.name: "thing" for thing in THINGS},
    **{place.name: "place" for place in PLACES},
}


def first_sentence(story: Story) -> str:
    """The first sentence as the summary."""
    return story.sentences[0].source


def last_sentence(story: Story) -> str:
    """The last sentence as the summary."""
    return story.sentences[-1].source


def summary_of(story: Story) -> str:
    """The right summary, in English."""
    return " ".join([pair.source for pair in story.summary])


def most_frequent_summary(training: Sequence[Story]) -> Summariser:
    """Always the most frequent summary of training stories.

    Raises:
        ValueError: if there are no stories.
    """
    if not training:
        raise ValueError("training is empty; there must be at least one story")
    answer = Counter(map(summary_of, training)).most_common(1)[0][0]
    return lambda story: answer


def last_named_beside(story: Story) -> str:
    """Everybody is at the place, and has the thing, that was last named in a sentence with their name."""
    place: dict[str, str] = {}
    thing: dict[str, str] = {}
    for pair in story.sentences:
        named = [word for word in words(pair.source) if word in KIND_OF]
        for actor in [word for word in named if KIND_OF[word] in ("person", "animal")]:
            for word in named:
                if KIND_OF[word] == "place":
                    place[actor] = word
                elif KIND_OF[word] == "thing":
                    thing[actor] = word
    there = {p.name: p.there.english for p in PLACES}
    sentences = []
    for actor in [word for word in place if word in KIND_OF]:
        name = f"The {actor}" if KIND_OF[actor] == "animal" else actor
        has = f"the {thing[actor]}" if actor in thing else "nothing"
        sentences.append(f"{name} is {there[place[actor]]} and has {has}.")
    return " ".join(sentences)


def most_recent(kinds: Sequence[str]) -> Resolver:
    """A mention stands for what was last named before it, if it is of one of the kinds.

    Args:
        kinds: some of "person", "animal", "thing", "place".
    """

    def resolve(story: Story, mention: Mention) -> str:
        said = words(story.sentences[mention.sentence].source)[: mention.word]
        for number in range(mention.sentence, -1, -1):
            for word in reversed(said):
                if KIND_OF.get(word) in kinds:
                    return word
            if number:
                said = words(story.sentences[number - 1].source)
        return ""

    return resolve


def most_frequent_entity(training: Sequence[Story]) -> Resolver:
    """Always what mentions of training stories stand for most often.

    Raises:
        ValueError: if there are no mentions.
    """
    found = Counter(mention.entity for story in training for mention in story.mentions)
    if not found:
        raise ValueError("training holds no mention; there must be at least one")
    return lambda story, mention: found.most_common(1)[0][0]


SUMMARIES: dict[str, Summariser] = {
    "first sentence": first_sentence,
    "last sentence": last_sentence,
    "last named beside": last_named_beside,
}
ANTECEDENTS: dict[str, Resolver] = {
    "last noun or name": most_recent(("person", "animal", "thing", "place")),
    "last person": most_recent(("person",)),
    "last thing": most_recent(("thing",)),
    "last place": most_recent(("place",)),
}
