"""Requests that arrive together are translated together (chapter 14): one queue, one thread that translates.

While a batch is translated, new requests wait; all that have come by its end are the next batch. So a single
request waits for nobody, and the more there are, the larger the batches become, and the less a sentence costs.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from transformer_course.lines import Answer

_REMEMBERED = 100  # batches; a server may run for months
Translate = Callable[[list[str], int], Sequence[Answer]]


class BusyError(Exception):
    """Too many sentences are waiting already."""


@dataclass
class _Job:
    sentences: list[str]
    beam: int
    answers: "asyncio.Future[list[Answer]]"


class Batcher:
    """Translates in batches what several callers ask for.

    Args:
        translate: gives an answer for each sentence, for a width of the beam; called in a thread of its own.
        batch: most sentences of a batch; a larger request is a batch by itself.
        waiting: most sentences that may be waiting or in work.

    Attributes:
        sizes: how many sentences each batch had; of the last hundred batches.
        open: sentences that are waiting or in work.
    """

    def __init__(self, translate: Translate, batch: int = 64, waiting: int = 1024) -> None:
        self._translate, self._batch, self._waiting = translate, batch, waiting
        self._jobs: deque[_Job] = deque()
        self._something = asyncio.Event()
        self.sizes: deque[int] = deque(maxlen=_REMEMBERED)
        self.open = 0

    async def translate(self, sentences: list[str], beam: int) -> list[Answer]:
        """Wait for the answers to some sentences.

        Args:
            sentences: at least one.
            beam: width of the beam.

        Returns:
            The answers, in the order of the sentences.

        Raises:
            BusyError: if too many others are waiting.
        """
        if self.open + len(sentences) > self._waiting:
            raise BusyError(f"{self.open} sentences are waiting, at most {self._waiting} may")
        job = _Job(sentences, beam, asyncio.get_running_loop().create_future())
        self.open += len(sentences)
        self._jobs.append(job)
        self._something.set()
        try:
            return await job.answers
        finally:
            self.open -= len(sentences)

    async def run(self) -> None:
        """Translate one batch after the other, until the task is cancelled."""
        with ThreadPoolExecutor(1, "translating") as thread:
            while True:
                await self._something.wait()
                if jobs := self._next():
                    await self._answer(jobs, thread)
                else:
                    self._something.clear()

    def _next(self) -> list[_Job]:
        """The oldest request, and those behind it that fit: with the same beam, up to a whole batch."""
        jobs: list[_Job] = []
        count = 0
        while self._jobs:
            job = self._jobs[0]
            if job.answers.done():  # whoever asked has gone
                self._jobs.popleft()
                continue
            count += len(job.sentences)
            if jobs and (job.beam != jobs[0].beam or count > self._batch):
                break
            jobs.append(self._jobs.popleft())
        return jobs

    async def _answer(self, jobs: list[_Job], thread: ThreadPoolExecutor) -> None:
        sentences = [sentence for job in jobs for sentence in job.sentences]
        self.sizes.append(len(sentences))
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(thread, self._translate, sentences, jobs[0].beam)
        except Exception as error:  # each caller is told; the next batch is translated
            for job in jobs:
                if not job.answers.done():
                    job.answers.set_exception(error)
            return
        answers = iter(found)
        for job in jobs:
            own = [next(answers) for _ in job.sentences]
            if not job.answers.done():
                job.answers.set_result(own)
