// The translator of the course, computed in the page: subwords, encoder, decoder with its cache, beam search. Names and
// shapes are those of the package; a test compares both. A vector is a Float32Array, a matrix { rows, columns, numbers },
// where the numbers are one Float32Array, row after row.
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
      const part = new Float32Array(numbers.subarray(at, at + rows * columns));
      for (let i = 0; i < part.length; i += 1) part[i] *= factors[Math.floor(i / columns)];
      tensors[name] = { rows, columns, numbers: part };
      at += rows * columns;
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

  /** The dot product of parts of two vectors; a's part lies `shift` further. */
  function dot(a, b, from, to, shift = 0) {
    let sum = 0;
    for (let i = from; i < to; i += 1) sum += a[shift + i] * b[i];
    return sum;
  }

  function add(a, b) {
    const sum = new Float32Array(a.length);
    for (let i = 0; i < a.length; i += 1) sum[i] = a[i] + b[i];
    return sum;
  }

  /** W x + b, for each of some vectors, taken two by two; b may be missing. */
  function linear(vectors, weight, bias) {
    const begin = () => (bias ? new Float32Array(bias) : new Float32Array(weight.rows));
    const results = vectors.map(begin);
    for (let i = 0; i < vectors.length; i += 2) {
      // The last may be alone: it is its own partner, whose result is dropped.
      addProducts(weight, [vectors[i], vectors[i + 1] ?? vectors[i]], [results[i], results[i + 1] ?? begin()]);
    }
    return results;
  }

  /**
   * Add W x and W y. Most time is spent here, and much of it with reading numbers. So four rows, a to d, meet two vectors:
   * six numbers are read for eight products, and eight sums grow side by side.
   */
  function addProducts({ rows, columns, numbers }, [x, y], [toX, toY]) {
    const fours = rows - (rows % 4);
    for (let row = 0; row < fours; row += 4) {
      const a = row * columns;
      const b = a + columns;
      const c = b + columns;
      const d = c + columns;
      let ax = 0, bx = 0, cx = 0, dx = 0;
      let ay = 0, by = 0, cy = 0, dy = 0;
      for (let j = 0; j < columns; j += 1) {
        const xj = x[j];
        const yj = y[j];
        const aj = numbers[a + j];
        ax += aj * xj;
        ay += aj * yj;
        const bj = numbers[b + j];
        bx += bj * xj;
        by += bj * yj;
        const cj = numbers[c + j];
        cx += cj * xj;
        cy += cj * yj;
        const dj = numbers[d + j];
        dx += dj * xj;
        dy += dj * yj;
      }
      toX[row] += ax;
      toX[row + 1] += bx;
      toX[row + 2] += cx;
      toX[row + 3] += dx;
      toY[row] += ay;
      toY[row + 1] += by;
      toY[row + 2] += cy;
      toY[row + 3] += dy;
    }
    for (let row = fours; row < rows; row += 1) {
      toX[row] += dot(numbers, x, 0, columns, row * columns);
      toY[row] += dot(numbers, y, 0, columns, row * columns);
    }
  }

  function relu(x) {
    const positive = new Float32Array(x.length);
    for (let i = 0; i < x.length; i += 1) positive[i] = Math.max(0, x[i]);
    return positive;
  }

  function softmax(scores) {
    const highest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - highest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  }

  /** The logarithm of the sum of all powers: what logits lose to become log-probabilities. */
  function logSumExp(logits) {
    let [highest, total] = [-Infinity, 0];
    for (let i = 0; i < logits.length; i += 1) if (logits[i] > highest) highest = logits[i];
    for (let i = 0; i < logits.length; i += 1) total += Math.exp(logits[i] - highest);
    return highest + Math.log(total);
  }

  function logSoftmax(logits) {
    const log = logSumExp(logits);
    return Float64Array.from(logits, (logit) => logit - log);
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
    const one = (name) => tensors[name].numbers;

    function positionOf(place) {
      return Float32Array.from({ length: width }, (_, i) => {
        const angle = place / 10000 ** ((i - (i % 2)) / width);
        return i % 2 ? Math.cos(angle) : Math.sin(angle);
      });
    }

    const positions = []; // the codes of places that were asked for
    const words = tensors["src_embedding.weight"];
    const rowOf = (id) => words.numbers.subarray(id * width, (id + 1) * width);
    const wordOf = (id) => rowOf(id).map((number) => number * Math.sqrt(width));

    function embed(id, place, broken) {
      if (broken.positions) return wordOf(id);
      positions[place] ??= positionOf(place);
      return add(wordOf(id), positions[place]);
    }

    const project = (name, vectors) => linear(vectors, tensors[`${name}.weight`], one(`${name}.bias`));

    /** Keys and values of vectors, for an attention. */
    function keysAndValues(name, vectors) {
      return { keys: project(`${name}.w_key`, vectors), values: project(`${name}.w_value`, vectors) };
    }

    /** The attention of queries, each to keys and values of its own: what is added to each, and [query][head][key]. */
    function attend(name, vectors, sources, broken, title) {
      const found = project(`${name}.w_query`, vectors).map((query, i) => weighed(query, sources[i], broken, title));
      const outputs = project(`${name}.w_output`, found.map(({ joined }) => joined));
      return { outputs, weights: found.map(({ weights }) => weights) };
    }

    /** What the heads of one query read, side by side, and their weights. */
    function weighed(query, { keys, values }, broken, title) {
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
      return { joined, weights };
    }

    function normed(name, vectors) {
      return vectors.map((x) => layerNorm(x, one(`${name}.gain`), one(`${name}.bias`)));
    }

    const added = (vectors, others) => vectors.map((x, i) => add(x, others[i]));

    function feedForward(layer, norm, x, broken) {
      if (broken.feedForward) return x;
      const inner = project(`${layer}.feed_forward.inner`, normed(`${layer}.residuals.${norm}.norm`, x));
      return added(x, project(`${layer}.feed_forward.outer`, inner.map(relu)));
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
        const before = normed(`${layer}.residuals.0.norm`, x);
        const source = keysAndValues(`${layer}.self_attention`, before);
        const sources = before.map(() => source);
        const { outputs, weights } = attend(`${layer}.self_attention`, before, sources, broken, `encoder ${i + 1}`);
        x = feedForward(layer, 1, added(x, outputs), broken);
        maps.push(Array.from({ length: heads }, (_, head) => weights.map((ofQuery) => ofQuery[head])));
      }
      return { memory: normed("encoder_norm", x), maps };
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

    const logitsOf = (vectors) => linear(normed("decoder_norm", vectors), words);

    /** Read one target token: see `steps`. */
    function step(id, place, state, broken = {}, lens = false) {
      return steps([id], place, [state], broken, lens)[0];
    }

    /**
     * Read one more target token of each of some beginnings, which are equally long. For each: the next state, the
     * logits, each layer's logits (the lens), and the weights.
     */
    function steps(tokens, place, states, broken = {}, lens = false) {
      const ids = states.map((state, b) => [...state.ids, tokens[b]]);
      // Without the causal mask nothing can be kept: all tokens are read again, and each sees those after it.
      const count = broken.causalMask ? ids[0].length : 1;
      let x = ids.flatMap((all) => all.slice(-count).map((id, i) => embed(id, place + 1 - count + i, broken)));
      const lasts = (list) => list.filter((_, v) => (v + 1) % count === 0);
      const [caches, layers, maps] = [[], [], []];
      for (let i = 0; i < config.n_decoder_layers; i += 1) {
        const cached = states.map((state) => state.layers[i]);
        const isOut = broken.layers?.includes(`decoder ${i + 1}`);
        const read = isOut ? { x, caches: cached } : decoderLayer(i, x, cached, count, broken);
        x = read.x;
        caches.push(read.caches);
        layers.push(lasts(x));
        maps.push(isOut ? null : { self: lasts(read.self), cross: lasts(read.cross) });
      }
      const seen = lens ? layers.map(logitsOf) : [];
      const logits = seen.at(-1) ?? logitsOf(lasts(x));
      return ids.map((all, b) => ({
        state: { ids: all, layers: caches.map((layer) => layer[b]) },
        logits: logits[b],
        maps: maps.map((layer) => layer && { self: layer.self[b], cross: layer.cross[b] }),
        lens: seen.map((layer) => layer[b]),
      }));
    }

    /** A layer of the decoder reads `count` vectors of each beginning: its output, what it keeps, its weights. */
    function decoderLayer(i, x, cached, count, broken) {
      const [layer, title] = [`decoder_layers.${i}`, `decoder ${i + 1}`];
      const before = normed(`${layer}.residuals.0.norm`, x);
      const { keys, values } = keysAndValues(`${layer}.self_attention`, before);
      const caches = cached.map(({ own, memory }, b) => {
        const kept = broken.causalMask ? { keys: [], values: [] } : own;
        const [from, to] = [b * count, (b + 1) * count];
        const more = (old, list) => [...old, ...list.slice(from, to)];
        return { own: { keys: more(kept.keys, keys), values: more(kept.values, values) }, memory };
      });
      const owner = x.map((_, v) => caches[Math.floor(v / count)]);
      const own = owner.map((cache) => cache.own);
      const back = attend(`${layer}.self_attention`, before, own, broken, `${title} self`);
      const looked = added(x, back.outputs);
      const asked = normed(`${layer}.residuals.1.norm`, looked);
      const memories = owner.map((cache) => cache.memory);
      const across = attend(`${layer}.cross_attention`, asked, memories, broken, `${title} cross`);
      const output = feedForward(layer, 2, added(looked, across.outputs), broken);
      return { x: output, caches, self: back.weights, cross: across.weights };
    }

    /** Log-probability of a translation (ids without <s>, with </s>), step by step. */
    function score(src, tgt, broken = {}) {
      let state = start(encode(src, broken).memory);
      let last = BOS;
      return tgt.map((id, place) => {
        const read = step(last, place, state, broken);
        [state, last] = [read.state, id];
        return read.logits[id] - logSumExp(read.logits);
      });
    }

    return { encode, start, step, steps, score, embed, wordOf, positionOf, maxLen, heads, layers: [config.n_encoder_layers, config.n_decoder_layers] };
  }

  // ---------------------------------------------------------------- search

  /** What the sum of log-probabilities is divided by (chapter 09). */
  function lengthPenalty(length, alpha) {
    return ((5 + length) / 6) ** alpha;
  }

  /** The best continuations of all beginnings, `count` of them, best first. */
  function continuations(open, count) {
    const best = [];
    open.forEach(({ total, logits }, parent) => {
      const log = logSumExp(logits);
      for (let id = EOS; id < logits.length; id += 1) {
        const sum = total + (logits[id] - log);
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
      const tokens = open.map(({ ids }) => ids.at(-1) ?? BOS);
      const read = model.steps(tokens, length - 1, open.map(({ state }) => state), broken);
      open.forEach((beginning, b) => {
        beginning.next = read[b].state;
        beginning.logits = read[b].logits;
      });
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
