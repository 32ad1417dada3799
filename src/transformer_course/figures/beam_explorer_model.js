// What the figure "beam search, step by step" computes, from stored log-probabilities.

const END = "</s>";

/** What the sum of log-probabilities is divided by. */
export function penalty(length, alpha) {
  return ((5 + length) / 6) ** alpha;
}

/** The text that pieces spell; "\u2581" stands for a space. */
export function spelled(pieces) {
  return pieces
    .filter((piece) => piece !== END)
    .join("")
    .replaceAll("\u2581", " ")
    .trim();
}

/** Whether no open beginning can become the best any more. */
export function over(finished, best, beam, length, alpha, maxLen) {
  if (finished.length < beam) return false;
  if (beam === 1) return true;
  const bound = best / penalty(alpha > 0 ? maxLen : length, alpha);
  return Math.max(...finished.map((f) => f.score)) >= bound;
}

/** The best continuations of all beginnings, twice as many as the beam is wide. */
function continued(branches, kept, beam) {
  const all = kept.flatMap(({ pieces, total }, parent) =>
    (branches[pieces.join(" ")] ?? []).map(([piece, logProb]) => ({
      pieces: [...pieces, piece],
      parent,
      logProb,
      total: total + logProb,
    })),
  );
  return all.sort((a, b) => b.total - a.total).slice(0, 2 * beam);
}

/** Give each candidate its fate: it ends a sentence, stays open, or is dropped. */
function judge(candidates, beam) {
  let open = 0;
  candidates.forEach((candidate, rank) => {
    if (candidate.pieces.at(-1) === END) {
      candidate.fate = rank < beam ? "ends" : "dropped";
    } else {
      candidate.fate = open < beam ? "stays" : "dropped";
      open += 1;
    }
  });
}

/** All steps of a beam search: its candidates with what becomes of them, what is kept, what is finished. */
export function searched(branches, beam, alpha, maxLen) {
  let kept = [{ pieces: [], total: 0 }];
  const finished = [];
  const steps = [];
  for (let length = 1; length <= maxLen; length += 1) {
    const scored = (candidate) => ({ ...candidate, length, score: candidate.total / penalty(length, alpha) });
    const candidates = continued(branches, kept, beam);
    judge(candidates, beam);
    finished.push(...candidates.filter(({ fate }) => fate === "ends").map(scored));
    if (beam === 1 && finished.length) candidates.forEach((c) => c.fate === "stays" && (c.fate = "dropped"));
    kept = candidates.filter((candidate) => candidate.fate === "stays");
    const done = over(finished, kept[0]?.total ?? -Infinity, beam, length, alpha, maxLen);
    const last = done || length === maxLen || kept.length === 0;
    if (last && !done) {
      const room = kept.slice(0, Math.max(0, beam - finished.length));
      finished.push(...room.map((k) => ({ ...scored(k), cut: true })));
    }
    const ranked = [...finished].sort((a, b) => b.score - a.score);
    steps.push({ candidates, kept, finished: ranked, end: last ? (done ? "done" : "limit") : "" });
    if (last) break;
  }
  return steps;
}

/** What there is to see, in a sentence. */
export function sentence(seen, beam) {
  if (!seen.length) return "Nothing is written yet. Press \u201CNext step\u201D.";
  const { candidates, finished, end } = seen.at(-1);
  const step = `Step ${seen.length}`;
  if (end) {
    const best = finished[0];
    const why = end === "done" ? "no open beginning can beat the best" : "the limit of length is reached";
    return `${step}: ${why}. The answer is \u201C${spelled(best.pieces)}\u201D, score ${digits(best.score, 2)}.`;
  }
  const count = (fate) => candidates.filter((candidate) => candidate.fate === fate).length;
  const ended = count("ends");
  const text = `${step}: of the ${candidates.length} best candidates, ${count("stays")} stay open`;
  return `${text}, ${ended || "none"} end${ended === 1 ? "s" : ""}; the rest is dropped. The beam is ${beam}.`;
}
