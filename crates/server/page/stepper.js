// The policy at work: one look at a tail subproblem after the other.

/** Looks per second when playing. */
const PACE = [2.5, 12];

export class Stepper {
  /** `show(scene, look)` is called whenever the position changes. */
  constructor(instance, trace, show) {
    Object.assign(this, { instance, trace, show, at: 0 });
    this.walks = [trace.start.length ? [trace.start[0]] : instance.kind === "set" ? [] : [0]]; // nodes in the order of the visit
    this.tails = [new Set(trace.looks.flatMap((look) => look.settled))];
    for (const look of trace.looks) {
      const walk = [...this.walks.at(-1)];
      look.taken.forEach((adds) => walk.push(...adds));
      this.walks.push(walk);
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
    return [...this.tails[0]].filter((node) => this.settledAt.get(node) >= this.at);
  }

  scene() {
    const { instance, trace, at } = this;
    const [walk, look, tail] = [this.walks[at], trace.looks[at], this.tail()];
    const isSet = instance.kind === "set";
    const nodes = Array.from({ length: instance.size }, () => "done");
    if (isSet) walk.forEach((item) => (nodes[item] = "normal"));
    tail.forEach((node) => (nodes[node] = "tail"));
    const here = isSet ? undefined : walk.at(-1);
    const end = isSet || !look ? undefined : trace.start.at(-1) ?? 0;
    const paths = isSet ? [] : [{ nodes: look ? walk : [...walk, trace.start.at(-1) ?? 0], faint: Boolean(look), color: "#0072b2" }];
    const rays = look ? this.rays(look, here) : [];
    const hull = look && !isSet ? [...tail, here, end] : undefined;
    return { nodes, paths, rays, hull, here, end, depot: instance.hasDepot ? 0 : undefined };
  }

  /** Possible steps from the likeliest down, and the path of the steps that were taken. */
  rays(look, here) {
    const isSet = this.instance.kind === "set";
    const from = (adds) => (isSet || !adds.length ? [] : [here, ...adds]);
    const end = isSet ? undefined : this.trace.start.at(-1) ?? 0;
    const ray = ({ adds, probability }) => {
      const nodes = adds.length ? (isSet ? adds : from(adds)) : [here, end];
      return { nodes, share: probability, label: probability >= 0.02 ? percent(probability) : "" };
    };
    const rays = likely(look).map(ray).reverse();
    const taken = isSet ? [] : [here, ...look.taken.flat()];
    if (taken.length > 1) rays.push({ nodes: taken, share: 0.15, taken: true });
    return rays;
  }

  /** What happens at this position, in a sentence. */
  story() {
    const { trace, at, instance } = this;
    const look = trace.looks[at];
    const left = this.tail().length;
    if (!look) return trace.cut_short ? "The time limit came before the end." : `Finished: the policy never looked back, and every tail was a problem of its own.`;
    const best = look.candidates[0];
    const sure = best.probability > 0.9 ? "sure" : best.probability > 0.5 ? "fairly sure" : "undecided";
    const many = look.taken.length > 1 ? ` It commits ${look.taken.length} steps at once.` : "";
    const scored = look.scored === 1 ? "the only possible step" : `${look.scored} possible steps`;
    const rest = `${left} ${left === 1 ? instance.about.unit.replace(/s$/, "") : instance.about.unit} left`;
    return `The policy sees the highlighted tail only, ${rest}, and scores ${scored}: it is ${sure}.${many} How it got here is forgotten: equal tails get equal answers.`;
  }
}

/** The candidates that are worth showing. */
export const likely = (look) => look.candidates.filter(({ probability }, k) => k === 0 || probability >= 0.0005);

export const percent = (share) => `${share >= 0.0995 ? Math.round(100 * share) : (100 * share).toFixed(1)} %`;

/** A step in words: "17", "depot, 17", "return". */
export function stepName(adds) {
  if (!adds.length) return "end here";
  return adds.length > 1 ? `depot → ${adds.at(-1)}` : `→ ${adds[0]}`;
}
