// SPDX-License-Identifier: GPL-2.0-or-later
// The page: what every thread is doing. Names come from untrusted programs: they only become
// text, by make() and textContent, and keys of a Map, never of an object.
"use strict";

// ---- model: trees and numbers, without DOM; libpmp/write/tree.h documents the format -----

const model = (() => {
	// The columns of numbers in a tree. A heap has those of HEAP, and from HEAP_BASE on the
	// same for its base.
	const STATES = 5, IDLE = 5, SAMPLES = 6, IDLE_SAMPLES = 7, BASE = 8, IDLE_BASE = 9;
	const COLUMNS = 10, HEAP_BASE = 5;
	// The name of nodes that stand for several, merged because there were too many.
	const REST = -1;
	const TIMED = ["samples", "wall", "cpu", "off cpu", "ready", "lock", "disk", "sleep"];
	const HEAP = ["live bytes", "live blocks", "allocated bytes", "allocations"];
	// What widths can show. Each: columns, those of idle threads, then both for the base.
	const KINDS = new Map([
		["samples", [[SAMPLES], [IDLE_SAMPLES]]],
		["wall", [[0, 1, 2, 3, 4], [IDLE]]],
		["cpu", [[0]]],
		["ready", [[1]]],
		["lock", [[2]]],
		["disk", [[3]]],
		["sleep", [[4], [IDLE]]],
		["off cpu", [[1, 2, 3, 4], [IDLE]]],
		["value", [[0]]],
		...HEAP.map((kind, i) => [kind, [[i], [], [HEAP_BASE + i], []]]),
	]);

	// A negative number -N stands for N zeros.
	function unpack(list, count) {
		const numbers = new Float64Array(count);
		let at = 0;
		for (const number of list || []) {
			if (number < 0)
				at -= number;
			else
				numbers[at++] = number;
		}
		return numbers;
	}

	// Compute parents, ends of branches, and sums including branches.
	function finish(tree) {
		const open = [], count = tree.count;
		tree.parent = new Int32Array(count);
		tree.end = new Int32Array(count);
		tree.sum = tree.self.map(column => column.slice());
		for (let i = 0; i < count; i++) {
			const depth = tree.depth[i];
			open[depth] = i;
			tree.parent[i] = depth ? open[depth - 1] : -1;
			tree.end[i] = i + 1;
		}
		for (let i = count - 1; i > 0; i--) {
			const parent = tree.parent[i];
			tree.end[parent] = Math.max(tree.end[parent], tree.end[i]);
			for (const column of tree.sum)
				column[parent] += column[i];
		}
		return tree;
	}

	function decode(json) {
		const { names, module, modules, unit, split, file = [], files = [], heaps = [] } = json;
		const count = json.depth.length, heap = unit === "heap";
		const value = heap || json.states.length === 1;
		const self = [0, 1, 2, 3, 4].map(state => json.v[state]).concat([json.idle, json.samples,
			json.idle_samples, json.base, json.base_idle]).map(list => unpack(list, count));
		if (!json.samples && !heap) {
			self[SAMPLES].forEach((_, i, samples) => {
				for (let state = 0; state < STATES; state++)
					samples[i] += self[state][i];
			});
			self[IDLE_SAMPLES] = self[IDLE].slice();
		}
		return finish({
			count, self, names, module, modules, file, files, unit, split, value, heap, heaps,
			missing: json.missing || {},
			timed: unit === "us" && !value, compares: Boolean(json.base),
			depth: Int32Array.from(json.depth),
			name: Int32Array.from(json.name, name => Math.max(name, REST)),
			rest: Int32Array.from(json.name, name => Math.max(-name, 0)),
		});
	}

	function kinds(tree) {
		return tree.heap ? HEAP : tree.value ? ["value"] : tree.compares ? ["samples"] :
			tree.timed ? TIMED : ["samples", "lock"];
	}

	// The direct children of a node.
	function kids(tree, node) {
		const list = [];
		for (let kid = node + 1; kid < tree.end[node]; kid = tree.end[kid])
			list.push(kid);
		return list;
	}

	// The name numbers from below the root to the node.
	function pathOf(tree, node) {
		const path = [];
		for (; node > 0; node = tree.parent[node])
			path.push(tree.name[node]);
		return path.reverse();
	}

	function nameOf(tree, name) {
		return name === REST ? "\u2026" : tree.names[name];
	}

	function namesOf(tree, node) {
		return pathOf(tree, node).map(name => nameOf(tree, name));
	}

	// The node of a path of names, or the last node of the path that exists.
	function find(tree, names) {
		let node = 0;
		for (const name of names) {
			const kid = kids(tree, node).find(kid => nameOf(tree, tree.name[kid]) === name);
			if (!kid)
				break;
			node = kid;
		}
		return node;
	}

	// ---- trees derived from others: first with kids, then flat like those of the server ------

	function sprout(name, depth) {
		return { name, depth, rest: 0, kids: new Map(), self: new Float64Array(COLUMNS) };
	}

	// Add the paths of a tree below a root. change(path) returns another path, or null to skip
	// it; place(column) returns the column for its numbers, or -1.
	function grow(root, tree, change, place) {
		for (let i = 0; i < tree.count; i++) {
			const path = tree.self.some(column => column[i] > 0) && change(pathOf(tree, i));
			if (!path)
				continue;
			let at = root;
			for (const name of path) {
				if (!at.kids.has(name))
					at.kids.set(name, sprout(name, at.depth + 1));
				at = at.kids.get(name);
			}
			at.rest += tree.rest[i];
			for (let column = 0; column < COLUMNS; column++)
				if (place(column) >= 0)
					at.self[place(column)] += tree.self[column][i];
		}
	}

	// Kids are sorted by name; merged nodes come last.
	function flatten(tree, root) {
		const open = [root], nodes = [];
		while (open.length) {
			const node = open.pop();
			nodes.push(node);
			open.push(...[...node.kids.values()].sort((a, b) =>
				a.name === REST ? -1 : b.name === REST ? 1 : b.name - a.name));
		}
		return finish({ ...tree, count: nodes.length,
			depth: Int32Array.from(nodes, node => node.depth),
			name: Int32Array.from(nodes, node => node.name),
			rest: Int32Array.from(nodes, node => node.rest),
			self: tree.self.map((_, i) => Float64Array.from(nodes, node => node.self[i])),
		});
	}

	// group: "" for all together, "*" for each apart, or one of groups(); focus: a test of
	// names, or null.
	function select(tree, { group, focus, inverted }) {
		const split = Boolean(tree.split), hits = focus && tree.names.map(focus);
		const root = sprout(0, 0);
		if ((!split || group === "*") && !hits && !inverted)
			return tree;
		grow(root, tree, path => {
			if (split && group && group !== "*" && tree.names[path[1]] !== group)
				return null;
			if (hits && !path.some(name => hits[name]))
				return null;
			if (split && group !== "*")
				path.splice(1, 1);
			return inverted ? path.reverse() : path;
		}, column => column);
		return flatten(tree, root);
	}

	// A tree of one with other as its base: functions are the same if name and module are.
	function compare(one, other) {
		const keyOf = (tree, name) =>
			tree.names[name] + "\u0001" + (tree.modules[tree.module[name]] || "");
		const all = new Map(), numbers = new Map(), root = sprout(0, 0);
		const made = { ...one, compares: true, names: [one.names[0]], module: [-1], file: [-1],
			modules: [], files: [] };
		for (const tree of [other, one])
			tree.names.forEach((_, name) => name && all.set(keyOf(tree, name), [tree, name]));
		const number = (list, text) => text === undefined ? -1 :
			list.includes(text) ? list.indexOf(text) : list.push(text) - 1;
		[...all.keys()].sort().forEach((key, i) => {
			const [tree, name] = all.get(key);
			numbers.set(key, i + 1);
			made.names.push(tree.names[name]);
			made.module.push(number(made.modules, tree.modules[tree.module[name]]));
			made.file.push(number(made.files, tree.files[tree.file[name]]));
		});
		const add = (tree, place) => grow(root, tree, path => path.map(name =>
			name === REST ? REST : numbers.get(keyOf(tree, name))), place);
		add(one, column => column);
		add(other, column => one.heap ? column < HEAP.length ? HEAP_BASE + column : -1 :
			column === SAMPLES ? BASE : column === IDLE_SAMPLES ? IDLE_BASE : -1);
		return flatten(made, root);
	}

	// ---- numbers of a tree ---------------------------------------------------------------------

	// The numbers that determine the widths of nodes. idle: "shown", "hidden", "only".
	function weigh(tree, kind, idle) {
		const [columns, idles = [], base = [BASE], baseIdles = [IDLE_BASE]] = KINDS.get(kind);
		function add(from, columns, idles) {
			const weights = new Float64Array(tree.count);
			const put = factor => column => from[column].forEach((number, i) => {
				weights[i] += factor * number;
			});
			if (idle !== "only")
				columns.forEach(put(1));
			if (idle !== "shown")
				idles.forEach(put(idle === "only" ? 1 : -1));
			return weights;
		}
		return {
			self: add(tree.self, columns, idles), total: add(tree.sum, columns, idles),
			baseSelf: add(tree.self, base, baseIdles), base: add(tree.sum, base, baseIdles),
		};
	}

	// The nodes whose names match, and the share of all stacks through any of them.
	function search(tree, weight, test) {
		const hits = tree.names.map(test), nodes = [];
		let sum = 0, end = 0;
		for (let i = 0; i < tree.count; i++) {
			if (tree.name[i] === REST || !hits[tree.name[i]])
				continue;
			nodes.push(i);
			if (i < end)
				continue;
			sum += weight.total[i];
			end = tree.end[i];
		}
		return { nodes, share: sum / (weight.total[0] || 1) };
	}

	// Calls visit(node, name, outermost) for each node; outermost: no ancestor has its name.
	function walk(tree, visit) {
		const above = new Int32Array(tree.names.length), open = [];
		for (let i = 1; i < tree.count; i++) {
			const name = tree.name[i];
			while (open.length >= tree.depth[i])
				above[open.pop()]--;
			if (name !== REST)
				visit(i, name, !above[name]);
			open.push(Math.max(name, 0));
			above[Math.max(name, 0)]++;
		}
	}

	// The share of merged nodes.
	function rest(tree, weight) {
		let sum = 0;
		tree.name.forEach((name, i) => { sum += name === REST ? weight.self[i] : 0; });
		return sum / (weight.total[0] || 1);
	}

	// Like the flat profile: processes and the like only count where nothing else is known.
	function functions(tree, weight) {
		const rows = new Map();
		walk(tree, (i, name, outermost) => {
			const row = rows.get(name) || { name, self: 0, total: 0, baseSelf: 0, baseTotal: 0,
				states: new Array(STATES).fill(0) };
			rows.set(name, row);
			row.self += weight.self[i];
			row.baseSelf += weight.baseSelf[i];
			if (!outermost)
				return;
			row.total += weight.total[i];
			row.baseTotal += weight.base[i];
			for (let state = 0; state < STATES; state++)
				row.states[state] += tree.sum[state][i];
		});
		return [...rows.values()].filter(row =>
			tree.module[row.name] >= 0 || row.self || row.baseSelf);
	}

	// The callers and callees of a function, by weight.
	function around(tree, weight, wanted) {
		const callers = new Map(), callees = new Map();
		const add = (to, name, weight) => to.set(name, (to.get(name) || 0) + weight);
		walk(tree, (i, name, outermost) => {
			const above = tree.depth[i] > 1 ? tree.name[tree.parent[i]] : 0;
			if (above && outermost && name === wanted)
				add(callers, above, weight.total[i]);
			if (above && above === wanted && name !== wanted)
				add(callees, name, weight.total[i]);
		});
		const sorted = map => [...map].filter(row => row[1] > 0)
			.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
		return { callers: sorted(callers), callees: sorted(callees) };
	}

	// The groups of a split tree, with the total of each, and its part in a function.
	function groups(tree, weight, wanted) {
		const found = new Map();
		let group, end = 0;
		if (!tree.split)
			return [];
		walk(tree, (i, name) => {
			if (tree.depth[i] === 2) {
				group = found.get(name) || { name: tree.names[name], total: 0, part: 0 };
				found.set(name, group);
				group.total += weight.total[i];
			}
			if (tree.depth[i] > 1 && name === wanted && i >= end) {
				group.part += weight.total[i];
				end = tree.end[i];
			}
		});
		return [...found.values()];
	}

	// The boxes of a node and what is below it, with its ancestors as wide as the picture.
	// Neighbours narrower than least pixels share one box: `more` of them.
	function layout(tree, total, zoomed, width, least) {
		const boxes = [], scale = total[zoomed] > 0 ? width / total[zoomed] : 0;
		const open = [{ node: zoomed, x: 0, w: width, row: tree.depth[zoomed] }];
		for (let i = zoomed; i > 0; i = tree.parent[i])
			boxes.unshift({ node: tree.parent[i], x: 0, w: width, row: tree.depth[i] - 1,
				above: true });
		while (open.length) {
			const box = open.pop(), row = box.row + 1;
			let x = box.x, more = null;
			boxes.push(box);
			for (const node of kids(tree, box.node)) {
				const w = total[node] * scale;
				if (w >= least && tree.name[node] !== REST) {
					open.push({ node, x, w, row });
					more = null;
				} else if (w > 0) {
					if (!more)
						boxes.push(more = { node, x, w: 0, row, more: 0 });
					more.more += tree.rest[node] || 1;
					more.w += w;
				}
				x += w;
			}
		}
		return boxes.filter(box => box.w >= least || box.node === zoomed);
	}

	// The same with only the `most` widest boxes.
	function picture(tree, total, zoomed, width, most) {
		const boxes = layout(tree, total, zoomed, width, 0.5);
		if (boxes.length <= most)
			return boxes;
		const widths = boxes.map(box => box.w).sort((a, b) => b - a);
		return layout(tree, total, zoomed, width, widths[most] * 1.001);
	}

	// The difference to the base as a share of all; factor scales the base.
	function change(weight, node, factor) {
		const whole = weight.total[0] || weight.base[0] * factor || 1;
		return (weight.total[node] - weight.base[node] * factor) / whole;
	}

	function hottest(tree, total, node) {
		const path = [node];
		for (let below; (below = kids(tree, node)).length; path.push(node))
			node = below.reduce((best, kid) => total[kid] > total[best] ? kid : best);
		return path;
	}

	// ---- readable numbers and names ------------------------------------------------------------

	const grouped = number => Math.round(number).toLocaleString("en");

	// "1 lock", "1,200 locks".
	const several = (number, word) => grouped(number) + " " + word + (number === 1 ? "" : "s");

	function bytes(value) {
		const units = ["B", "kB", "MB", "GB", "TB", "PB"];
		let unit = 0;
		for (; unit + 1 < units.length && value >= 1024; unit++)
			value /= 1024;
		return value.toFixed(unit ? 2 : 0).replace(/\.00$/, "") + units[unit];
	}

	function time(us) {
		return us >= 995e3 ? (us / 1e6).toFixed(2) + " s" :
			us >= 995 ? (us / 1e3).toFixed(us < 9950 ? 1 : 0) + " ms" : us + " us";
	}

	// In the unit of a kind: "1,200", "1.94 s", "1.50MB".
	function format(tree, kind, value) {
		if (kind === "samples" || !(tree.timed || tree.value))
			return grouped(value);
		if (tree.timed)
			return time(value);
		if (tree.heap ? / bytes/.test(kind) : /^bytes?$/i.test(tree.unit))
			return bytes(value);
		if (/^(nanoseconds?|ns)$/i.test(tree.unit))
			return time(Math.round(value / 1e3));
		return grouped(value) + (tree.heap || tree.unit === "count" ? "" : " " + tree.unit);
	}

	// C++ and Rust names without parameters and template arguments.
	function brief(name) {
		let text = "", depth = 0;
		if (/^[(<[]|operator[(<]/.test(name))
			return name;
		for (const c of name) {
			if (c === "<" || c === "(")
				depth++;
			if (!depth)
				text += c;
			if (c === ">" || c === ")")
				depth = Math.max(depth - 1, 0);
		}
		return text.trim() || name;
	}

	// A test of names; ignores case unless text has capitals. Throws on a syntax error.
	function pattern(text) {
		const expression = new RegExp(text.slice(0, 4096), /[A-Z]/.test(text) ? "" : "i");
		return name => expression.test(name);
	}

	return { REST, TIMED, HEAP, decode, kinds, kids, nameOf, namesOf, find, select, compare,
		weigh, search, rest, functions, around, groups, picture, change, hottest, grouped, several,
		bytes, time, format, brief, pattern };
})();

// ---- the page ------------------------------------------------------------------------------

function page(document, window) {
	const PHONE = 700, MOST = 1500, CHAR = 7, ROWS = 500;
	const STATES = ["run", "ready", "lock", "disk", "sleep"];
	const LATE = 5000; // ms
	const SECONDS = 600, WINDOWS = [10, 60, 0];
	const IDLE = ["shown", "hidden", "only"];
	const SAVED = ["pprof", "html", "svg", "folded", "flat", "speedscope", "perf"];
	const SAVED_HEAP = ["pprof", "heap"];
	const SUFFIXES = { pprof: "pb.gz", speedscope: "speedscope.json" };
	// Differences, in 1/10,000, that make the colour one level stronger.
	const STEPS = [5, 20, 50, 100, 200, 500, 1000, 2000];
	const VIEWS = {
		flame: drawFlame, functions: drawFunctions, tree: drawTree, threads: drawThreads,
		locks: drawLocks, diff: drawFlame,
	};
	const settings = {
		view: "flame", kind: "", wanted: "", group: "", idle: "shown", focus: "", unclear: false, inverted: false,
		brief: false, base: false, window: 1, frozen: false,
		sorts: { functions: { title: "self %" }, threads: { title: "samples" },
			locks: { title: "samples" } },
	};

	// The data: its trees, the chosen one, that one after group, filter and inversion, and the
	// same without inversion.
	let data, trees = [], whole, wholeWeight, tree, weight, upright, uprightWeight;
	// The selection. Paths of names stay valid when a new tree comes.
	let zoom = [], selected = null, selectedPath = null, found = null, opened = null;
	// What is on the screen.
	let boxes = [], columns = [];
	const pool = [], hues = new Map();

	// Elements by their ids: "zoom-out" is ui.zoomOut.
	const ui = {}, root = document.documentElement;
	for (const element of document.querySelectorAll("[id]"))
		ui[element.id.replace(/-(.)/, (_, c) => c.toUpperCase())] = element;

	// Set attributes; null removes one.
	function set(element, attributes) {
		for (const [name, value] of Object.entries(attributes)) {
			if (value === null)
				element.removeAttribute(name);
			else
				element.setAttribute(name, value);
		}
		return element;
	}

	// Children are texts and elements; falsy ones are left out.
	function make(tag, { onclick = null, ...attributes } = {}, ...children) {
		const element = set(document.createElement(tag), attributes);
		element.onclick = onclick;
		element.append(...children.filter(Boolean));
		return element;
	}

	function button(text, onclick, attributes) {
		return make("button", { type: "button", onclick, "data-key": text, ...attributes }, text);
	}

	function fill(element, ...children) {
		element.replaceChildren(...children.filter(Boolean));
	}

	// The same for elements that someone may be using: the focus stays on the same data-key, and
	// an automatic update changes nothing below a pressed pointer or in a selection: false then.
	function refill(element, ...children) {
		const at = element.contains(document.activeElement) && document.activeElement.dataset.key;
		const chosen = window.getSelection();
		if (updating && (pressed && element.contains(pressed) ||
				!chosen.isCollapsed && element.contains(chosen.anchorNode)))
			return false;
		fill(element, ...children);
		const focused = at && [...element.querySelectorAll("[data-key]")].find(
			child => child.dataset.key === at);
		if (focused)
			focused.focus({ preventScroll: true });
		return true;
	}

	function join(parts, between) {
		return parts.filter(Boolean).join(between);
	}

	function percent(part, all) {
		return (all ? 100 * part / all : 0).toFixed(2);
	}

	function signed(share) {
		const text = (100 * share).toFixed(2);
		return /^-?0\.00$/.test(text) ? "0.00" : share > 0 ? "+" + text : text;
	}

	function amount(value) {
		return model.format(tree, settings.kind, value);
	}

	function amountOf(value) {
		return settings.kind === "samples" ? model.several(value, "sample") : amount(value);
	}

	// The amount for a state or a lock.
	function spent(value) {
		return whole.timed ? model.time(value) : model.grouped(value);
	}

	function shown(name) {
		const text = model.nameOf(tree, name);
		return settings.brief ? model.brief(text) : text;
	}

	function moduleOf(name) {
		return tree.modules[tree.module[name]] || "";
	}

	function sumsOf(node) {
		return STATES.map((_, i) => tree.sum[i][node]);
	}

	function allOf(sums) {
		return sums.reduce((a, b) => a + b, 0);
	}

	// The factor that scales numbers of the base.
	function factor() {
		return data.base && data.base.from ? data.base.to / data.base.from : 1;
	}

	// ---- data: part of a saved file, or fetched from a server ----------------------------------

	function take(json) {
		data = json;
		trees = [json.tree, json.heap].filter(Boolean).map(model.decode);
		if (json.other && (json.other.unit === "heap") === trees[0].heap)
			trees[0] = model.compare(trees[0], model.decode(json.other));
		if (trees[0].split === "thread" && !data.live)
			settings.group = "*";
		root.classList.add("loaded");
		wantType(json.type);
		chooseTree();
	}

	function firstKind() {
		const kinds = model.kinds(whole);
		return data.live && kinds.includes("wall") ? "wall" : kinds[0];
	}

	// At first show the type that the profile was made for.
	function wantType(type) {
		const at = ["inuse_space", "inuse_objects", "alloc_space", "alloc_objects"].indexOf(type);
		if (!settings.wanted && at >= 0)
			settings.wanted = model.HEAP[at];
	}

	// Choose the tree that has the wanted kind, if there is one.
	function chooseTree() {
		const has = tree => model.kinds(tree).includes(settings.wanted);
		whole = trees.find(has) || trees[0];
		if (has(whole))
			settings.kind = settings.wanted;
		else if (!model.kinds(whole).includes(settings.kind))
			settings.kind = firstKind();
		if (settings.view === "diff" && !data.base)
			settings.view = "flame";
		fillMenus();
		fillHead();
		remake();
	}

	function allKinds() {
		const heap = data.live && data.heap_kinds;
		return heap && whole.heap ? model.TIMED.concat(model.HEAP) :
			trees.map(model.kinds).concat(heap ? model.HEAP : []).flat();
	}

	function setKind(kind) {
		settings.wanted = kind;
		chooseTree();
		if (data.live && settings.kind !== kind) {
			settings.frozen = false;
			askAgain();
		}
	}

	let token = "", timer = 0, polling = false, soon = false;
	// updating: drawing an automatic update; pressed: the element where the pointer is down.
	let updating = false, pressed = null;

	async function get(path) {
		const answer = await window.fetch(path, { cache: "no-store",
			headers: token ? { Authorization: "Bearer " + token } : {} });
		ui.token.closest(".line").hidden = answer.status !== 401;
		if (answer.ok)
			return answer;
		let text = (await answer.text()).trim();
		try {
			text = JSON.parse(text).error;
		} catch (error) {
			text = text || answer.statusText;
		}
		throw new Error(answer.status + " " + text);
	}

	async function ask(path) {
		return (await get(path)).json();
	}

	function windowOf(range) {
		const { from, to } = range || { from: -1000 * WINDOWS[settings.window], to: 0 };
		return "from=" + from + "&to=" + to;
	}

	// A picture needs no more than is visible; sums of functions need everything.
	function detail() {
		return settings.view === "functions" || ui.search.value || selectedPath ? "" :
			"&px=" + window.innerWidth;
	}

	function askTree(range) {
		return ask("api/tree?" + windowOf(range) + "&split=group" + detail());
	}

	function askMore() {
		if (data.live && line.detail !== detail())
			again(0);
	}

	// The base is kept, as the server forgets it some day.
	async function takeBase() {
		const of = line.base && windowOf(line.base) + detail();
		if (of && line.known.of !== of)
			line.known = { of, tree: await askTree(line.base) };
		return of && line.known.tree;
	}

	function update(json) {
		updating = true;
		try {
			take(json);
		} finally {
			updating = false;
		}
	}

	// A chosen part of the past does not change: do not ask again. A heap has no past.
	async function takeWindow(state) {
		const table = ["threads", "locks"].includes(settings.view) ? settings.view : "";
		const asked = [windowOf(line.shown), line.base && windowOf(line.base), table, detail()].join();
		const heap = state.heap && model.HEAP.includes(settings.wanted);
		line.detail = detail();
		if (line.shown && asked === line.asked && !heap)
			return;
		const now = await (heap ? ask("api/heap?px=" + window.innerWidth) : askTree(line.shown));
		const base = heap ? line.heap : await takeBase();
		const rows = table ? await ask("api/" + table + "?" + windowOf(line.shown)) : {};
		if (settings.frozen)
			return;
		const targets = (state.targets || []).sort((a, b) => b.up - a.up);
		const [target, ...more] = targets.filter((target, i) => target.up || !i);
		const { threads, locks } = data || {};
		update({
			live: true, host: state.host, type: "", stacks: 0, heap_kinds: state.heap,
			title: target ? target.name + " [" + target.pid + "]" +
				(more.length ? " and " + more.length + " more" : "") : "no process",
			duration: now.to - now.from || 1000 * WINDOWS[settings.window] || state.history * 1000,
			snapshots: now.snapshots, rate: (state.rate || [])[1],
			truncated: state.truncated, evicted: state.evicted,
			tree: now.tree, other: base && base.tree,
			threads: rows.threads || threads || [], locks: rows.locks || locks || [],
			deadlocks: rows.deadlocks,
			base: base && (heap ? { heap: base.at } :
				{ snapshots: base.snapshots, to: now.rounds, from: base.rounds }),
		});
		line.asked = asked;
	}

	function fail(text) {
		ui.facts.textContent = text;
		root.classList.add("failed");
	}

	// Ask for the last seconds, at least a second after the last answer. Never twice at a time:
	// both would begin at the same second and add the same ones.
	async function poll() {
		const began = performance.now();
		timer = 0;
		soon = polling;
		if (document.hidden || settings.frozen || polling)
			return;
		polling = true;
		const late = window.setTimeout(fail, LATE, "no answer for " + LATE / 1000 + " s");
		try {
			const state = await ask("api/state");
			await takeSeconds(state);
			await takeWindow(state);
			drawLine();
			if (root.classList.contains("failed"))
				fillHead();
			root.classList.remove("failed");
		} catch (error) {
			fail(error.message);
		}
		window.clearTimeout(late);
		polling = false;
		again(soon ? 0 : Math.max(1000, 5 * (performance.now() - began)));
	}

	function again(after) {
		window.clearTimeout(timer);
		timer = window.setTimeout(poll, after);
	}

	// Ask again even for a part of the past.
	function askAgain() {
		line.asked = "";
		again(0);
	}

	// Download what is shown in a format of pmp.
	async function save() {
		const format = ui.save.value, name = data.title.replace(/[^\w.]+/g, "-").replace(/-$/, "");
		ui.save.value = "";
		try {
			const answer = await get(!whole.heap ? format + "?" + windowOf(line.shown) :
				format === "pprof" ? "debug/pprof/heap" : format);
			const href = URL.createObjectURL(await answer.blob());
			make("a", { href, download: name + "." + (SUFFIXES[format] || format) }).click();
			window.setTimeout(() => URL.revokeObjectURL(href), 60000);
		} catch (error) {
			ui.status.textContent = "not saved: " + error.message;
		}
	}

	// A token in the address is kept for this tab, and must not stay in its history.
	function setToken(text) {
		token = text;
		if (token)
			window.sessionStorage.setItem("token", token);
	}

	function start() {
		const address = new URL(window.location);
		listen();
		if (ui.data) {
			take(JSON.parse(ui.data.textContent));
			return;
		}
		setToken(address.searchParams.get("token") || window.sessionStorage.getItem("token") || "");
		address.searchParams.delete("token");
		window.history.replaceState(null, "", address);
		listenToLine();
		ui.save.hidden = false;
		ui.save.onchange = save;
		ui.token.onchange = () => {
			setToken(ui.token.value);
			again(0);
		};
		document.addEventListener("visibilitychange", () => again(0));
		poll();
	}

	// ---- time line: what threads did in each second. One part of it is shown: live, or chosen.
	// Another part may be the base to compare with. Times are ms since the start. ----

	const line = { first: 0, seconds: [], now: 0, start: 0, shown: null, base: null, asked: "",
		drag: null, marks: false, heap: null, known: {}, detail: "",
		rows: STATES, width: 0, left: 0, gutter: 0 };

	function lineEnd() {
		return line.first + 1000 * line.seconds.length;
	}

	async function takeSeconds(state) {
		// Another pmp. The tolerance is for shared answers, up to a second old.
		if (Math.abs(state.start - (line.start || state.start)) > 5000)
			Object.assign(line, { first: 0, seconds: [], shown: null, base: null, heap: null,
				known: {}, start: 0 });
		const more = await ask("api/timeline?from=" + lineEnd()), heap = Boolean(more.heap);
		if (more.from !== lineEnd())
			Object.assign(line, { first: more.from, seconds: [] });
		line.rows = heap ? [...STATES, "heap"] : STATES;
		line.seconds.push(...more.all.map((second, i) =>
			second && heap ? [...second, more.heap[i]] : second));
		const old = Math.max(0, line.seconds.length - SECONDS);
		line.seconds.splice(0, old);
		line.first += 1000 * old;
		line.now = state.now;
		line.start = line.start || state.start;
		ui.timeline.hidden = false;
		ui.timeline.classList.toggle("heap", heap);
	}

	function clamp(value, low, high) {
		return Math.max(low, Math.min(value, high));
	}

	function xOf(time) {
		return line.gutter + (line.width - line.gutter) * (1 - (line.now - time) / (1000 * SECONDS));
	}

	// The time of the second below the pointer.
	function timeAt(event) {
		const part = (event.offsetX - line.left - line.gutter) / (line.width - line.gutter);
		const time = line.now - 1000 * SECONDS * (1 - part);
		return 1000 * Math.floor(clamp(time, line.first, line.now) / 1000);
	}

	function clock(time) {
		return new Date(line.start + time).toTimeString().slice(0, 8);
	}

	function clocks(range, between) {
		return clock(range.from) + between + clock(range.to);
	}

	function shownRange() {
		const seconds = WINDOWS[settings.window] || SECONDS;
		return line.shown || { from: Math.max(0, line.now - 1000 * seconds), to: line.now };
	}

	function drawLine() {
		const canvas = ui.timeline, scale = window.devicePixelRatio || 1;
		if (canvas.hidden)
			return;
		const style = window.getComputedStyle(canvas), context = canvas.getContext("2d");
		const height = canvas.clientHeight, row = height / line.rows.length;
		line.left = parseFloat(style.paddingLeft);
		line.width = canvas.clientWidth - 2 * line.left;
		line.gutter = window.innerWidth > PHONE ? 76 : 70;
		const wide = Math.max(1, (line.width - line.gutter) / SECONDS);
		const colour = name => style.getPropertyValue("--" + name);
		const paint = (name, ...box) => {
			context.fillStyle = colour(name);
			context.fillRect(...box);
		};
		const write = (text, x, y) => {
			context.fillStyle = colour("faint");
			context.fillText(text, x, y);
		};
		canvas.width = line.width * scale;
		canvas.height = height * scale;
		context.scale(scale, scale);
		context.font = Math.min(12, row - 2) + "px system-ui, sans-serif";
		for (let minutes = 2; 60 * minutes < SECONDS; minutes += 2) {
			const x = xOf(line.now - 60000 * minutes);
			paint("line", x, 0, 1, height);
			write("\u2212" + minutes + " min", x + 3, 10);
		}
		line.rows.forEach((name, i) => {
			const most = Math.max(0, ...line.seconds.map(second => second ? second[i] : 0));
			const end = (i + 1) * row;
			write(name + " " + (name === "heap" ? model.bytes(most).replace(/\.\d+/, "") :
				(most / 1000).toFixed(most < 9950 ? 1 : 0)), 0, (i + 0.75) * row);
			line.seconds.forEach((second, at) => {
				const high = second ? second[i] / Math.max(most, 1000) * (row - 3) : 0;
				if (high)
					paint(name, xOf(line.first + 1000 * at), end - high, wide + 0.3, high);
			});
			paint("line", line.gutter, end - 0.5, line.width - line.gutter, 0.5);
		});
		// Hatch seconds of which nothing is known.
		line.seconds.forEach((second, at) => {
			for (let y = 2 * (at % 2); !second && y < height; y += 4)
				paint("faint", xOf(line.first + 1000 * at), y, wide, 1);
		});
		drawRange(context, height, shownRange(), colour("accent"), line.shown ? "A" : "live");
		if (line.base)
			drawRange(context, height, line.base, colour("disk"), "B");
		sayLine();
	}

	function drawRange(context, height, range, colour, label) {
		const left = Math.max(xOf(range.from), line.gutter), width = xOf(range.to) - left;
		const at = Math.min(left, line.width - 26);
		context.fillStyle = context.strokeStyle = colour;
		context.globalAlpha = 0.13;
		context.fillRect(left, 0, width, height);
		context.globalAlpha = 1;
		context.strokeRect(left + 0.5, 0.5, Math.max(width - 1, 1), height - 1);
		context.clearRect(at + 1, 1, 24, 11);
		context.fillText(label, at + 3, 10);
	}

	function sayLine() {
		const range = shownRange();
		const at = time => Math.max(0, Math.floor((time - line.first) / 1000));
		const seconds = line.seconds.slice(at(range.from), at(range.to)).filter(Boolean);
		set(ui.timeline, {
			"aria-valuemin": Math.round(line.first / 1000),
			"aria-valuemax": Math.round(line.now / 1000),
			"aria-valuenow": Math.round(range.from / 1000),
			"aria-valuetext": [clocks(range, " to "), ...line.rows.map((name, i) => {
				const mean = allOf(seconds.map(second => second[i])) / (seconds.length || 1);
				return name + " " + (name === "heap" ? model.bytes(mean) : (mean / 1000).toFixed(1));
			})].join(", "),
		});
	}

	// range: null for live, or for no base.
	function choosePast(range, which) {
		if (range) {
			const first = Math.max(line.first, line.now - 1000 * SECONDS);
			const from = clamp(range.from, first, line.now - 1000);
			range = { from, to: clamp(range.to, from + 1000, line.now) };
		}
		line[which] = range;
		line.marks = settings.frozen = false;
		if (which === "base")
			settings.view = range ? "diff" : "flame";
		drawLine();
		askAgain();
	}

	function live() {
		line.base = null;
		if (settings.view === "diff")
			settings.view = "flame";
		choosePast(null, "shown");
	}

	// Shift the shown part by some seconds, or only its end.
	function shiftPast(by, end) {
		const { from, to } = shownRange(), whole = time => 1000 * Math.floor(time / 1000);
		choosePast({ from: whole(from) + (end ? 0 : 1000 * by), to: whole(to) + 1000 * by }, "shown");
	}

	function rangeOf(drag, event) {
		const at = timeAt(event);
		return { from: Math.min(at, drag.at), to: Math.max(at, drag.at) + 1000 };
	}

	// A drag chooses a part; a click shows the state of that row.
	function dropLine(event) {
		const drag = line.drag, kinds = allKinds();
		line.drag = null;
		if (!drag)
			return;
		if (drag.moved) {
			choosePast(rangeOf(drag, event), drag.which);
			return;
		}
		const row = line.rows[Math.floor(event.offsetY / ui.timeline.clientHeight * line.rows.length)];
		const kind = { run: "cpu", heap: model.HEAP[0] }[row] || row;
		setKind(settings.kind === kind || !kinds.includes(kind) ?
			kinds[kinds.includes("wall") ? 1 : 0] : kind);
	}

	function listenToLine() {
		const canvas = ui.timeline;
		canvas.onpointerdown = event => {
			line.drag = { at: timeAt(event), x: event.clientX,
				which: event.shiftKey || line.marks ? "base" : "shown" };
			canvas.setPointerCapture(event.pointerId);
		};
		canvas.onpointermove = event => {
			const drag = line.drag;
			if (!drag)
				return;
			drag.moved = drag.moved || Math.abs(event.clientX - drag.x) > 3;
			if (drag.moved) {
				line[drag.which] = rangeOf(drag, event);
				drawLine();
			}
		};
		canvas.onpointerup = dropLine;
		canvas.onpointercancel = () => { line.drag = null; };
		canvas.ondblclick = live;
	}

	// ---- head and controls ---------------------------------------------------------------------

	function liveFact() {
		return settings.frozen ? "frozen" : whole.heap ? "heap now, allocated since the start" :
			line.shown ? clocks(line.shown, "-") :
			"live" + (data.rate ? " " + data.rate.toFixed(1) + " Hz" : "");
	}

	function baseNote({ heap, stacks, snapshots }) {
		return "base: " + (heap ? "the heap at " + clock(heap) :
			whole.value ? model.format(whole, "", stacks) :
			[stacks && model.grouped(stacks) + " stacks",
				snapshots !== undefined && model.grouped(snapshots) + " snapshots",
			].filter(text => text).join(" in ") + (line.base ? " " + clocks(line.base, "-") : ""));
	}

	function fillHead() {
		const us = 1000 * data.duration, missing = whole.missing;
		const utc = data.start ? new Date(data.start).toISOString() : "";
		const count = (number, text) => number && model.grouped(number) + " " + text;
		ui.title.textContent = data.title;
		document.title = "pmp: " + data.title;
		ui.facts.textContent = join([data.live && liveFact(), data.type,
			data.snapshots !== undefined && !data.type && !whole.heap &&
				model.grouped(data.snapshots) + " snapshots",
			!data.type && count(data.stacks, "stacks"), us && model.time(us), data.host,
			utc && utc.slice(0, 19).replace("T", " ") + " UTC"], " \u00b7 ");
		fill(ui.states, ...(whole.heap ? heapTotals() : whole.value ? [] : STATES.map((name, i) => {
			const sum = whole.sum[i][0];
			return make("span", { class: "state " + name },
				(whole.timed && us ? (sum / us).toFixed(1) : spent(sum)) + " " + name);
		})));
		ui.notes.textContent = join([
			count(data.stops, "stops, the longest " + model.time(data.longest)),
			count(data.truncated, "stacks truncated"), count(data.evicted, "evicted"),
			count(missing.records, "records missing: stacks are not exact"),
			count(missing.stacks, "samples without a stack"),
			count(missing.processes, "processes not recorded"),
			data.base && baseNote(data.base)], " \u00b7 ");
	}

	function heapTotals() {
		const sum = key => allOf(whole.heaps.map(heap => heap[key])), heaps = whole.heaps.length;
		return [heaps && model.bytes(sum("live")) + " live in " + model.several(sum("blocks"), "block"),
			heaps === 1 && model.bytes(sum("peak")) + " peak",
			heaps && model.bytes(sum("allocated")) + " allocated",
		].map(text => text && make("span", { class: "state heap" }, text));
	}

	// Fill it only if the choices change, as the menu may be open.
	function fillMenu(menu, choices) {
		const texts = JSON.stringify(choices);
		if (menu.dataset.choices !== texts)
			fill(menu, ...choices.map(([value, text]) => make("option", { value }, text)));
		menu.dataset.choices = texts;
	}

	function fillMenus() {
		const groups = model.groups(whole, model.weigh(whole, model.kinds(whole)[0], "shown"));
		const menus = {
			kind: allKinds().map(kind => [kind, kind === "value" && data.type || kind]),
			group: [["", "all"], ["*", "apart"], ...groups.map(({ name }) => [name, name])],
		};
		for (const [id, choices] of Object.entries(menus)) {
			if (!choices.some(([value]) => value === settings[id]))
				choices.push([settings[id], settings[id]]);
			fillMenu(ui[id], choices);
			ui[id].parentNode.hidden = choices.length < 2 || id === "group" && !whole.split;
		}
		fillMenu(ui.save, [["", "save"], ...(whole.heap ? SAVED_HEAP : SAVED).map(
			format => [format, format])]);
		ui.idle.parentNode.hidden = whole.value;
		ui.tabThreads.hidden = !data.threads;
		ui.tabLocks.hidden = !data.locks || !(data.live || data.locks.length);
		ui.tabDiff.hidden = !data.base;
	}

	function setGroup(group) {
		settings.group = group;
		remake();
	}

	function setIdle(idle) {
		settings.idle = idle;
		reweigh();
	}

	function setFocus(focus) {
		settings.focus = focus;
		remake();
	}

	function setZoom(path) {
		zoom = path;
		draw();
	}

	function show(view) {
		if (ui["tab" + view[0].toUpperCase() + view.slice(1)].hidden)
			return;
		settings.view = view;
		draw();
		if (ui.side.hidden && data.live)
			again(0);
	}

	function listen() {
		let width = window.innerWidth;
		ui.kind.onchange = () => setKind(ui.kind.value);
		ui.group.onchange = () => setGroup(ui.group.value);
		ui.idle.onchange = () => setIdle(ui.idle.value);
		ui.focus.onchange = () => setFocus(ui.focus.value);
		ui.search.oninput = () => setSearch(ui.search.value);
		ui.tabs.onclick = event => {
			const tab = event.target.closest("[data-view]");
			if (!tab)
				return;
			show(tab.dataset.view);
			// After a click, the next keys are for what is shown.
			if (event.detail)
				ui.boxes.focus({ preventScroll: true });
		};
		window.addEventListener("pointerdown", event => { pressed = event.target; });
		// Delayed, as the click comes after that.
		for (const name of ["pointerup", "pointercancel"])
			window.addEventListener(name, () => window.setTimeout(() => { pressed = null; }, 50));
		ui.helpButton.onclick = ui.helpClose.onclick = help;
		ui.grip.onclick = () => ui.side.classList.toggle("full");
		ui.boxes.onclick = onBox;
		ui.zoomOut.onclick = () => setZoom([]);
		ui.widths.onclick = () => {
			settings.base = !settings.base;
			draw();
		};
		window.addEventListener("keydown", onKey);
		window.addEventListener("resize", () => {
			if (width !== window.innerWidth && tree)
				draw();
			drawLine();
			width = window.innerWidth;
		});
	}

	// ---- search --------------------------------------------------------------------------------

	function search() {
		const text = ui.search.value;
		let says = "";
		found = null;
		try {
			if (text) {
				found = model.search(tree, weight, model.pattern(text));
				found.set = new Set(found.nodes);
				says = "Matched: " + (100 * found.share).toFixed(2) + "%";
			}
		} catch (error) {
			says = "not a regular expression";
		}
		ui.matched.textContent = says;
	}

	function setSearch(text) {
		ui.search.value = text;
		search();
		draw();
		askMore();
	}

	function next(step) {
		const drawn = found ? found.nodes.filter(node => totals()[node] > 0) : [];
		let at = drawn.findIndex(node => step > 0 ? node > selected : node >= selected);
		if (selected === null)
			at = 0;
		else if (step < 0)
			at = (at < 0 ? drawn.length : at) - 1;
		if (drawn.length)
			choose(drawn.slice(at)[0], true);
	}

	// ---- drawing -------------------------------------------------------------------------------

	function remake() {
		let focus = null;
		try {
			focus = settings.focus ? model.pattern(settings.focus) : null;
			settings.unclear = false;
		} catch (error) {
			settings.unclear = true;
		}
		upright = model.select(whole, { ...settings, focus, inverted: false });
		tree = settings.inverted ? model.select(whole, { ...settings, focus }) : upright;
		reweigh();
	}

	function reweigh() {
		weight = model.weigh(tree, settings.kind, settings.idle);
		uprightWeight = tree === upright ? weight :
			model.weigh(upright, settings.kind, settings.idle);
		wholeWeight = model.weigh(whole, settings.kind, settings.idle);
		search();
		draw();
	}

	// The widths: those of the base if that was chosen.
	function totals() {
		return settings.view === "diff" && settings.base ? weight.base : weight.total;
	}

	function draw() {
		const view = settings.view, picture = VIEWS[view] === drawFlame;
		for (const tab of ui.tabs.children)
			set(tab, { "aria-selected": tab.dataset.view === view,
				tabindex: tab.dataset.view === view ? 0 : -1 });
		ui.kind.value = data.live && settings.wanted || settings.kind;
		ui.group.value = settings.group;
		ui.idle.value = settings.idle;
		ui.focus.value = settings.focus;
		selected = selectedPath && model.find(tree, selectedPath);
		ui.flame.hidden = !picture;
		ui.table.hidden = picture;
		ui.side.hidden = ["threads", "locks"].includes(view);
		ui.widths.hidden = view !== "diff";
		ui.widths.textContent = settings.base ? "Show the profile" : "Show the base";
		VIEWS[view]();
		drawSide();
		say();
	}

	// ---- flame graph ---------------------------------------------------------------------------

	// Each module keeps its hue; with these steps successive hues differ a lot.
	function hue(module) {
		if (!hues.has(module))
			hues.set(module, (hues.size * 137 + 210) % 360);
		return hues.get(module);
	}

	// A gradient with the share of each state.
	function strip(sums) {
		const all = allOf(sums), stops = [];
		let at = 0;
		sums.forEach((sum, i) => {
			const end = at + 100 * sum / all;
			if (sum)
				stops.push("var(--" + STATES[i] + ") " + at.toFixed(1) + "% " + end.toFixed(1) + "%");
			at = end;
		});
		return all ? "linear-gradient(to right, " + stops.join(", ") + ")" : "none";
	}

	// The CSS class for the colour of a node.
	function classOf(node) {
		if (settings.view !== "diff")
			return moduleOf(tree.name[node]) ? "module" : "root";
		const share = model.change(weight, node, factor());
		const level = STEPS.filter(step => Math.abs(share) * 1e4 >= step).length;
		return level ? (share < 0 ? "less" : "more") + level : "same";
	}

	function mostly(node) {
		const sums = sumsOf(node), most = Math.max(...sums);
		return whole.value || !most ? "" : ", mostly " + STATES[sums.indexOf(most)];
	}

	function titleOf(node) {
		const value = weight.total[node];
		return shown(tree.name[node]) + " (" + amountOf(value) + ", " +
			percent(value, weight.total[0]) + "%" + (data.base && settings.view === "diff" ?
			"; " + signed(model.change(weight, node, factor())) + "%" : "") + ")";
	}

	function drawBox(box, i, width, row) {
		const { node, more } = box, element = pool[i], [label, states] = element.children;
		const text = more ? more + " more" : shown(tree.name[node]);
		const title = more ? text + ", too narrow to be shown" : titleOf(node);
		const module = more ? "" : moduleOf(tree.name[node]);
		element.className = join(["box"].concat(more ? "many" : [classOf(node), box.above && "above",
			found && found.set.has(node) && "hit", node === selected && "selected"]), " ");
		element.title = title;
		element.style.left = (100 * box.x / width).toFixed(4) + "%";
		element.style.width = "max(" + (100 * box.w / width).toFixed(4) + "% - 1px, 0.5px)";
		element.style.top = box.row * row + "px";
		if (module)
			element.style.setProperty("--hue", hue(module));
		label.textContent = box.w - 6 >= 3 * CHAR ? text : "";
		states.style.background = more || whole.value || settings.view === "diff" ? "none" :
			strip(sumsOf(node));
		set(element, {
			"data-at": i, "aria-level": box.row + 1,
			"aria-label": more ? title : shown(tree.name[node]) + ", " +
				percent(weight.total[node], weight.total[0]) + " percent" + mostly(node),
			"aria-selected": more ? null : node === selected,
			"aria-expanded": !more && tree.end[node] > node + 1 ? true : null,
		});
	}

	function drawFlame() {
		const flame = ui.boxes, phone = window.innerWidth <= PHONE, row = phone ? 20 : 22;
		const width = flame.clientWidth || 1;
		boxes = model.picture(tree, totals(), model.find(tree, zoom), width, MOST);
		boxes.sort((a, b) => a.row - b.row || a.x - b.x);
		while (pool.length < boxes.length)
			pool.push(make("div", { role: "treeitem", id: "box-" + pool.length },
				make("span", { class: "label" }), make("span", { class: "strip" })));
		boxes.forEach((box, i) => drawBox(box, i, width, row));
		while (flame.childNodes.length > boxes.length)
			flame.lastChild.remove();
		flame.append(...pool.slice(flame.childNodes.length, boxes.length));
		flame.style.height = (boxes[boxes.length - 1].row + 1) * row + "px";
		flame.classList.toggle("phone", phone);
		flame.classList.toggle("searched", Boolean(found));
		const active = boxes.findIndex(box => box.node === selected && !box.more);
		set(flame, { "aria-activedescendant": active < 0 ? null : "box-" + active });
		ui.empty.hidden = totals()[0] > 0;
	}

	function choose(node, scroll) {
		const zoomed = model.find(tree, zoom);
		const isIn = (one, other) => one >= other && one < tree.end[other];
		selectedPath = model.namesOf(tree, node);
		if (!isIn(node, zoomed) && !isIn(zoomed, node))
			zoom = [];
		document.body.classList.add("chosen");
		draw();
		askMore();
		const at = boxes.findIndex(box => box.node === node);
		if (scroll && at >= 0 && !ui.flame.hidden)
			pool[at].scrollIntoView({ block: "nearest" });
	}

	function unchoose() {
		selectedPath = null;
		document.body.classList.remove("chosen");
		ui.side.classList.remove("full");
	}

	// Choose the widest node with this name.
	function chooseName(name) {
		const nodes = [...tree.name.keys()].filter(node => node && tree.name[node] === name);
		if (nodes.length)
			choose(nodes.reduce((best, node) => weight.total[node] > weight.total[best] ? node : best));
	}

	function zoomTo(node) {
		setZoom(model.namesOf(tree, node));
	}

	function onBox(event) {
		const element = event.target.closest(".box"), box = element && boxes[element.dataset.at];
		if (!box)
			return;
		ui.boxes.focus({ preventScroll: true });
		if (box.more)
			choose(tree.parent[box.node]);
		else if (box.node === selected)
			zoomTo(box.node);
		else
			choose(box.node);
	}

	// Keys only move to boxes that are drawn.
	function move(key) {
		const drawn = new Set(boxes.filter(box => !box.more).map(box => box.node));
		const drawnBelow = node => model.kids(tree, node).filter(kid => drawn.has(kid));
		const siblings = drawnBelow(tree.parent[selected]), at = siblings.indexOf(selected);
		const to = !drawn.has(selected) ? model.find(tree, zoom) : {
			ArrowUp: tree.parent[selected], ArrowDown: drawnBelow(selected)[0],
			ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1],
			Home: siblings[0], End: siblings[siblings.length - 1],
		}[key];
		if (to >= 0)
			choose(to, true);
	}

	// ---- tables --------------------------------------------------------------------------------

	// Columns: title, function for the cell of a row, class, and optional function for the sort
	// key: numbers sort descending, texts ascending. The sort is stable.
	function drawTable(shown, rows, { click, caption, key: keyOfRow, isChosen }) {
		const { title: key, reverse } = settings.sorts[settings.view] || {};
		columns = shown;
		const [, , , by] = columns.find(column => column[0] === key) || [];
		const compare = (a, b) => a === b ? 0 : (a < b) === (typeof a === "number") ? 1 : -1;
		if (by)
			rows = [...rows].sort((a, b) => compare(by(a), by(b)) * (reverse ? -1 : 1));
		refill(ui.tableHead, make("tr", {}, ...columns.map(([title, , type, by]) => make("th", {
			scope: "col", class: /^number/.test(type) ? "number" : null,
			"aria-sort": !by ? null : title !== key ? "none" : reverse ? "ascending" : "descending",
		}, by ? button(title, () => sortBy(title)) : title))));
		const drawn = refill(ui.tableBody, ...rows.slice(0, ROWS).map((row, i) => make("tr",
			{ onclick: () => click(row), class: isChosen && isChosen(row) ? "selected" : null,
				tabindex: i ? -1 : 0, "data-key": "row " + keyOfRow(row) },
			...columns.map(([, cell, type]) => make(type === "row" ? "th" : "td",
				type === "row" ? { scope: "row" } : { class: type || null }, ...[cell(row)].flat())))));
		ui.caption.textContent = caption;
		return drawn;
	}

	function sortBy(title) {
		const sort = settings.sorts[settings.view];
		sort.reverse = sort.title === title && !sort.reverse;
		sort.title = title;
		draw();
	}

	function sortNext(by) {
		const sort = settings.sorts[settings.view];
		const titles = columns.filter(column => column[3]).map(column => column[0]);
		if (sort)
			sortBy(titles[(titles.indexOf(sort.title) + by + titles.length) % titles.length]);
	}

	function stateColumns(numbersOf, sortable) {
		return STATES.map((name, i) => [name + " %", row => {
			const numbers = numbersOf(row);
			return numbers[i] ? percent(numbers[i], allOf(numbers)) : "";
		}, "number " + name, sortable && (row => numbersOf(row)[i] / (allOf(numbersOf(row)) || 1))]);
	}

	function nameCell(name) {
		const module = moduleOf(name);
		return [make("span", { class: "name" }, shown(name)), module && " ",
			module && make("span", { class: "module-name" }, module)];
	}

	// Columns that a phone has no room for.
	function wide(...columns) {
		return window.innerWidth > PHONE ? columns : [];
	}

	function drawFunctions() {
		const all = weight.total[0], names = found && new Set(found.nodes.map(node => tree.name[node]));
		const base = row => row.baseTotal * factor(), wholeBase = all || weight.base[0] * factor();
		const rest = model.rest(upright, uprightWeight);
		const rows = model.functions(upright, uprightWeight).filter(row => !names || names.has(row.name))
			.sort((a, b) => b.self - a.self || b.total - a.total || a.name - b.name);
		drawTable([
			["self %", row => percent(row.self, all), "number", row => row.self],
			...wide(["self", row => amount(row.self), "number"]),
			["total %", row => percent(row.total, all), "number", row => row.total],
			...wide(["total", row => amount(row.total), "number"]),
			...(data.base ? [
				["base total %", row => percent(base(row), wholeBase), "number"],
				["difference", row => signed((row.total - base(row)) / (wholeBase || 1)), "number",
					row => Math.abs(row.total - base(row))],
			] : whole.value ? [] : wide(...stateColumns(row => row.states))),
			["function", row => nameCell(row.name), "row", row => shown(row.name)],
		], rows, { click: row => chooseName(row.name), key: row => shown(row.name), caption: rows.length > ROWS ?
			"The first " + ROWS + " of " + rows.length + " functions: the search finds the others." :
			model.several(rows.length, "function") + ". States are percent of the function's own total." +
			(rest < 5e-5 ? "" : " " + percent(rest, 1) + " % is in stacks that are too rare to be shown."),
		isChosen: row => selected !== null && tree.name[selected] === row.name });
	}

	function keyOf(node) {
		return model.namesOf(tree, node).join("\u0001");
	}

	function open(nodes) {
		nodes.forEach(node => opened.add(keyOf(node)));
	}

	// Open the tree down to the first node with several children.
	function openFirst() {
		let node = 0;
		if (opened)
			return;
		opened = new Set();
		while (node + 1 < tree.count && tree.end[node + 1] === tree.end[node])
			open([node++]);
		open([node]);
	}

	function openHottest() {
		openFirst();
		for (let node = selected || 0; node > 0; node = tree.parent[node])
			open([node]);
		open(model.hottest(tree, weight.total, selected || 0));
		draw();
	}

	function twist(node) {
		const key = keyOf(node), isOpen = opened.has(key);
		const sign = tree.end[node] === node + 1 ? "\u00b7" : isOpen ? "\u25be" : "\u25b8";
		return button(sign, event => {
			event.stopPropagation();
			if (!opened.delete(key))
				opened.add(key);
			draw();
		}, { class: "twist", "data-key": key, "aria-expanded": isOpen, "aria-label": isOpen ? "close" : "open" });
	}

	function drawTree() {
		const nodes = [], { total, self } = weight;
		openFirst();
		(function add(node) {
			if (nodes.length >= ROWS || !(total[node] > 0))
				return;
			nodes.push(node);
			if (opened.has(keyOf(node)))
				model.kids(tree, node).sort((a, b) => total[b] - total[a] || a - b).forEach(add);
		})(0);
		const drawn = drawTable([
			["total %", node => percent(total[node], total[0]), "number"],
			["total", node => amount(total[node]), "number"],
			["self %", node => percent(self[node], total[0]), "number"],
			["function", node => [twist(node), ...nameCell(tree.name[node])], "row"],
		], nodes, { click: choose, key: keyOf, caption: "e opens the hottest path.",
			isChosen: node => node === selected });
		if (!drawn)
			return;
		nodes.forEach((node, i) => {
			const indent = 8 + 14 * Math.min(tree.depth[node], 60);
			ui.tableBody.rows[i].lastChild.style.paddingLeft = indent + "px";
		});
	}

	// For rows that are arrays: element i, and the same as a formatted number.
	const field = i => row => row[i], count = i => row => model.grouped(row[i]);

	function drawThreads() {
		const rows = data.threads.filter(row => ["", "*", row[3]].includes(settings.group));
		drawTable([
			["tid", row => row[1] && String(row[1]), "number", field(1)],
			["name", field(2), "row", field(2)],
			["samples", count(4), "number", field(4)],
			...stateColumns(row => row.slice(5, 10), true),
			["most often in", field(10), "stack", field(10)],
		], rows, { click: row => {
			settings.view = "flame";
			setGroup(row[3]);
		}, key: row => row[1] + " " + row[2], caption:
			model.several(rows.length + (data.more_threads || 0), "thread") +
			(rows.length > ROWS || data.more_threads ? ", not all" : "") + ". A click shows its group." });
	}

	function drawLocks() {
		const drawn = drawTable([
			["waited", row => spent(row[2]), "number", field(2)],
			["samples", count(3), "number", field(3)],
			["threads", count(4), "number", field(4)],
			["lock", row => row[0] + (row[1] ? " (" + row[1] + ")" : ""), "", field(0)],
			["held by", field(5), "", field(5)],
			["in %", row => percent(row[6], row[3]), "number", row => row[6] / row[3]],
			["waits in", field(7), "stack", field(7)],
			["holder is in", field(8), "stack", field(8)],
		], data.locks, { click: () => {
			settings.view = "flame";
			setKind("lock");
		}, key: row => row[0] + " " + row[1], caption: model.several(data.locks.length, "lock") + (data.locks.length === 1 ? " was" : " were") +
			" waited for. The holder is the most frequent known one; what it is in is from samples in which it had the lock." +
			" A click shows that time as widths." });
		if (drawn)
			ui.tableBody.prepend(...(data.deadlocks || []).map(text => make("tr", { class: "deadlock" },
			make("td", { class: "name", colspan: columns.length }, "now: deadlock in " + text))));
	}

	// ---- side ----------------------------------------------------------------------------------

	function section(title, ...parts) {
		return make("section", {}, make("h3", {}, title), ...parts);
	}

	// A list of the first of some rows: text, number and what a click does.
	function list(title, rows) {
		return rows.length && section(title, make("ul", {}, ...rows.slice(0, 8).map(([text, part, go]) =>
			make("li", {}, button(text, go), make("span", { class: "number" },
				percent(part, weight.total[0]) + " %")))));
	}

	function names(rows) {
		return rows.map(([name, part]) => [shown(name), part, () => chooseName(name)]);
	}

	function stateRows(node) {
		const sums = sumsOf(node), all = allOf(sums), bar = make("div", { class: "bar" });
		bar.style.background = strip(sums);
		return !whole.value && all && section("what its threads did", bar, make("ul", {},
			...STATES.map((name, i) => sums[i] && make("li", {}, make("span",
				{ class: "state " + name }, name), make("span", { class: "number" },
				spent(sums[i]) + " \u00b7 " + percent(sums[i], all) + " %")))));
	}

	function drawSide() {
		if (selected === null) {
			refill(ui.sideContent, make("p", { class: "hint" }, "Click a box for details; click it again to zoom."));
			return;
		}
		const name = tree.name[selected], text = model.nameOf(tree, name), all = weight.total[0];
		const row = model.functions(upright, uprightWeight).find(row => row.name === name);
		const around = model.around(upright, uprightWeight, name);
		const groups = model.groups(whole, wholeWeight, name).filter(group => group.part > 0)
			.sort((a, b) => b.part - a.part)
			.map(({ name, part }) => [name, part, () => setGroup(name)]);
		const facts = ["here " + percent(weight.total[selected], all) + " %, " +
				amountOf(weight.total[selected]),
			row && "everywhere: self " + percent(row.self, all) + " %, total " +
				percent(row.total, all) + " %",
			row && data.base && "difference to the base " +
				signed(model.change(weight, selected, factor())) + " %"];
		refill(ui.sideContent, make("h2", {}, text),
			make("p", { class: "module-name" },
				join([moduleOf(name), tree.files[tree.file[name]]], "  ")),
			...facts.map(fact => fact && make("p", {}, fact)),
			make("p", {}, button("zoom", () => {
				show("flame");
				zoomTo(selected);
			}), button("only its stacks", () =>
				setFocus("^" + text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$"))),
			stateRows(selected), list("by group", groups),
			list("callers", names(around.callers)), list("callees", names(around.callees)));
	}

	// "lock 100 %, run 2.3 %"
	function states(node) {
		const sums = sumsOf(node), all = allOf(sums);
		return join(STATES.map((name, i) => sums[i] && all && name + " " +
			(100 * sums[i] / all).toFixed(sums[i] / all < 0.1 ? 1 : 0) + " %"), ", ");
	}

	function say() {
		// Screen readers must not read numbers that change by themselves.
		set(ui.status, { "aria-live": updating ? "off" : "polite" });
		ui.status.textContent = join([
			selected !== null ? join([titleOf(selected), !whole.value && states(selected)], "; ") :
				settings.view === "diff" && "red grew, blue shrank since the base",
			settings.focus && (settings.unclear ? "the filter is not a regular expression" :
				"only stacks with " + settings.focus)], "; ");
		ui.zoomOut.hidden = !zoom.length || ui.flame.hidden;
	}

	// ---- keys ----------------------------------------------------------------------------------

	function cycle(values, value) {
		return values[(values.indexOf(value) + 1) % values.length];
	}

	function edit(field) {
		field.focus();
		field.select();
	}

	function escape() {
		if (ui.search.value) {
			setSearch("");
		} else if (settings.focus) {
			setFocus("");
		} else if (zoom.length) {
			setZoom([]);
		} else {
			unchoose();
			draw();
		}
	}

	const KEYS = [
		["123456", "flame graph, functions, tree, threads, locks; what has changed, after d", key => show(Object.keys(VIEWS)[key - 1])],
		["/", "search for names: a regular expression", () => edit(ui.search)],
		["n", "next match", () => next(1)],
		["N", "previous match", () => next(-1)],
		["\\", "only stacks with a function that matches", () => edit(ui.focus)],
		["o", "only one group of threads", () => ui.group.focus()],
		["i", "threads that wait for work: shown, hidden, only they", () =>
			setIdle(cycle(IDLE, settings.idle))],
		["Ht", "groups of threads apart, or together", () =>
			setGroup(settings.group === "*" ? "" : "*")],
		["m", "what widths mean: samples, time, CPU ...", () =>
			setKind(cycle(allKinds(), ui.kind.value))],
		["v", "from the root or, inverted, from the leaf", () => {
			settings.inverted = !settings.inverted;
			zoom = [];
			unchoose();
			remake();
		}],
		["y", "live: the last 10 s, the last minute, all that is kept", () => {
			settings.window = (settings.window + 1) % WINDOWS.length;
			if (data.live)
				again(0);
		}],
		["Z", "live: freeze the picture, and go on", () => {
			settings.frozen = Boolean(data.live) && !settings.frozen;
			fillHead();
			if (data.live)
				again(0);
		}],
		["L", "live again; on the time line a drag chooses a part of the past, arrows move it", () => {
			if (data.live)
				live();
		}],
		["d", "mark on the time line what to compare with (or drag with Shift); a heap: what it is now",
			() => {
				if (whole.heap && data.live) {
					line.heap = line.heap ? null : { tree: data.tree, at: line.now };
					settings.view = line.heap ? "diff" : "flame";
					again(0);
					return;
				}
				line.marks = Boolean(data.live);
				ui.timeline.focus();
			}],
		["w", "live: save what is shown", () => ui.save.focus()],
		["e", "tree: open the hottest path", openHottest],
		["c", "short or full names", () => {
			settings.brief = !settings.brief;
			draw();
		}],
		["<", "tables: sort by the column to the left", () => sortNext(-1)],
		[">", "tables: sort by the column to the right", () => sortNext(1)],
		["I", "tables: sort the other way round", () => sortNext(0)],
		[["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"],
			"caller, callee, siblings", move],
		[["PageUp", "PageDown"], "scroll", key =>
			ui.view.scrollBy(0, (key === "PageUp" ? -0.9 : 0.9) * ui.view.clientHeight)],
		[["Enter"], "zoom", () => selected !== null && zoomTo(selected)],
		[["Backspace"], "zoom out by one", () => setZoom(zoom.slice(0, -1))],
		[["Escape"], "clear the search, filter, zoom or selection", escape],
		["?", "this list", help],
	];

	function help() {
		if (ui.help.open) {
			ui.help.close();
			return;
		}
		fill(ui.keys, ...KEYS.map(([keys, text]) => make("tr", {},
			make("th", { scope: "row" }, ...[...keys].map(key =>
				make("kbd", {}, key.replace("Arrow", "")))), make("td", {}, text))));
		ui.help.showModal();
	}

	function moveTab(tab, by) {
		const tabs = [...ui.tabs.children].filter(other => !other.hidden);
		const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length];
		show(next.dataset.view);
		next.focus();
	}

	// Keys in a table: move to another row, or act like a click.
	function moveRow(row, key) {
		const rows = [...ui.tableBody.querySelectorAll("[data-key^='row ']")], at = rows.indexOf(row);
		const next = rows[{ ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: rows.length - 1 }[key]];
		if (key === "Enter")
			row.click();
		if (!next)
			return;
		row.tabIndex = -1;
		next.tabIndex = 0;
		next.focus();
	}

	function onKey(event) {
		const { target, key } = event, row = KEYS.find(([keys]) => keys.includes(key));
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (target.closest("input, select, textarea, dialog")) {
			if (target === ui.search && key === "Escape")
				escape();
			else if (![ui.search, ui.focus].includes(target) || key !== "Enter")
				return;
			target.blur();
			if (key === "Enter")
				ui.boxes.focus({ preventScroll: true });
		} else if (target === ui.timeline && /^Arrow(Left|Right)$/.test(key)) {
			shiftPast(key === "ArrowLeft" ? -1 : 1, event.shiftKey);
		} else if (/^(Enter| )$/.test(key) && target.closest("button, a")) {
			// The browser itself presses the focused element.
			return;
		} else if (target.getAttribute("role") === "tab" && /^Arrow(Left|Right)$/.test(key)) {
			moveTab(target, key === "ArrowLeft" ? -1 : 1);
		} else if (target.closest("#table-body tr") && /^(Arrow(Up|Down)|Home|End|Enter)$/.test(key)) {
			moveRow(target.closest("tr"), key);
		} else if (!row || ui.flame.hidden && /^(Arrow|Home|End|Page)/.test(key)) {
			return;
		} else {
			row[2](key);
		}
		event.preventDefault();
	}

	start();
}

if (typeof document !== "undefined")
	page(document, window);
else if (typeof module !== "undefined")
	module.exports = model;
