// The translator of the course, computed in the page: subwords, encoder, decoder with its cache, beam search. Names and
// shapes are those of the package; a test compares both. A vector is a Float32Array, a matrix an array of its rows.
// The script is a plain one, without import or export, because a page that is opened from the disk may load no other.

const CourseTranslator = (() => {
  const [PAD, BOS, EOS] = [0, 1, 2];

  // ---------------------------------------------------------------- weights

  /** What tools/export_page_translator.py packed: first a header of JSON, with its length, then all weights. */
  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const buffer = await new Response(plain).arrayBuffer();
    const length = new DataView(buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    return { ...header, tensors: tensorsOf(header.tensors, new Int8Array(buffer, 4 + length)) };
  }

  /** 8-bit numbers, and for each row of a matrix what to multiply them by. */
  function tensorsOf(list, numbers) {
    const tensors = {};
    let at = 0;
    for (const { name, rows, columns, scales } of list) {
      const factors = new Float32Array(scales);
      tensors[name] = Array.from({ length: rows }, (_, i) => {
        const row = Float32Array.from(numbers.subarray(at, at + columns), (n) => n * factors[i]);
        at += columns;
        return row;
      });
    }
    return tensors;
  }

  // ---------------------------------------------------------------- subwords

  /** Text to subwords: byte-pair encoding over bytes (chapter 07). */
  function makeVocabulary({ alphabet, merges, symbols, invisible, spaces, marks, seen }) {
    const pieces = ["<pad>", "<s>", "</s>", ...alphabet, ...merges.map((pair) => pair.replace(" ", ""))];
    const words = new Set(seen.split(" "));
    const idOf = new Map(pieces.map((piece, id) => [piece, id]));
    const rankOf = new Map(merges.map((pair, rank) => [pair, rank]));
    const byteOf = new Map([...symbols].map((symbol, byte) => [symbol, byte]));
    const symbolOf = [...symbols];
    const cleaned = marks.map(([old, plain]) => [new RegExp(old, "gu"), plain]);

    function normalise(text) {
      let plain = text.replace(new RegExp(invisible, "gu"), "").normalize("NFC");
      plain = plain.replace(new RegExp(spaces, "gu"), " ").replace(/^ | $/g, "");
      for (const [old, mark] of cleaned) plain = plain.replace(old, mark);
      return plain;
    }

    /** The subwords of one word: again and again, the pair that was learned first is joined. */
    function split(word) {
      let parts = [...new TextEncoder().encode(word)].map((byte) => symbolOf[byte]);
      while (parts.length > 1) {
        const ranks = parts.slice(1).map((part, i) => rankOf.get(`${parts[i]} ${part}`) ?? Infinity);
        const best = Math.min(...ranks);
        if (best === Infinity) break;
        const i = ranks.indexOf(best);
        parts = [...parts.slice(0, i), parts[i] + parts[i + 1], ...parts.slice(i + 2)];
      }
      return parts;
    }

    function encode(text) {
      const plain = normalise(text);
      if (!plain) return [];
      const found = ` ${plain}`.match(/ ?[^\s\p{P}\p{S}]+['’]?| ?[\p{P}\p{S}]|\s/gu) ?? [];
      return found.flatMap(split).map((part) => idOf.get(part));
    }

    function bytesOf(ids) {
      return ids.flatMap((id) => [...pieces[id]].map((symbol) => byteOf.get(symbol)));
    }

    const decoded = (ids) => new TextDecoder().decode(Uint8Array.from(bytesOf(ids)));
    const decode = (ids) => decoded(ids.filter((id) => id > EOS)).replace(/^ /, "");
    const piece = (id) => (id <= EOS ? pieces[id] : decoded([id]).replaceAll(" ", "▁"));
    const wordsOf = (text) => normalise(text).match(/[^\s\p{P}\p{S}]+['’]?|[\p{P}\p{S}]/gu) ?? [];
    const unseen = (text) => [...new Set(wordsOf(text).filter((word) => !words.has(word)))];
    return { encode, decode, piece, normalise, unseen, words: [...words], size: pieces.length };
  }

  // ---------------------------------------------------------------- arithmetic

  /** The dot product of two vectors, or of a part of them. */
  function dot(a, b, from = 0, to = a.length) {
    let sum = 0;
    for (let i = from; i < to; i += 1) sum += a[i] * b[i];
    return sum;
  }

  function add(a, b) {
    const sum = new Float32Array(a.length);
    for (let i = 0; i < a.length; i += 1) sum[i] = a[i] + b[i];
    return sum;
  }

  /** W x, for one vector. Nearly all time is spent here, so four rows share each x[j], and four sums grow side by side. */
  function product(weight, x) {
    const result = new Float32Array(weight.length);
    const fours = weight.length - (weight.length % 4);
    for (let row = 0; row < fours; row += 4) {
      const [a, b, c, d] = [weight[row], weight[row + 1], weight[row + 2], weight[row + 3]];
      let [sumA, sumB, sumC, sumD] = [0, 0, 0, 0];
      for (let j = 0; j < x.length; j += 1) {
        const number = x[j];
        sumA += a[j] * number;
        sumB += b[j] * number;
        sumC += c[j] * number;
        sumD += d[j] * number;
      }
      result[row] = sumA;
      result[row + 1] = sumB;
      result[row + 2] = sumC;
      result[row + 3] = sumD;
    }
    for (let row = fours; row < weight.length; row += 1) result[row] = dot(weight[row], x);
    return result;
  }

  /** W x + b, for one vector. */
  function linear(x, weight, bias) {
    return add(product(weight, x), bias);
  }

  function softmax(scores) {
    const highest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - highest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  }

  function logSoftmax(logits) {
    let [highest, total] = [-Infinity, 0];
    for (let i = 0; i < logits.length; i += 1) if (logits[i] > highest) highest = logits[i];
    for (let i = 0; i < logits.length; i += 1) total += Math.exp(logits[i] - highest);
    const log = highest + Math.log(total);
    const result = new Float64Array(logits.length);
    for (let i = 0; i < logits.length; i += 1) result[i] = logits[i] - log;
    return result;
  }

  function layerNorm(x, gain, bias) {
    let [mean, variance] = [0, 0];
    for (let i = 0; i < x.length; i += 1) mean += x[i] / x.length;
    for (let i = 0; i < x.length; i += 1) variance += (x[i] - mean) ** 2 / x.length;
    const root = Math.sqrt(variance + 1e-5);
    const result = new Float32Array(x.length);
    for (let i = 0; i < x.length; i += 1) result[i] = (gain[i] * (x[i] - mean)) / root + bias[i];
    return result;
  }

  // ---------------------------------------------------------------- the model

  /**
   * The model. `broken` names what is left out:
   * { positions, scale, feedForward, causalMask: true; heads: ["encoder 1 cross 2", ...]; layers: ["encoder 1", ...] }.
   */
  function makeModel(config, tensors) {
    const { d_model: width, n_heads: heads, max_len: maxLen } = config;
    const size = width / heads;
    const one = (name) => tensors[name][0];

    function positionOf(place) {
      return Float32Array.from({ length: width }, (_, i) => {
        const angle = place / 10000 ** ((i - (i % 2)) / width);
        return i % 2 ? Math.cos(angle) : Math.sin(angle);
      });
    }

    const positions = []; // the codes of places that were asked for
    const wordOf = (id) => tensors["src_embedding.weight"][id].map((number) => number * Math.sqrt(width));

    function embed(id, place, broken) {
      if (broken.positions) return wordOf(id);
      positions[place] ??= positionOf(place);
      return add(wordOf(id), positions[place]);
    }

    const project = (name, x) => linear(x, tensors[`${name}.weight`], one(`${name}.bias`));

    /** Keys and values of vectors, for an attention. */
    function keysAndValues(name, vectors) {
      return {
        keys: vectors.map((x) => project(`${name}.w_key`, x)),
        values: vectors.map((x) => project(`${name}.w_value`, x)),
      };
    }

    /** One query's attention: its output, and the weights of each head. */
    function attend(name, x, { keys, values }, broken, title) {
      const query = project(`${name}.w_query`, x);
      const joined = new Float32Array(width);
      const weights = [];
      for (let head = 0; head < heads; head += 1) {
        const [from, to] = [head * size, (head + 1) * size];
        const root = broken.scale ? 1 : Math.sqrt(size);
        const shares = softmax(keys.map((key) => dot(query, key, from, to) / root));
        weights.push(shares);
        if (broken.heads?.includes(`${title} ${head + 1}`)) continue;
        values.forEach((value, k) => {
          for (let i = from; i < to; i += 1) joined[i] += shares[k] * value[i];
        });
      }
      return { output: project(`${name}.w_output`, joined), weights };
    }

    const normed = (name, x) => layerNorm(x, one(`${name}.gain`), one(`${name}.bias`));

    function feedForward(layer, norm, x, broken) {
      if (broken.feedForward) return x;
      const inner = project(`${layer}.feed_forward.inner`, normed(`${layer}.residuals.${norm}.norm`, x));
      return add(x, project(`${layer}.feed_forward.outer`, inner.map((number) => Math.max(0, number))));
    }

    /** Read the source: the memory, and the weights [layer][head][query][key]. */
    function encode(ids, broken = {}) {
      let x = ids.map((id, place) => embed(id, place, broken));
      const maps = [];
      for (let i = 0; i < config.n_encoder_layers; i += 1) {
        const layer = `encoder_layers.${i}`;
        if (broken.layers?.includes(`encoder ${i + 1}`)) {
          maps.push(null);
          continue;
        }
        const before = x.map((vector) => normed(`${layer}.residuals.0.norm`, vector));
        const source = keysAndValues(`${layer}.self_attention`, before);
        const found = before.map((q) => attend(`${layer}.self_attention`, q, source, broken, `encoder ${i + 1}`));
        x = x.map((vector, place) => add(vector, found[place].output));
        x = x.map((vector) => feedForward(layer, 1, vector, broken));
        maps.push(Array.from({ length: heads }, (_, h) => found.map(({ weights }) => weights[h])));
      }
      return { memory: x.map((vector) => normed("encoder_norm", vector)), maps };
    }

    /** Before the first target token: keys and values of the memory, computed once. */
    function start(memory) {
      const names = Array.from({ length: config.n_decoder_layers }, (_, i) => `decoder_layers.${i}`);
      const layers = names.map((layer) => ({
        own: { keys: [], values: [] },
        memory: keysAndValues(`${layer}.cross_attention`, memory),
      }));
      return { ids: [], layers };
    }

    function logitsOf(x) {
      return product(tensors["src_embedding.weight"], normed("decoder_norm", x));
    }

    /** Read one target token: the next state, the logits, each layer's logits (the lens), and the weights. */
    function step(id, place, state, broken = {}, lens = false) {
      const ids = [...state.ids, id];
      // Without the causal mask nothing can be kept: all tokens are read again, and each sees those after it.
      const fresh = broken.causalMask ? ids : [id];
      let x = fresh.map((token, i) => embed(token, place + 1 - fresh.length + i, broken));
      const [next, layers, maps] = [[], [], []];
      state.layers.forEach((cached, i) => {
        const layer = `decoder_layers.${i}`;
        if (broken.layers?.includes(`decoder ${i + 1}`)) {
          next.push(cached);
          maps.push(null);
          layers.push(x.at(-1));
          return;
        }
        const before = x.map((vector) => normed(`${layer}.residuals.0.norm`, vector));
        const { keys, values } = keysAndValues(`${layer}.self_attention`, before);
        const kept = broken.causalMask ? { keys: [], values: [] } : cached.own;
        const own = { keys: [...kept.keys, ...keys], values: [...kept.values, ...values] };
        const back = before.map((q) => attend(`${layer}.self_attention`, q, own, broken, `decoder ${i + 1} self`));
        x = x.map((vector, k) => add(vector, back[k].output));
        const asked = x.map((vector) => normed(`${layer}.residuals.1.norm`, vector));
        const title = `decoder ${i + 1} cross`;
        const across = asked.map((q) => attend(`${layer}.cross_attention`, q, cached.memory, broken, title));
        x = x.map((vector, k) => feedForward(layer, 2, add(vector, across[k].output), broken));
        next.push({ own, memory: cached.memory });
        maps.push({ self: back.at(-1).weights, cross: across.at(-1).weights });
        layers.push(x.at(-1));
      });
      const logits = logitsOf(x.at(-1));
      return { state: { ids, layers: next }, logits, maps, lens: lens ? layers.map(logitsOf) : [] };
    }

    /** Log-probability of a translation (ids without <s>, with </s>), step by step. */
    function score(src, tgt, broken = {}) {
      let state = start(encode(src, broken).memory);
      let last = BOS;
      return tgt.map((id, place) => {
        const read = step(last, place, state, broken);
        [state, last] = [read.state, id];
        return logSoftmax(read.logits)[id];
      });
    }

    return { encode, start, step, score, embed, wordOf, positionOf, maxLen, heads, layers: [config.n_encoder_layers, config.n_decoder_layers] };
  }

  // ---------------------------------------------------------------- search

  /** What the sum of log-probabilities is divided by (chapter 09). */
  function lengthPenalty(length, alpha) {
    return ((5 + length) / 6) ** alpha;
  }

  /** The best continuations of all beginnings, `count` of them, best first. */
  function continuations(open, count) {
    const best = [];
    open.forEach(({ total, logProbs }, parent) => {
      for (let id = EOS; id < logProbs.length; id += 1) {
        const sum = total + logProbs[id];
        if (best.length === count && sum <= best[count - 1].total) continue;
        const place = best.findIndex((other) => other.total < sum);
        best.splice(place < 0 ? best.length : place, 0, { parent, id, total: sum });
        if (best.length > count) best.pop();
      }
    });
    return best;
  }

  /** Whether no open beginning can become the best any more. */
  function isDone(finished, best, beam, length, limit, alpha) {
    if (finished.length < beam) return false;
    if (beam === 1) return true;
    return Math.max(...finished.map(({ score }) => score)) >= best / lengthPenalty(alpha > 0 ? limit : length, alpha);
  }

  /** Beam search as in the package: hypotheses { ids, logProb, score }, best first. `trace` collects each step's. */
  function search(model, src, { beam = 4, alpha = 0.6, broken = {}, trace = [] } = {}) {
    const limit = Math.min(2 * 16 * Math.ceil(src.length / 16) + 10, model.maxLen);
    let open = [{ ids: [], total: 0, state: model.start(model.encode(src, broken).memory) }];
    const finished = [];
    for (let length = 1; length <= limit; length += 1) {
      for (const beginning of open) {
        const read = model.step(beginning.ids.at(-1) ?? BOS, length - 1, beginning.state, broken);
        beginning.next = read.state;
        beginning.logProbs = logSoftmax(read.logits);
      }
      const best = continuations(open, 2 * beam);
      best.slice(0, beam).forEach(({ parent, id, total }) => {
        if (id === EOS) {
          const ids = [...open[parent].ids, EOS];
          finished.push({ ids, logProb: total, score: total / lengthPenalty(length, alpha) });
        }
      });
      open = best
        .filter(({ id }) => id !== EOS)
        .slice(0, beam)
        .map(({ parent, id, total }) => ({ ids: [...open[parent].ids, id], parent, total, state: open[parent].next }));
      trace.push(open.map(({ ids, parent, total }) => ({ ids, parent, total })));
      if (isDone(finished, open[0].total, beam, length, limit, alpha)) break;
      if (length === limit) {
        const score = (total) => total / lengthPenalty(length, alpha);
        const rest = open.slice(0, Math.max(0, beam - finished.length));
        finished.push(...rest.map(({ ids, total }) => ({ ids, logProb: total, score: score(total) })));
      }
    }
    return finished.sort((a, b) => b.score - a.score);
  }

  /** A translator, of what tools/export_page_translator.py packed. */
  async function load(packed) {
    const { config, vocabulary: rules, tensors } = await unpack(packed);
    const vocabulary = makeVocabulary(rules);
    const model = makeModel(config, tensors);
    const read = (text) => [...vocabulary.encode(text), EOS];
    return { vocabulary, model, read, search: (text, options) => search(model, read(text), options) };
  }

  return { load, logSoftmax, softmax, BOS, EOS };
})();
