// Network, expert and both, side by side.

import { short } from "./chart.js";
import { MapView } from "./map.js";
import * as service from "./service.js";

const METHODS = [
  { name: "network", search: "reconstruct", dash: [] },
  { name: "expert", search: "expert", dash: [7, 4] },
  { name: "both", search: "hybrid", dash: [2, 3] },
];

export class Comparison {
  /** `changed` is called whenever a curve changes. */
  constructor(box, changed) {
    Object.assign(this, { box, changed, panels: [], active: false });
  }

  series() {
    return this.panels.map((panel) => panel.curve);
  }

  close() {
    this.active = false;
    this.panels.forEach((panel) => panel.map.close());
    this.panels = [];
    this.box.hidden = true;
    this.box.replaceChildren();
  }

  async run(instance, { seconds, model }, signal, scene) {
    this.active = true;
    this.box.hidden = false;
    this.panels = METHODS.map((method, k) => this.panel(method, k, instance, scene));
    const panels = this.panels;
    await Promise.all(panels.map(async (panel, k) => {
      const options = { search: METHODS[k].search, seconds };
      if (model && options.search !== "expert") options.model = model;
      let last;
      try {
        const answer = await service.solve({ instance: instance.data, options }, (improved) => {
          panel.curve.points.push([improved.seconds, improved.value]);
          panel.tell(`${instance.about.objective} ${short(improved.value)}`);
          panel.map.show(scene(improved.solution, last));
          last = improved.solution;
          this.changed();
        }, signal);
        panel.value = answer.value;
        panel.curve.until = answer.seconds;
        if (panel.curve.points.at(-1)?.[1] !== answer.value) panel.curve.points.push([answer.seconds, answer.value]);
        panel.tell(`${answer.objective} ${short(answer.value)}, ${answer.seconds.toFixed(2)} s`);
        panel.map.show(scene(answer.solution));
      } catch (error) {
        panel.tell(error.name === "AbortError" ? "stopped" : error.message);
      }
      this.changed();
    }));
    if (this.panels === panels) this.judge(instance.about.larger_is_better);
  }

  panel(method, color, instance, scene) {
    const section = document.createElement("section");
    const [heading, swatch, canvas, text] = ["h3", "span", "canvas", "p"].map((tag) => document.createElement(tag));
    swatch.className = `swatch ${method.name}`;
    heading.append(swatch, `${method.name} (${method.search})`);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Solution of ${method.name}`);
    section.append(heading, canvas, text);
    this.box.append(section);
    const map = new MapView(canvas);
    map.setNodes(instance.places(), instance.amounts(), instance.isDrawn && instance.canEdit ? [0, 0, 100, 100] : undefined);
    map.show(scene(undefined));
    const tell = (line) => (text.textContent = line);
    tell("waiting…");
    return { map, tell, text, curve: { ...method, color, points: [], until: 0 } };
  }

  /** Marks the best, and says how far the others are. */
  judge(larger) {
    const values = this.panels.map((panel) => panel.value).filter((value) => value !== undefined);
    if (!values.length) return;
    const best = larger ? Math.max(...values) : Math.min(...values);
    for (const panel of this.panels.filter((panel) => panel.value !== undefined)) {
      const gap = best ? (Math.abs(panel.value - best) / Math.abs(best)) * 100 : 0;
      panel.text.classList.toggle("best", panel.value === best);
      panel.tell(`${panel.text.textContent}${panel.value === best ? " · best" : ` · ${gap.toFixed(2)} % worse`}`);
    }
  }
}
