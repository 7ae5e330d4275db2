// The instance: what it holds, how it is drawn, and how it changes by hand.

/** Usual amounts for a node that is added by hand, and for the numbers of an empty map of 100 x 100. */
const AMOUNTS = { demands: () => 1 + Math.floor(9 * Math.random()), prizes: () => 1 + Math.floor(99 * Math.random()), penalties: () => 2 + Math.floor(18 * Math.random()) };
const NUMBERS = { capacity: 40, limit: 250, quota: 400 };

export class Instance {
  /** `about` is the problem of /v1/problems. */
  constructor(name, about, data, places) {
    Object.assign(this, { name, about, data, given: places });
    this.fields = about.fields.map((field) => field.name);
    this.lists = about.fields.filter((field) => field.shape === "list").map((field) => field.name);
    this.numbers = about.fields.filter((field) => field.shape === "number" && field.name in data).map((field) => field.name);
  }

  /** From an answer of /v1/instance. */
  static understood(answer, problems) {
    const about = problems.find((problem) => problem.name === answer.problem);
    return new Instance(answer.name, about, answer.instance, answer.places);
  }

  /** An empty map, or random nodes on it. */
  static drawn(about, count) {
    const place = () => [round(4 + 92 * Math.random()), round(4 + 92 * Math.random())];
    const data = { problem: about.name, name: `drawn-${about.name}` };
    const fields = about.fields.map((field) => field.name);
    if (fields.includes("coordinates")) data.coordinates = Array.from({ length: count }, place);
    else if (fields.includes("matrix")) data.matrix = roads(Array.from({ length: Math.max(2, count) }, place));
    for (const field of about.fields.filter((field) => field.shape === "list")) {
      data[field.name] = Array.from({ length: count }, (_, k) => amount(field.name, k));
    }
    for (const name of fields.filter((name) => name in NUMBERS)) data[name] = NUMBERS[name];
    if (data.weights) data.capacity = Math.ceil(data.weights.reduce((a, b) => a + b, 0) / 4) || 10;
    if (data.quota) data.quota = Math.floor(data.prizes.reduce((a, b) => a + b, 0) / 2) || 1;
    const instance = new Instance(data.name, about, data, null);
    instance.isDrawn = true;
    return instance;
  }

  /** Whether solutions are sets of items, routes from a depot, or one tour. */
  get kind() {
    if (!this.fields.includes("coordinates") && !this.fields.includes("matrix")) return "set";
    return this.fields.includes("demands") ? "routes" : "tour";
  }

  get size() {
    return this.places().length;
  }

  /** Whether the first node is a depot. */
  get hasDepot() {
    return this.kind !== "set" && this.lists.length > 0;
  }

  /** Whether nodes can be added and moved. */
  get canEdit() {
    return Boolean(this.data.coordinates) && !this.data.places && this.data.coordinates.every((place) => place.length === 2) && !["geo", "att"].includes(this.data.metric);
  }

  places() {
    if (this.kind === "set") return this.data.weights.map((weight, k) => [weight, this.data.values[k]]);
    if (this.canEdit) return this.data.coordinates;
    if (this.given) return this.given;
    const count = this.data.matrix.length;
    const turn = (k) => (2 * Math.PI * k) / count;
    return Array.from({ length: count }, (_, k) => [Math.sin(turn(k)), Math.cos(turn(k))]);
  }

  /** An amount per node for its size. */
  amounts() {
    const list = this.kind === "set" ? [] : this.lists[0];
    return this.data[list] ?? [];
  }

  /** The paths of a solution given as numbers: lists of nodes. */
  paths(numbers) {
    if (this.kind === "set" || !numbers.length) return [];
    if (this.kind === "tour") {
      const open = this.data.destination !== undefined && this.data.destination !== this.data.origin;
      return [open ? numbers : [...numbers, numbers[0]]];
    }
    const routes = [[]];
    for (const number of numbers) number === 0 ? routes.push([]) : routes.at(-1).push(number);
    return routes.filter((route) => route.length).map((route) => [0, ...route, 0]);
  }

  add(place) {
    const at = this.data.coordinates.push(place.map(round)) - 1;
    for (const list of this.lists) this.data[list].push(amount(list, at));
    return at;
  }

  move(node, place) {
    this.data.coordinates[node] = place.map(round);
  }

  remove(node) {
    this.data.coordinates.splice(node, 1);
    for (const list of this.lists) {
      this.data[list].splice(node, 1);
      if (list === "demands" && this.data[list].length) this.data[list][0] = 0;
    }
  }

  /** Forgets what refers to the instance before a change. */
  changed() {
    delete this.data.solution;
    delete this.data.cost;
    this.file = undefined;
  }
}

/** Columns as a spreadsheet gives them; where decimals have a comma, and no number a point, the commas become points. */
export function columns(text) {
  const decimals = text.includes("\t") && /(^|\t)-?\d+,\d+(\t|\r?$)/m.test(text) && !/\d\.\d/.test(text);
  return decimals ? text.replace(/(\d),(\d)/g, "$1.$2") : text;
}

/** Short numbers, on a map of any size. */
const round = (number) => Number(Math.abs(number) < 10 ? number.toPrecision(4) : number.toFixed(2));

function amount(list, node) {
  if (list === "values" || list === "weights") return 1 + Math.floor(99 * Math.random());
  return node === 0 ? 0 : AMOUNTS[list]?.() ?? 1;
}

/** Lengths between places that depend on the direction: one-way streets. */
function roads(places) {
  const length = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  return places.map((a, i) => places.map((b, k) => (i === k ? 0 : round(length(a, b) * (0.7 + 0.6 * Math.random())))));
}
