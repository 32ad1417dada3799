// What the figure "drag the peak" computes.

const STEPS = 20000;
const [FEWEST, MOST] = [1000, 16000]; // warm-up steps
const FINE = 1e-5; // between two heights of the cosine's peak

/** The paper's rate, eq. 3. */
export function inverseSqrtRate(step, width, warmup) {
  return width ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5);
}

/** Up in a line to the peak, then down along half a cosine to 0 at the last step. */
export function cosineRate(step, peak, warmup) {
  if (step <= warmup) return (peak * step) / warmup;
  const done = (step - warmup) / (STEPS - warmup);
  return peak * 0.5 * (1 + Math.cos(Math.PI * Math.min(1, done)));
}

/** The rate at a step, by the state of the figure. */
export function rateOf(state, step) {
  if (state.schedule === "cosine") return cosineRate(step, state.peak_rate, state.warmup_steps);
  return inverseSqrtRate(step, state.d_model, state.warmup_steps);
}

/** The highest rate that the figure can draw: eq. 3 with the shortest warm-up. */
export function highest(width) {
  return (width * FEWEST) ** -0.5;
}

/** A rate as people write it: 6.99e-4 becomes 6.99 · 10⁻⁴. */
export function rateText(rate) {
  if (rate < 1e-12) return "0";
  const [number, power] = rate.toExponential(2).split("e");
  const raised = [...String(Number(power))].map((c) => (c === "-" ? "\u207B" : "\u2070\u00B9\u00B2\u00B3\u2074\u2075\u2076\u2077\u2078\u2079"[c]));
  return `${number} \u00B7 10${raised.join("")}`;
}

/** A number of steps, with a narrow space between thousands. */
export function stepText(step) {
  return step.toLocaleString("en").replace(",", "\u202F");
}

/** The highest peak that a cosine can have. */
export function topOf(width) {
  return Math.floor(highest(width) / FINE) * FINE;
}

/** What changes when the peak is moved; in eq. 3 its height follows from the warm-up. */
export function moved({ schedule, d_model: width }, warmup, peak) {
  const changes = { warmup_steps: clamp(Math.round(warmup / 100) * 100, FEWEST, MOST) };
  if (schedule === "cosine") changes.peak_rate = clamp(Math.round(peak / FINE) * FINE, FINE, topOf(width));
  return changes;
}

/** Where a key of the keyboard brings the peak: warm-up and height; nothing for keys without a meaning. */
export function stepped({ schedule, warmup_steps: warmup, peak_rate: peak }, key, far) {
  const [across, up] = far ? [1000, 10 * FINE] : [100, FINE];
  const free = schedule === "cosine"; // else up and down move the warm-up, as in every slider
  const moves = {
    ArrowRight: [warmup + across, peak],
    ArrowLeft: [warmup - across, peak],
    ArrowUp: free ? [warmup, peak + up] : [warmup + across, peak],
    ArrowDown: free ? [warmup, peak - up] : [warmup - across, peak],
    Home: [FEWEST, peak],
    End: [MOST, peak],
  };
  return moves[key];
}

/** The four numbers of the table, as texts. */
export function numbersOf(state) {
  const [peak, now] = [state.warmup_steps, state.step].map((step) => rateOf(state, step));
  return [stepText(state.warmup_steps), rateText(peak), rateText(now), `${digits((100 * now) / peak, 1)} %`];
}

/** What there is to see, in a sentence. */
export function sentence(state) {
  const { schedule, warmup_steps: warmup, step } = state;
  const share = digits((100 * rateOf(state, step)) / rateOf(state, warmup), 0);
  if (step === warmup) return "This step is the last of the warm-up: the rate is at its highest.";
  if (step < warmup) return `In the warm-up: step ${stepText(step)} of ${stepText(warmup)}, so ${share} % of the highest rate.`;
  if (schedule === "cosine") return `On the way down to 0 at the last step: ${share} % of the highest rate is left.`;
  const times = digits(step / warmup, 2);
  return `${times} times the warm-up: the rate is the highest one divided by the root of ${times}.`;
}
