// The policy at work: one look at a tail subproblem after the other.

/** Looks per second when playing. */
const PACE = [2.5, 12];

export class Stepper {
  /** `show(scene, look)` is called whenever the position changes. */
  constructor(instance, trace, show) {
    Object.assign(this, { instance, trace, show, at: 0 });
    this.isSet = instance.kind === "set";
    const [first, last] = [trace.start[0] ?? 0, trace.start.at(-1) ?? 0];
    this.front = this.isSet ? [] : [first]; // nodes from the start on, or items
    this.behind = this.isSet ? [] : [last]; // nodes from the end backwards
    this.reach = [[this.front.length, this.behind.length]]; // how many of both there are at a position
    for (const look of trace.looks) {
      for (const step of look.taken) (step.end === "back" ? this.behind : this.front).push(...along(step));
      this.reach.push([this.front.length, this.behind.length]);
    }
    // Only the first tail is stored: later ones follow from what was settled.
    this.settledAt = new Map(trace.looks.flatMap((look, k) => look.settled.map((node) => [node, k])));
  }

  get count() {
    return this.trace.looks.length;
  }

  go(to) {
    this.at = Math.min(this.count, Math.max(0, to));
    this.show(this.scene(), this.trace.looks[this.at]);
  }

  play(changed) {
    if (this.timer) return this.pause(changed);
    if (this.at === this.count) this.at = 0;
    const pace = Math.min(PACE[1], Math.max(PACE[0], this.count / 15));
    this.timer = setInterval(() => {
      this.go(this.at + 1);
      if (this.at === this.count) this.pause(changed);
    }, 1000 / pace);
    changed(true);
  }

  pause(changed) {
    clearInterval(this.timer);
    this.timer = undefined;
    changed?.(false);
  }

  /** Nodes or items that a later step can still choose. */
  tail() {
    return [...this.settledAt].filter(([, look]) => look >= this.at).map(([node]) => node);
  }

  scene() {
    const { instance, trace, at, isSet } = this;
    const [look, tail] = [trace.looks[at], this.tail()];
    const [walk, rear] = [this.front.slice(0, this.reach[at][0]), this.behind.slice(0, this.reach[at][1])];
    const nodes = Array.from({ length: instance.size }, () => "done");
    if (isSet) walk.forEach((item) => (nodes[item] = "normal"));
    tail.forEach((node) => (nodes[node] = "tail"));
    const depot = instance.hasDepot ? 0 : undefined;
    if (isSet) return { nodes, rays: look ? this.rays(look) : [], paths: [], depot };
    if (!look) return { nodes, paths: [{ nodes: [...walk, ...rear.reverse()], color: 0 }], rays: [], here: walk.at(-1), depot };
    const [here, end] = [walk.at(-1), rear.at(-1)];
    const paths = [walk, rear].map((nodes) => ({ nodes, faint: true }));
    return { nodes, paths, rays: this.rays(look, here, end), hull: [...tail, here, end], here, end, depot };
  }

  /** Possible steps from the likeliest down, and the paths of the steps that were taken. */
  rays(look, here, end) {
    const from = { front: here, back: end };
    const ray = ({ adds, probability }) => {
      const step = along({ end: look.end, adds });
      const nodes = this.isSet ? step : step.length ? [from[look.end], ...step] : [here, end];
      return { nodes, share: probability, label: probability >= 0.02 ? percent(probability) : "" };
    };
    const rays = likely(look).map(ray).reverse();
    if (this.isSet) return rays;
    for (const side of ["front", "back"]) {
      const nodes = look.taken.filter((step) => step.end === side).flatMap(along);
      if (nodes.length) rays.push({ nodes: [from[side], ...nodes], share: 0.15, taken: true });
    }
    return rays;
  }

  /** What happens at this position, in a sentence. */
  story() {
    const { trace, at, instance } = this;
    const look = trace.looks[at];
    const left = this.tail().length;
    if (!look) return trace.cut_short ? "The time limit came before the end." : "Finished: the policy never looked back, and every tail was a problem of its own.";
    const best = look.candidates[0];
    const sure = best.probability > 0.9 ? "sure" : best.probability > 0.5 ? "fairly sure" : "undecided";
    const ends = new Set(look.taken.map(({ end }) => end));
    const many = look.taken.length > 1 ? ` It commits ${look.taken.length} steps at once${ends.size > 1 ? ", at both ends" : ""}.` : "";
    const side = ends.has("front") ? "" : " It works at the far end, where it is surer.";
    const scored = look.scored === 1 ? "the only possible step" : `${look.scored} possible steps`;
    const rest = `${left} ${left === 1 ? instance.about.unit.replace(/s$/, "") : instance.about.unit} left`;
    return `The policy sees the highlighted tail only, ${rest}, and scores ${scored}: it is ${sure}.${side}${many} How it got here is forgotten: equal tails get equal answers.`;
  }
}

/** The nodes of a step in the order in which the path reaches them from its end. */
const along = ({ end, adds }) => (end === "back" ? [...adds].reverse() : adds);

/** The candidates that are worth showing. */
export const likely = (look) => look.candidates.filter(({ probability }, k) => k === 0 || probability >= 0.0005);

/** Whether a candidate was taken. */
export const isTaken = (look, { adds }) => look.taken.find(({ end }) => end === look.end)?.adds.join() === adds.join();

export const percent = (share) => `${share >= 0.0995 ? Math.round(100 * share) : (100 * share).toFixed(1)} %`;

/** A step in words: "→ 17", "depot → 17", "17 →" before the end, "end here". */
export function stepName(adds, end) {
  if (!adds.length) return "end here";
  if (end === "back") return `${adds[0]} →`;
  return adds.length > 1 ? `depot → ${adds.at(-1)}` : `→ ${adds[0]}`;
}
