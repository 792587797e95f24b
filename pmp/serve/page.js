// SPDX-License-Identifier: GPL-2.0-or-later
// The page: what every thread is doing. Names come from programs that are not trusted: they
// become text by textContent only, and are keys of a Map, never of an object.
"use strict";

// ---- model: trees and numbers, without a document; libpmp/write/tree.h has the form ------

const model = (function () {
	const STATES = 5, IDLE = 5, SAMPLES = 6, IDLE_SAMPLES = 7, BASE = 8, IDLE_BASE = 9;
	const COLUMNS = 10, REST = -1;
	const KINDS = new Map([
		["samples", { columns: [SAMPLES], idle: [IDLE_SAMPLES] }],
		["wall", { columns: [0, 1, 2, 3, 4], idle: [IDLE] }],
		["cpu", { columns: [0], idle: [] }],
		["ready", { columns: [1], idle: [] }],
		["lock", { columns: [2], idle: [] }],
		["disk", { columns: [3], idle: [] }],
		["sleep", { columns: [4], idle: [IDLE] }],
		["off cpu", { columns: [1, 2, 3, 4], idle: [IDLE] }],
		["value", { columns: [0], idle: [] }],
	]);
	// Of a heap; with a base, its numbers come after these.
	const TIMED = ["samples", "wall", "cpu", "off cpu", "ready", "lock", "disk", "sleep"];
	const HEAP = ["live bytes", "live blocks", "allocated bytes", "allocations"], HEAP_BASE = 5;
	HEAP.forEach(function (kind, i) {
		KINDS.set(kind, { columns: [i], idle: [], base: [HEAP_BASE + i] });
	});

	// A negative number stands for so many zeros.
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

	// Parents, ends of branches, and sums with all branches.
	function finish(tree) {
		const open = [], count = tree.count;
		tree.parent = new Int32Array(count);
		tree.end = new Int32Array(count);
		tree.sum = tree.self.map(function (column) { return column.slice(); });
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
		const count = json.depth.length, heap = json.unit === "heap";
		const value = heap || json.states.length === 1;
		const self = [];
		for (let i = 0; i < STATES; i++)
			self[i] = unpack(json.v[i], count);
		self[IDLE] = unpack(json.idle, count);
		self[SAMPLES] = unpack(json.samples, count);
		self[IDLE_SAMPLES] = unpack(json.idle_samples, count);
		self[BASE] = unpack(json.base, count);
		self[IDLE_BASE] = unpack(json.base_idle, count);
		if (!json.samples && !heap) {
			for (let i = 0; i < count; i++)
				for (let state = 0; state < STATES; state++)
					self[SAMPLES][i] += self[state][i];
			self[IDLE_SAMPLES] = self[IDLE].slice();
		}
		return finish({
			count: count, self: self,
			names: json.names, module: json.module, modules: json.modules,
			file: json.file || [], files: json.files || [],
			unit: json.unit, split: json.split, value: value, heap: heap, heaps: json.heaps || [],
			missing: json.missing || {},
			timed: json.unit === "us" && !value, compares: Boolean(json.base),
			depth: Int32Array.from(json.depth),
			name: Int32Array.from(json.name, function (name) { return Math.max(name, REST); }),
			rest: Int32Array.from(json.name, function (name) { return Math.max(-name, 0); }),
		});
	}

	function kinds(tree) {
		if (tree.heap)
			return HEAP;
		if (tree.value)
			return ["value"];
		if (tree.compares)
			return ["samples"];
		return tree.timed ? TIMED : ["samples", "lock"];
	}

	// Numbers from the root's branches to the node.
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
		return pathOf(tree, node).map(function (name) { return nameOf(tree, name); });
	}

	// The node of a path of names, or the last of it that is there.
	function find(tree, names) {
		let node = 0;
		for (const name of names) {
			let child = node + 1;
			while (child < tree.end[node] && nameOf(tree, tree.name[child]) !== name)
				child = tree.end[child];
			if (child >= tree.end[node])
				break;
			node = child;
		}
		return node;
	}

	// Another tree of the same stacks: change() makes of each path another one, or null.
	function rebuild(tree, change) {
		const root = { name: 0, rest: 0, kids: new Map(), self: null };
		return flatten(tree, root, grow(root, tree, change, function (column) {
			return column;
		}) + 1);
	}

	// Add the paths of a tree below a root; place(column) is where its numbers go, or -1.
	// Returns how many nodes are new.
	function grow(root, tree, change, place) {
		let count = 0;
		for (let i = 0; i < tree.count; i++) {
			if (!tree.self.some(function (column) { return column[i] > 0; }))
				continue;
			const path = change(pathOf(tree, i));
			if (!path)
				continue;
			let at = root;
			for (const name of path) {
				let kid = at.kids.get(name);
				if (!kid) {
					kid = { name: name, rest: 0, kids: new Map(), self: null };
					at.kids.set(name, kid);
					count++;
				}
				at = kid;
			}
			at.self = at.self || new Float64Array(COLUMNS);
			at.rest += tree.rest[i];
			for (let column = 0; column < COLUMNS; column++)
				if (place(column) >= 0)
					at.self[place(column)] += tree.self[column][i];
		}
		return count;
	}

	// The one with the other as its base: names are the same if they and their modules are.
	function compare(one, other) {
		const numbers = new Map(), all = [];
		function keyOf(tree, name) {
			return tree.names[name] + "\u0001" + (tree.modules[tree.module[name]] || "");
		}
		for (const tree of [one, other])
			tree.names.forEach(function (text, name) {
				if (name && !numbers.has(keyOf(tree, name))) {
					numbers.set(keyOf(tree, name), 0);
					all.push([keyOf(tree, name), tree, name]);
				}
			});
		all.sort(function (a, b) { return a[0] < b[0] ? -1 : 1; });
		const made = Object.assign({}, one, { compares: true, names: [one.names[0]], module: [-1],
			file: [-1], modules: [], files: [] });
		function number(list, text) {
			if (text === undefined)
				return -1;
			return list.includes(text) ? list.indexOf(text) : list.push(text) - 1;
		}
		all.forEach(function ([key, tree, name], i) {
			numbers.set(key, i + 1);
			made.names.push(tree.names[name]);
			made.module.push(number(made.modules, tree.modules[tree.module[name]]));
			made.file.push(number(made.files, tree.files[tree.file[name]]));
		});
		const root = { name: 0, rest: 0, kids: new Map(), self: null };
		function path(tree) {
			return function (names) {
				return names.map(function (name) {
					return name === REST ? REST : numbers.get(keyOf(tree, name));
				});
			};
		}
		let count = grow(root, one, path(one), function (column) { return column; });
		count += grow(root, other, path(other), function (column) {
			if (one.heap)
				return column < HEAP.length ? HEAP_BASE + column : -1;
			return column === SAMPLES ? BASE : column === IDLE_SAMPLES ? IDLE_BASE : -1;
		});
		return flatten(made, root, count + 1);
	}

	function flatten(tree, root, count) {
		const made = Object.assign({}, tree, {
			count: count, depth: new Int32Array(count), name: new Int32Array(count),
			rest: new Int32Array(count),
			self: tree.self.map(function () { return new Float64Array(count); }),
		});
		const open = [[root, 0]];
		for (let i = 0; open.length; i++) {
			const [node, depth] = open.pop();
			made.name[i] = node.name;
			made.depth[i] = depth;
			made.rest[i] = node.rest;
			for (let column = 0; node.self && column < COLUMNS; column++)
				made.self[column][i] = node.self[column];
			// The last one is taken first; what was put together comes last.
			Array.from(node.kids.values()).sort(function (a, b) {
				return a.name === REST ? -1 : b.name === REST ? 1 : b.name - a.name;
			}).forEach(function (kid) { open.push([kid, depth + 1]); });
		}
		return finish(made);
	}

	// group: "" all, "*" apart, else one of groups(); focus: a test of names, or null.
	function select(tree, options) {
		const split = Boolean(tree.split), group = options.group;
		const hits = options.focus && tree.names.map(options.focus);
		if ((!split || group === "*") && !hits && !options.inverted)
			return tree;
		return rebuild(tree, function (path) {
			if (split && group && group !== "*" && tree.names[path[1]] !== group)
				return null;
			if (hits && !path.some(function (name) { return hits[name]; }))
				return null;
			if (split && group !== "*")
				path.splice(1, 1);
			return options.inverted ? path.reverse() : path;
		});
	}

	// The numbers by which nodes are as wide as they are. idle: "shown", "hidden", "only".
	function weigh(tree, kind, idle) {
		const what = KINDS.get(kind), base = { columns: what.base || [BASE],
			idle: what.base ? [] : [IDLE_BASE] };
		function add(from, of) {
			const weights = new Float64Array(tree.count);
			if (idle !== "only")
				for (const column of of.columns)
					for (let i = 0; i < tree.count; i++)
						weights[i] += from[column][i];
			if (idle !== "shown")
				for (const column of of.idle)
					for (let i = 0; i < tree.count; i++)
						weights[i] += from[column][i] * (idle === "only" ? 1 : -1);
			return weights;
		}
		return {
			kind: kind, self: add(tree.self, what), total: add(tree.sum, what),
			base: add(tree.sum, base), baseSelf: add(tree.self, base),
		};
	}

	// The share of all that has such a name anywhere, nothing twice; and the nodes.
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
		return { nodes: nodes, sum: sum, share: sum / (weight.total[0] || 1) };
	}

	// Calls outermost(node) for nodes that have no ancestor of the same name, any(node) for all.
	function walk(tree, outermost, any) {
		const above = new Int32Array(tree.names.length), open = [];
		for (let i = 1; i < tree.count; i++) {
			const name = tree.name[i];
			while (open.length >= tree.depth[i])
				above[open.pop()]--;
			if (name === REST) {
				open.push(0);
				above[0]++;
				continue;
			}
			if (!above[name])
				outermost(i, name);
			if (any)
				any(i, name);
			above[name]++;
			open.push(name);
		}
	}

	// As the flat profile: processes and the like count only where nothing else is known.
	function functions(tree, weight) {
		const rows = new Map();
		function row(name) {
			if (!rows.has(name))
				rows.set(name, { name: name, self: 0, total: 0, baseSelf: 0, baseTotal: 0,
					states: new Float64Array(STATES) });
			return rows.get(name);
		}
		walk(tree, function (i, name) {
			const found = row(name);
			found.total += weight.total[i];
			found.baseTotal += weight.base[i];
			for (let state = 0; state < STATES; state++)
				found.states[state] += tree.sum[state][i];
		}, function (i, name) {
			row(name).self += weight.self[i];
			row(name).baseSelf += weight.baseSelf[i];
		});
		return Array.from(rows.values()).filter(function (found) {
			return tree.module[found.name] >= 0 || found.self || found.baseSelf;
		});
	}

	// Who calls a function, and what it calls, by weight.
	function around(tree, weight, wanted) {
		const callers = new Map(), callees = new Map();
		function add(to, name, weight) { to.set(name, (to.get(name) || 0) + weight); }
		walk(tree, function (i, name) {
			if (name === wanted && tree.depth[i] > 1)
				add(callers, tree.name[tree.parent[i]], weight.total[i]);
		}, function (i, name) {
			const parent = tree.parent[i];
			if (tree.name[parent] === wanted && parent > 0 && name !== wanted)
				add(callees, name, weight.total[i]);
		});
		const sorted = function (map) {
			return Array.from(map).filter(function (row) { return row[1] > 0; })
				.sort(function (a, b) { return b[1] - a[1] || a[0] - b[0]; });
		};
		return { callers: sorted(callers), callees: sorted(callees) };
	}

	// The groups of a tree that is split, with what each has, and has of a function.
	function groups(tree, weight, wanted) {
		const found = new Map();
		if (!tree.split)
			return [];
		walk(tree, function () {}, function (i, name) {
			if (tree.depth[i] !== 2)
				return;
			const group = found.get(name) || { name: tree.names[name], total: 0, part: 0 };
			group.total += weight.total[i];
			for (let at = i; wanted !== undefined && at < tree.end[i];) {
				const is = tree.name[at] === wanted;
				group.part += is ? weight.total[at] : 0;
				at = is ? tree.end[at] : at + 1;
			}
			found.set(name, group);
		});
		return Array.from(found.values());
	}

	// Boxes of what is below a node, and of what it is in, as wide as the picture. What is
	// narrower than least pixels is one box with its neighbours: more of them.
	function layout(tree, total, zoomed, width, least) {
		const boxes = [], open = [];
		const scale = total[zoomed] > 0 ? width / total[zoomed] : 0;
		for (let i = zoomed; i > 0; i = tree.parent[i])
			boxes.unshift({ node: tree.parent[i], x: 0, w: width, row: tree.depth[i] - 1,
				above: true });
		open.push({ node: zoomed, x: 0, w: width, row: tree.depth[zoomed] });
		while (open.length) {
			const box = open.pop();
			let x = box.x, more = null;
			boxes.push(box);
			for (let child = box.node + 1; child < tree.end[box.node]; child = tree.end[child]) {
				const w = total[child] * scale;
				if (w >= least && tree.name[child] !== REST) {
					open.push({ node: child, x: x, w: w, row: box.row + 1 });
					more = null;
				} else if (w > 0) {
					if (!more) {
						more = { node: child, x: x, w: 0, row: box.row + 1, more: 0 };
						boxes.push(more);
					}
					more.more += tree.rest[child] || 1;
					more.w += w;
				}
				x += w;
			}
		}
		return boxes.filter(function (box) { return box.w >= least || box.node === zoomed; });
	}

	// The same with at most so many boxes, the widest.
	function picture(tree, total, zoomed, width, most) {
		const boxes = layout(tree, total, zoomed, width, 0.5);
		if (boxes.length <= most)
			return boxes;
		const widths = boxes.map(function (box) { return box.w; });
		widths.sort(function (a, b) { return b - a; });
		return layout(tree, total, zoomed, width, widths[most] * 1.001);
	}

	// Difference to the base as part of all; factor scales the base.
	function change(weight, node, factor) {
		const whole = weight.total[0] || weight.base[0] * factor || 1;
		return (weight.total[node] - weight.base[node] * factor) / whole;
	}

	function hottest(tree, total, node) {
		const path = [node];
		while (tree.end[node] > node + 1) {
			let best = node + 1;
			for (let child = best; child < tree.end[node]; child = tree.end[child])
				if (total[child] > total[best])
					best = child;
			node = best;
			path.push(node);
		}
		return path;
	}

	function grouped(number) {
		return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ",");
	}

	// "1 lock", "1,200 locks".
	function several(number, word) {
		return grouped(number) + " " + word + (number === 1 ? "" : "s");
	}

	function scaled(value, units, size) {
		let unit = 0;
		while (unit + 1 < units.length && value >= size) {
			value /= size;
			unit++;
		}
		return value.toFixed(unit ? 2 : 0).replace(/\.00$/, "") + units[unit];
	}

	function bytes(value) {
		return scaled(value, ["B", "kB", "MB", "GB", "TB", "PB"], 1024);
	}

	function time(us) {
		return us >= 995e3 ? (us / 1e6).toFixed(2) + " s" :
			us >= 995 ? (us / 1e3).toFixed(us < 9950 ? 1 : 0) + " ms" : us + " us";
	}

	// In the unit of a kind: "1,200", "1.94 s", "1.50MB".
	function format(tree, kind, value) {
		if (kind === "samples" || !(tree.timed || tree.value))
			return grouped(value);
		if (tree.heap)
			return / bytes/.test(kind) ? bytes(value) : grouped(value);
		if (tree.timed)
			return time(value);
		if (/^bytes?$/i.test(tree.unit))
			return bytes(value);
		if (/^nanoseconds?$|^ns$/i.test(tree.unit))
			return time(Math.round(value / 1e3));
		return grouped(value) + (tree.unit === "count" ? "" : " " + tree.unit);
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

	// Ignores case unless there are capitals. Throws where it is no expression.
	function pattern(text) {
		const expression = new RegExp(text.slice(0, 4096), /[A-Z]/.test(text) ? "" : "i");
		return function (name) { return expression.test(name); };
	}

	return {
		STATES: STATES, REST: REST, TIMED: TIMED, HEAP: HEAP, bytes: bytes, decode: decode, kinds: kinds, weigh: weigh, select: select,
		search: search, functions: functions, around: around, groups: groups,
		picture: picture, change: change, hottest: hottest, format: format, time: time,
		grouped: grouped, several: several, brief: brief, pattern: pattern, find: find, namesOf: namesOf,
		nameOf: nameOf, rebuild: rebuild, compare: compare,
	};
})();

// ---- the page ------------------------------------------------------------------------------

function page(document, window) {
	const ROW = 22, PHONE_ROW = 20, MOST = 1500, CHAR = 7, ROWS = 500;
	const STATE_NAMES = ["run", "ready", "lock", "disk", "sleep"];
	const WINDOWS = [10, 60, 0], SECONDS = 600;
	const SAVED = [["pprof", ".pb.gz"], ["html", ".html"], ["svg", ".svg"], ["folded", ".folded"],
		["flat", ".flat"], ["speedscope", ".speedscope.json"], ["perf", ".perf"]];
	const STEPS = [5, 20, 50, 100, 200, 500, 1000, 2000];
	const byId = function (id) { return document.getElementById(id); };

	let data = null, whole = null, whole_weight = null, tree = null, weight = null, trees = [];
	const settings = {
		view: "flame", kind: "", wanted: "", group: "", idle: "shown", focus: "", inverted: false,
		brief: false, base: false, sort: "self", reverse: false, thread_sort: 4, lock_sort: 3,
		thread_reverse: false, window: 1, frozen: false,
	};
	let zoom = [], selected = null, found = null, boxes = [], open_rows = null;
	const pool = [], hues = new Map();

	function make(tag, properties, ...children) {
		const element = document.createElement(tag);
		for (const [name, value] of Object.entries(properties || {})) {
			if (name === "text")
				element.textContent = value;
			else if (name === "class")
				element.className = value;
			else if (name.startsWith("on"))
				element.addEventListener(name.slice(2), value);
			else
				element.setAttribute(name, value);
		}
		element.append(...children);
		return element;
	}

	function fill(element, ...children) {
		element.replaceChildren(...children.filter(Boolean));
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
		return amount(value) + (settings.kind !== "samples" ? "" : value === 1 ? " sample" : " samples");
	}

	function shown(name) {
		const text = model.nameOf(tree, name);
		return settings.brief ? model.brief(text) : text;
	}

	function moduleOf(name) {
		const module = name > 0 ? tree.module[name] : -1;
		return module >= 0 ? tree.modules[module] : "";
	}

	function fileOf(name) {
		const file = name > 0 && tree.file.length ? tree.file[name] : -1;
		return file >= 0 ? tree.files[file] : "";
	}

	function factor() {
		return data.base && data.base.from ? data.base.to / data.base.from : 1;
	}

	// ---- data: a saved file has it in itself, else a server is asked ---------------------------

	function take(json) {
		data = json;
		trees = [json.tree, json.heap].filter(Boolean).map(model.decode);
		if (json.other && (json.other.unit === "heap") === trees[0].heap)
			trees[0] = model.compare(trees[0], model.decode(json.other));
		whole = treeOf(settings.wanted) || trees[0];
		if (model.kinds(whole).includes(settings.wanted))
			settings.kind = settings.wanted;
		else if (!model.kinds(whole).includes(settings.kind))
			settings.kind = model.kinds(whole)[data.live && whole.timed ? 1 : 0];
		if (whole.split === "thread" && !data.live)
			settings.group = "*";
		document.documentElement.classList.add("loaded");
		fillMenus();
		fillHead();
		remake();
	}

	function treeOf(kind) {
		return trees.find(function (tree) { return model.kinds(tree).includes(kind); });
	}

	function allKinds() {
		const heap = data.live && data.heap_kinds;
		return heap && whole.heap ? model.TIMED.concat(model.HEAP) :
			[].concat(...trees.map(model.kinds), heap ? model.HEAP : []);
	}

	// Of the other tree, which a server may have to be asked for.
	function setKind(kind) {
		settings.wanted = kind;
		if (model.kinds(whole).includes(kind)) {
			settings.kind = kind;
			reweigh();
		} else if (treeOf(kind)) {
			settings.kind = kind;
			whole = treeOf(kind);
			fillHead();
			remake();
		} else if (data.live) {
			line.asked = "";
			again(0);
		}
	}

	let token = "", timer = 0, polling = false, soon = false;

	function get(path) {
		return window.fetch(path, { cache: "no-store",
			headers: token ? { Authorization: "Bearer " + token } : {} });
	}

	async function ask(path) {
		const answer = await get(path);
		const body = answer.ok ? await answer.json() : await answer.text();
		if (answer.ok)
			return body;
		byId("token").closest(".line").hidden = answer.status !== 401;
		let text = body.trim();
		try {
			text = JSON.parse(body).error;
		} catch (error) {
			text = text || answer.statusText;
		}
		throw new Error(answer.status + " " + text);
	}

	function windowOf(range) {
		const seconds = WINDOWS[settings.window];
		return range ? "from=" + range.from + "&to=" + range.to :
			"from=" + (seconds ? "-" + seconds * 1000 : "0") + "&to=0";
	}

	function askTree(range) {
		return ask("api/tree?" + windowOf(range) + "&split=group&px=" + window.innerWidth);
	}

	// A chosen part of the past does not change. Of a heap there is only what it is now.
	async function takeWindow(state) {
		const table = ["threads", "locks"].includes(settings.view) ? settings.view : "";
		const asked = [windowOf(line.shown), line.base && windowOf(line.base), table].join();
		const heap = state.heap && model.HEAP.includes(settings.wanted);
		if (line.shown && asked === line.asked && !heap)
			return;
		const found = await (heap ? ask("api/heap?px=" + window.innerWidth) : askTree(line.shown));
		const base = heap ? line.heap : line.base && await askTree(line.base);
		const rows = table ? await ask("api/" + table + "?" + windowOf(line.shown)) : {};
		const seconds = WINDOWS[settings.window] || state.history;
		if (settings.frozen)
			return;
		const target = (state.targets || [])[0] || {}, more = (state.targets || []).length - 1;
		line.asked = asked;
		take({ live: true, host: state.host, type: "",
			title: target.pid ? target.name + " [" + target.pid + "]" +
				(more > 0 ? " and " + more + " more" : "") : "no process",
			duration: (found.to - found.from) || seconds * 1000, snapshots: found.snapshots,
			stacks: 0, rate: (state.rate || [])[1], truncated: state.truncated,
			evicted: state.evicted, tree: found.tree, other: base && base.tree,
			threads: rows.threads || data && data.threads || [],
			locks: rows.locks || data && data.locks || [],
			deadlocks: rows.deadlocks || [], heap_kinds: state.heap,
			base: base && (heap ? { heap: line.heap.at, to: 1, from: 1 } : { snapshots: base.snapshots, to: found.snapshots,
				from: base.snapshots }) });
	}

	// What the last seconds were, a second after the last answer came, or more. One after the
	// other: two that begin at the same second would both add what follows it.
	async function poll() {
		const began = performance.now();
		timer = 0;
		soon = polling;
		if (document.hidden || settings.frozen || polling)
			return;
		polling = true;
		try {
			const state = await ask("api/state");
			byId("token").closest(".line").hidden = true;
			await takeSeconds(state);
			await takeWindow(state);
			drawLine();
			document.documentElement.classList.remove("failed");
		} catch (error) {
			byId("facts").textContent = error.message;
			document.documentElement.classList.add("failed");
		}
		polling = false;
		again(soon ? 0 : Math.max(1000, 5 * (performance.now() - began)));
	}

	function again(after) {
		if (timer)
			window.clearTimeout(timer);
		timer = window.setTimeout(poll, after);
	}

	// What is shown, in a format of pmp, as a file of the browser.
	async function save() {
		const format = byId("save").value;
		byId("save").value = "";
		try {
			const answer = await get(format + "?" + windowOf(line.shown));
			if (!answer.ok)
				throw new Error(await answer.text());
			const url = URL.createObjectURL(await answer.blob());
			const link = make("a", { href: url, download: data.title.replace(/[^\w.]+/g, "-").replace(/-$/, "") +
				SAVED.find(function (row) { return row[0] === format; })[1] });
			link.click();
			window.setTimeout(function () { URL.revokeObjectURL(url); }, 60000);
		} catch (error) {
			byId("status").textContent = "not saved: " + error.message;
		}
	}

	// ---- time line: what threads did in each second. One part is shown, live unless it was
	// chosen, and another one may be what it is compared with. Times are ms since the start. ----

	const line = { first: 0, seconds: [], now: 0, start: 0, shown: null, base: null, asked: "",
		drag: null, marks: false, heap: null, rows: STATE_NAMES };

	function lineEnd() {
		return line.first + 1000 * line.seconds.length;
	}

	async function takeSeconds(state) {
		// Another pmp; an answer that is shared can be a second old.
		if (state.now + 5000 < lineEnd())
			Object.assign(line, { first: 0, seconds: [], shown: null, base: null, heap: null });
		const more = await ask("api/timeline?from=" + lineEnd());
		if (more.from !== lineEnd())
			Object.assign(line, { first: more.from, seconds: [] });
		if (more.heap)
			more.all.forEach(function (second, i) { if (second) second.push(more.heap[i]); });
		line.rows = more.heap ? STATE_NAMES.concat("heap") : STATE_NAMES;
		line.seconds.push(...more.all);
		const old = Math.max(0, line.seconds.length - SECONDS);
		line.seconds.splice(0, old);
		line.first += 1000 * old;
		line.now = state.now;
		line.start = line.start || state.start;
		byId("timeline").hidden = false;
		byId("timeline").classList.toggle("heap", Boolean(more.heap));
	}

	function gutter() {
		return window.innerWidth > 700 ? 76 : 70;
	}

	function xOf(time, width) {
		return gutter() + (width - gutter()) * (1 - (line.now - time) / (1000 * SECONDS));
	}

	function clock(time) {
		return new Date(line.start + time).toTimeString().slice(0, 8);
	}

	function shownRange() {
		const seconds = WINDOWS[settings.window] || SECONDS;
		return line.shown || { from: Math.max(0, line.now - 1000 * seconds), to: line.now };
	}

	function drawLine() {
		const canvas = byId("timeline"), scale = window.devicePixelRatio || 1;
		if (canvas.hidden)
			return;
		const style = window.getComputedStyle(canvas), context = canvas.getContext("2d");
		const width = canvas.clientWidth - 2 * parseFloat(style.paddingLeft);
		const height = canvas.clientHeight, row = height / line.rows.length;
		const colour = function (name) { return style.getPropertyValue("--" + name); };
		canvas.width = width * scale;
		canvas.height = height * scale;
		context.scale(scale, scale);
		context.font = Math.min(12, row - 2) + "px system-ui, sans-serif";
		const wide = Math.max(1, (width - gutter()) / SECONDS);
		for (let minutes = 2; 60 * minutes < SECONDS; minutes += 2) {
			const x = xOf(line.now - 60000 * minutes, width);
			context.fillStyle = colour("line");
			context.fillRect(x, 0, 1, height);
			context.fillStyle = colour("faint");
			context.fillText("\u2212" + minutes + " min", x + 3, 10);
		}
		line.rows.forEach(function (name, i) {
			const most = line.seconds.reduce(function (most, second) {
				return second ? Math.max(most, second[i]) : most;
			}, 0);
			context.fillStyle = colour("faint");
			context.fillText(name + " " + (name === "heap" ? model.bytes(most).replace(/\.\d+/, "") :
				(most / 1000).toFixed(most < 9950 ? 1 : 0)), 0,
				(i + 0.75) * row);
			context.fillStyle = colour(name);
			line.seconds.forEach(function (second, at) {
				const high = second ? second[i] / Math.max(most, 1000) * (row - 3) : 0;
				if (high)
					context.fillRect(xOf(line.first + 1000 * at, width), (i + 1) * row - high,
						wide + 0.3, high);
			});
			context.fillStyle = colour("line");
			context.fillRect(gutter(), (i + 1) * row - 0.5, width - gutter(), 0.5);
		});
		context.fillStyle = colour("faint");
		line.seconds.forEach(function (second, at) {
			for (let y = 2 * (at % 2); !second && y < height; y += 4)
				context.fillRect(xOf(line.first + 1000 * at, width), y, wide, 1);
		});
		drawRange(context, width, height, shownRange(), colour("accent"), line.shown ? "A" : "live");
		if (line.base)
			drawRange(context, width, height, line.base, colour("disk"), "B");
		sayLine();
	}

	function drawRange(context, width, height, range, colour, label) {
		const left = Math.max(xOf(range.from, width), gutter()), right = xOf(range.to, width);
		context.fillStyle = context.strokeStyle = colour;
		context.globalAlpha = 0.13;
		context.fillRect(left, 0, right - left, height);
		context.globalAlpha = 1;
		context.strokeRect(left + 0.5, 0.5, Math.max(right - left - 1, 1), height - 1);
		const at = Math.min(left, width - 26);
		context.clearRect(at + 1, 1, 24, 11);
		context.fillText(label, at + 3, 10);
	}

	function sayLine() {
		const range = shownRange(), sums = [0, 0, 0, 0, 0, 0];
		const from = Math.max(0, Math.floor((range.from - line.first) / 1000));
		const seconds = line.seconds.slice(from, Math.max(from, Math.floor((range.to - line.first) / 1000)))
			.filter(Boolean);
		for (const second of seconds)
			second.forEach(function (time, i) { sums[i] += time / seconds.length / 1000; });
		const canvas = byId("timeline");
		canvas.setAttribute("aria-valuemin", Math.round(line.first / 1000));
		canvas.setAttribute("aria-valuemax", Math.round(line.now / 1000));
		canvas.setAttribute("aria-valuenow", Math.round(range.from / 1000));
		canvas.setAttribute("aria-valuetext", clock(range.from) + " to " + clock(range.to) + ", " +
			line.rows.map(function (name, i) {
				return name + " " + (name === "heap" ? model.bytes(1000 * sums[i]) : sums[i].toFixed(1));
			}).join(", "));
	}

	// null: live, or none.
	function choosePast(range, base) {
		const first = Math.max(line.first, line.now - 1000 * SECONDS);
		if (range) {
			range.from = Math.max(first, Math.min(range.from, line.now - 1000));
			range.to = Math.min(line.now, Math.max(range.to, range.from + 1000));
		}
		line[base ? "base" : "shown"] = range;
		line.marks = settings.frozen = false;
		line.asked = "";
		if (base)
			settings.view = range ? "diff" : "flame";
		drawLine();
		again(0);
	}

	function live() {
		line.base = null;
		if (settings.view === "diff")
			settings.view = "flame";
		choosePast(null, false);
	}

	// By so many seconds, or only its end.
	function shiftPast(by, end) {
		const range = shownRange(), from = 1000 * Math.floor(range.from / 1000);
		const to = 1000 * Math.floor(range.to / 1000);
		choosePast({ from: from + (end ? 0 : 1000 * by), to: to + 1000 * by }, false);
	}

	function timeAt(event) {
		const box = byId("timeline").getBoundingClientRect(), padding = (box.width - byId("timeline").width /
			(window.devicePixelRatio || 1)) / 2;
		const width = box.width - 2 * padding, x = event.clientX - box.left - padding;
		const time = line.now - 1000 * SECONDS * (1 - (x - gutter()) / (width - gutter()));
		return 1000 * Math.floor(Math.max(line.first, Math.min(time, line.now)) / 1000);
	}

	function rangeOf(drag, event) {
		const at = timeAt(event);
		return { from: Math.min(at, drag.at), to: Math.max(at, drag.at) + 1000 };
	}

	// A click shows the state of that row.
	function dropLine(event) {
		const drag = line.drag, box = byId("timeline").getBoundingClientRect();
		line.drag = null;
		if (!drag)
			return;
		if (drag.moved) {
			choosePast(rangeOf(drag, event), drag.base);
			return;
		}
		const row = line.rows[Math.floor((event.clientY - box.top) / box.height * line.rows.length)];
		const kind = row === "run" ? "cpu" : row === "heap" ? model.HEAP[0] : row, kinds = allKinds();
		setKind(settings.kind === kind || !kinds.includes(kind) ?
			kinds[kinds.includes("wall") ? 1 : 0] : kind);
	}

	function listenToLine() {
		const canvas = byId("timeline");
		canvas.addEventListener("pointerdown", function (event) {
			line.drag = { at: timeAt(event), x: event.clientX, base: event.shiftKey || line.marks };
			canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener("pointermove", function (event) {
			if (!line.drag)
				return;
			line.drag.moved = line.drag.moved || Math.abs(event.clientX - line.drag.x) > 3;
			if (line.drag.moved) {
				line[line.drag.base ? "base" : "shown"] = rangeOf(line.drag, event);
				drawLine();
			}
		});
		canvas.addEventListener("pointerup", dropLine);
		canvas.addEventListener("pointercancel", function () { line.drag = null; });
		canvas.addEventListener("dblclick", live);
	}

	// A token in the address is kept for this tab, and is not to stay in its history.
	function start() {
		const saved = byId("data"), address = new URL(window.location);
		fillControls();
		if (saved) {
			take(JSON.parse(saved.textContent));
			return;
		}
		token = address.searchParams.get("token") || window.sessionStorage.getItem("token") || "";
		keepToken();
		address.searchParams.delete("token");
		window.history.replaceState(null, "", address);
		document.addEventListener("visibilitychange", function () { again(0); });
		listenToLine();
		fill(byId("save"), make("option", { value: "", text: "save" }), ...SAVED.map(function ([format]) {
			return make("option", { value: format, text: format });
		}));
		byId("save").hidden = false;
		byId("save").addEventListener("change", save);
		byId("token").addEventListener("change", function () {
			token = byId("token").value;
			keepToken();
			again(0);
		});
		poll();
	}

	function keepToken() {
		if (token)
			window.sessionStorage.setItem("token", token);
	}

	function remake() {
		let focus = null;
		try {
			focus = settings.focus ? model.pattern(settings.focus) : null;
		} catch (error) {
			focus = null;
		}
		tree = model.select(whole, { group: settings.group, focus: focus,
			inverted: settings.inverted });
		reweigh();
	}

	function reweigh() {
		weight = model.weigh(tree, settings.kind, settings.idle);
		whole_weight = model.weigh(whole, settings.kind, settings.idle);
		search();
		draw();
	}

	// Widths are those of the base if it is asked for.
	function totals() {
		return settings.view === "diff" && settings.base ? weight.base : weight.total;
	}

	// ---- head ----------------------------------------------------------------------------------

	function states(sums, all) {
		return STATE_NAMES.map(function (name, i) {
			return sums[i] && all ? name + " " + (100 * sums[i] / all).toFixed(sums[i] / all < 0.1 ? 1 : 0) +
				" %" : "";
		}).filter(Boolean).join(", ");
	}

	function sumsOf(node) {
		return STATE_NAMES.map(function (name, i) { return tree.sum[i][node]; });
	}

	function allOf(sums) {
		return sums.reduce(function (a, b) { return a + b; }, 0);
	}

	function fillHead() {
		const facts = [], when = data.start ? new Date(data.start).toISOString() : "";
		byId("title").textContent = data.title;
		document.title = "pmp: " + data.title;
		if (data.live && whole.heap)
			facts.push(settings.frozen ? "frozen" : "heap now, allocated since the start");
		else if (data.live)
			facts.push(settings.frozen ? "frozen" : line.shown ? clock(line.shown.from) + "-" +
				clock(line.shown.to) : "live" + (data.rate ? " " + data.rate.toFixed(1) + " Hz" : ""));
		if (data.type)
			facts.push(data.type);
		if (data.snapshots !== undefined && !data.type && !whole.heap)
			facts.push(model.grouped(data.snapshots) + " snapshots");
		if (data.stacks && !data.type)
			facts.push(model.grouped(data.stacks) + " stacks");
		if (data.duration)
			facts.push(model.time(data.duration * 1000));
		if (data.host)
			facts.push(data.host);
		if (when)
			facts.push(when.slice(0, 10) + " " + when.slice(11, 19) + " UTC");
		byId("facts").textContent = facts.join(" \u00b7 ");
		const sums = [0, 1, 2, 3, 4].map(function (i) { return whole.sum[i][0]; });
		const us = data.duration * 1000;
		fill(byId("states"), ...(whole.heap ? heapTotals() : whole.value ? [] : sums.map(function (sum, i) {
			const text = !whole.timed ? model.grouped(sum) : us ? (sum / us).toFixed(1) : model.time(sum);
			return make("span", { class: "state " + STATE_NAMES[i], text: text + " " + STATE_NAMES[i] });
		})));
		const notes = [];
		if (data.stops)
			notes.push(model.grouped(data.stops) + " stops, the longest " + model.time(data.longest));
		if (data.truncated)
			notes.push(model.grouped(data.truncated) + " stacks truncated");
		if (data.evicted)
			notes.push(model.grouped(data.evicted) + " evicted");
		if (whole.missing.records)
			notes.push(model.grouped(whole.missing.records) + " records missing: stacks are not exact");
		if (whole.missing.stacks)
			notes.push(model.grouped(whole.missing.stacks) + " samples without a stack");
		if (whole.missing.processes)
			notes.push(model.grouped(whole.missing.processes) + " processes not recorded");
		if (data.base)
			notes.push("base: " + (data.base.heap ? "the heap at " + clock(data.base.heap) : data.base.stacks ? model.grouped(data.base.stacks) + " stacks in " : "") +
				(data.base.heap ? "" : model.grouped(data.base.snapshots) + " snapshots") +
				(line.base && !data.base.heap ? " " + clock(line.base.from) + "-" + clock(line.base.to) : ""));
		byId("notes").textContent = notes.join(" \u00b7 ");
	}

	function heapTotals() {
		const sum = { live: 0, blocks: 0, allocated: 0 }, one = whole.heaps.length === 1;
		for (const heap of whole.heaps)
			for (const key of Object.keys(sum))
				sum[key] += heap[key];
		return (whole.heaps.length ? [model.bytes(sum.live) + " live in " + model.several(sum.blocks, "block"),
			one && model.bytes(whole.heaps[0].peak) + " peak", model.bytes(sum.allocated) + " allocated"] : [])
			.filter(Boolean).map(function (text) { return make("span", { class: "state heap", text: text }); });
	}

	// Only if they change: a menu may be open.
	function fillMenus() {
		const menus = [["kind", allKinds().map(function (kind) {
			return [kind, kind === "value" ? data.type || "value" : kind];
		})], ["group", [["", "all"], ["*", "apart"]].concat(model.groups(whole,
			model.weigh(whole, model.kinds(whole)[0], "shown")).map(function (group) {
			return [group.name, group.name];
		}))]];
		for (const [id, choices] of menus) {
			const values = choices.map(function (choice) { return choice[0]; });
			if (!values.includes(settings[id]))
				choices.push([settings[id], settings[id]]);
			if (byId(id).dataset.values !== JSON.stringify(values))
				fill(byId(id), ...choices.map(function ([value, text]) {
					return make("option", { value: value, text: text });
				}));
			byId(id).dataset.values = JSON.stringify(values);
			byId(id).parentNode.hidden = values.length < 2 || (id === "group" && !whole.split);
		}
		byId("idle").parentNode.hidden = whole.value;
		byId("tab-threads").hidden = !data.threads;
		byId("tab-locks").hidden = !data.locks || !(data.live || data.locks.length);
		byId("tab-diff").hidden = !data.base;
	}

	function fillControls() {
		for (const id of ["kind", "group"])
			byId(id).addEventListener("change", function () {
				if (id === "kind")
					setKind(byId(id).value);
				else
					settings[id] = byId(id).value;
				remake();
			});
		byId("idle").addEventListener("change", function () {
			settings.idle = byId("idle").value;
			reweigh();
		});
		byId("search").addEventListener("input", function () { search(); draw(); });
		byId("focus").addEventListener("change", function () {
			settings.focus = byId("focus").value;
			remake();
		});
		byId("tabs").addEventListener("click", function (event) {
			const tab = event.target.closest("[data-view]");
			if (tab)
				show(tab.dataset.view);
		});
		byId("help-button").addEventListener("click", help);
		byId("widths").addEventListener("click", function () {
			settings.base = !settings.base;
			draw();
		});
		byId("grip").addEventListener("click", function () {
			byId("side").classList.toggle("full");
		});
	}

	function show(view) {
		const tab = byId("tab-" + view);
		if (!tab || tab.hidden)
			return;
		settings.view = view;
		draw();
		if (byId("side").hidden && data.live)
			again(0);
	}

	// ---- search --------------------------------------------------------------------------------

	function search() {
		const text = byId("search").value, matched = byId("matched");
		found = null;
		matched.textContent = "";
		if (!text)
			return;
		try {
			found = model.search(tree, weight, model.pattern(text));
			matched.textContent = "Matched: " + (100 * found.share).toFixed(2) + "%";
		} catch (error) {
			matched.textContent = "not a regular expression";
		}
		if (found)
			found.set = new Set(found.nodes);
	}

	function next(step) {
		if (!found || !found.nodes.length)
			return;
		const drawn = found.nodes.filter(function (node) { return totals()[node] > 0; });
		let at = drawn.findIndex(function (node) { return step > 0 ? node > selected : node >= selected; });
		if (selected === null)
			at = 0;
		else if (step < 0)
			at = (at < 0 ? drawn.length : at) - 1;
		if (drawn.length)
			choose(drawn[(at + drawn.length) % drawn.length], true);
	}

	// ---- drawing -------------------------------------------------------------------------------

	let selected_path = null;

	function draw() {
		const view = settings.view;
		for (const tab of byId("tabs").querySelectorAll("[data-view]")) {
			tab.setAttribute("aria-selected", tab.dataset.view === view);
			tab.tabIndex = tab.dataset.view === view ? 0 : -1;
		}
		byId("kind").value = data.live && settings.wanted || settings.kind;
		byId("group").value = settings.group;
		byId("idle").value = settings.idle;
		byId("focus").value = settings.focus;
		selected = selected_path && model.find(tree, selected_path);
		const picture = view === "flame" || view === "diff";
		byId("flame").hidden = !picture;
		byId("table").hidden = picture;
		byId("side").hidden = ["threads", "locks"].includes(view);
		byId("widths").hidden = view !== "diff";
		byId("widths").textContent = settings.base ? "Show the profile" : "Show the base";
		if (picture)
			drawFlame();
		else if (view === "functions")
			drawFunctions();
		else if (view === "tree")
			drawTree();
		else if (view === "threads")
			drawThreads();
		else if (view === "locks")
			drawLocks();
		drawSide();
		say();
	}

	// ---- flame graph ---------------------------------------------------------------------------

	// Each module keeps its hue; hues in these steps differ most from their neighbours.
	function hue(module) {
		if (!hues.has(module))
			hues.set(module, (hues.size * 137 + 210) % 360);
		return hues.get(module);
	}

	function strip(sums) {
		const all = allOf(sums), stops = [];
		let at = 0;
		if (!all)
			return "none";
		sums.forEach(function (sum, i) {
			if (!sum)
				return;
			const end = at + 100 * sum / all;
			stops.push("var(--" + STATE_NAMES[i] + ") " + at.toFixed(1) + "% " + end.toFixed(1) + "%");
			at = end;
		});
		return "linear-gradient(to right, " + stops.join(", ") + ")";
	}

	function step(share) {
		let level = 0;
		while (level < STEPS.length && Math.abs(share) * 1e4 >= STEPS[level])
			level++;
		return level;
	}

	function colour(element, node) {
		const module = moduleOf(tree.name[node]);
		element.style.removeProperty("background-color");
		element.style.removeProperty("--hue");
		if (settings.view === "diff") {
			const share = model.change(weight, node, factor()), level = step(share);
			element.classList.add(level ? (share < 0 ? "less" : "more") + level : "same");
		} else if (module) {
			element.classList.add("module");
			element.style.setProperty("--hue", hue(module));
		} else {
			element.classList.add("root");
		}
	}

	function mostly(node) {
		const sums = sumsOf(node);
		let most = 0;
		sums.forEach(function (sum, i) { if (sum > sums[most]) most = i; });
		return whole.value || !sums[most] ? "" : ", mostly " + STATE_NAMES[most];
	}

	function titleOf(node) {
		const value = weight.total[node];
		let text = shown(tree.name[node]) + " (" + amountOf(value) + ", " + percent(value, weight.total[0]) + "%";
		if (data.base && settings.view === "diff")
			text += "; " + signed(model.change(weight, node, factor())) + "%";
		return text + ")";
	}

	function drawBox(box, element, width, row) {
		const label = element.firstChild, room = Math.floor((box.w - 6) / CHAR);
		const text = box.more ? box.more + " more" : shown(tree.name[box.node]);
		element.className = "box";
		element.style.left = (100 * box.x / width).toFixed(4) + "%";
		element.style.width = "max(" + (100 * box.w / width).toFixed(4) + "% - 1px, 0.5px)";
		element.style.top = box.row * row + "px";
		label.textContent = room >= 3 ? text : "";
		element.dataset.at = boxes.indexOf(box);
		element.setAttribute("aria-level", box.row + 1);
		if (box.more) {
			element.classList.add("many");
			element.title = box.more + " more, too narrow to be shown";
			element.setAttribute("aria-label", element.title);
			element.removeAttribute("aria-expanded");
			element.removeAttribute("aria-selected");
			element.lastChild.style.background = "none";
			return;
		}
		colour(element, box.node);
		element.classList.toggle("above", Boolean(box.above));
		element.classList.toggle("hit", Boolean(found && found.set.has(box.node)));
		element.classList.toggle("selected", box.node === selected);
		element.setAttribute("aria-selected", box.node === selected);
		element.title = titleOf(box.node);
		element.setAttribute("aria-label", shown(tree.name[box.node]) + ", " +
			percent(weight.total[box.node], weight.total[0]) + " percent" + mostly(box.node));
		if (tree.end[box.node] > box.node + 1)
			element.setAttribute("aria-expanded", "true");
		else
			element.removeAttribute("aria-expanded");
		element.lastChild.style.background = whole.value || settings.view === "diff" ? "none" :
			strip(sumsOf(box.node));
	}

	function drawFlame() {
		const flame = byId("boxes"), phone = window.innerWidth <= 700;
		const row = phone ? PHONE_ROW : ROW, width = flame.clientWidth || 1;
		const zoomed = model.find(tree, zoom);
		let deepest = 0;
		boxes = model.picture(tree, totals(), zoomed, width, MOST);
		boxes.sort(function (a, b) { return a.row - b.row || a.x - b.x; });
		while (pool.length < boxes.length)
			pool.push(make("div", { class: "box", role: "treeitem", id: "box-" + pool.length },
				make("span", { class: "label" }), make("span", { class: "strip" })));
		boxes.forEach(function (box, i) {
			drawBox(box, pool[i], width, row);
			deepest = Math.max(deepest, box.row);
		});
		while (flame.childNodes.length > boxes.length)
			flame.lastChild.remove();
		for (let i = flame.childNodes.length; i < boxes.length; i++)
			flame.append(pool[i]);
		flame.style.height = (deepest + 1) * row + "px";
		flame.classList.toggle("phone", phone);
		flame.classList.toggle("searched", Boolean(found));
		const active = boxes.findIndex(function (box) { return box.node === selected && !box.more; });
		if (active >= 0)
			flame.setAttribute("aria-activedescendant", "box-" + active);
		else
			flame.removeAttribute("aria-activedescendant");
		byId("empty").hidden = totals()[0] > 0;
	}

	function choose(node, scroll) {
		selected = node;
		selected_path = model.namesOf(tree, node);
		const zoomed = model.find(tree, zoom);
		if (node < zoomed || node >= tree.end[zoomed])
			if (zoomed < node || zoomed >= tree.end[node])
				zoom = [];
		document.body.classList.add("chosen");
		draw();
		const at = boxes.findIndex(function (box) { return box.node === node; });
		if (scroll && at >= 0 && !byId("flame").hidden)
			pool[at].scrollIntoView({ block: "nearest" });
	}

	function zoomTo(node) {
		zoom = model.namesOf(tree, node);
		draw();
	}

	function back() {
		const zoomed = model.find(tree, zoom);
		if (!zoomed)
			return;
		zoomTo(tree.parent[zoomed]);
	}

	function onBox(event) {
		const element = event.target.closest(".box");
		const box = element && boxes[Number(element.dataset.at)];
		if (!box)
			return;
		byId("boxes").focus({ preventScroll: true });
		if (box.more)
			choose(tree.parent[box.node]);
		else if (box.node === selected)
			zoomTo(box.node);
		else
			choose(box.node);
	}

	function siblings(node) {
		const parent = tree.parent[node], list = [];
		for (let i = parent + 1; parent >= 0 && i < tree.end[parent]; i = tree.end[i])
			if (totals()[i] > 0 && tree.name[i] !== model.REST)
				list.push(i);
		return list;
	}

	// Only to boxes that are drawn.
	function move(key) {
		const drawn = new Set(boxes.filter(function (box) { return !box.more; })
			.map(function (box) { return box.node; }));
		const node = selected === null ? 0 : selected;
		let to = node;
		if (selected === null || !drawn.has(node)) {
			to = model.find(tree, zoom);
		} else if (key === "ArrowUp") {
			to = Math.max(tree.parent[node], 0);
		} else if (key === "ArrowDown") {
			for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
				if (drawn.has(child)) {
					to = child;
					break;
				}
		} else {
			const list = siblings(node).filter(function (i) { return drawn.has(i); });
			const at = list.indexOf(node);
			if (key === "Home")
				to = list[0];
			else if (key === "End")
				to = list[list.length - 1];
			else
				to = list[at + (key === "ArrowLeft" ? -1 : 1)];
		}
		if (to !== undefined)
			choose(to, true);
	}

	// ---- tables --------------------------------------------------------------------------------

	function headCell(text, key, sorted, reverse, action, numeric) {
		const cell = make("th", { scope: "col", class: numeric ? "number" : "" });
		if (key === null) {
			cell.textContent = text;
			return cell;
		}
		cell.setAttribute("aria-sort", sorted !== key ? "none" : reverse ? "ascending" : "descending");
		cell.append(make("button", { type: "button", text: text, onclick: function () { action(key); } }));
		return cell;
	}

	function number(text) {
		return make("td", { class: "number", text: text });
	}

	const COLUMNS = [["self", "self %"], ["total", "total %"], ["name", "function"]];

	function sortBy(key) {
		settings.reverse = settings.sort === key ? !settings.reverse : false;
		settings.sort = key;
		draw();
	}

	function functionRows() {
		const rows = model.functions(tree, weight), hits = byId("search").value && found;
		const names = hits && new Set(found.nodes.map(function (node) { return tree.name[node]; }));
		const by = {
			self: function (row) { return row.self; }, total: function (row) { return row.total; },
			change: function (row) { return Math.abs(row.total - row.baseTotal * factor()); },
		}[settings.sort];
		rows.sort(function (a, b) {
			const order = by ? by(b) - by(a) || b.self - a.self || b.total - a.total : 0;
			return (order || a.name - b.name) * (settings.reverse ? -1 : 1);
		});
		return rows.filter(function (row) { return !names || names.has(row.name); });
	}

	function nameCell(name) {
		const cell = make("th", { scope: "row" });
		cell.append(make("span", { class: "name", text: shown(name) }));
		if (moduleOf(name))
			cell.append(" ", make("span", { class: "module-name", text: moduleOf(name) }));
		return cell;
	}

	function chooseName(name) {
		for (let i = 1, best = -1; i <= tree.count; i++) {
			if (i === tree.count) {
				if (best > 0)
					choose(best);
			} else if (tree.name[i] === name && (best < 0 || weight.total[i] > weight.total[best])) {
				best = i;
			}
		}
	}

	function functionRow(row) {
		const all = weight.total[0], cells = [];
		cells.push(number(percent(row.self, all)), number(amount(row.self)),
			number(percent(row.total, all)), number(amount(row.total)));
		if (data.base) {
			const base = weight.base[0] * factor(), whole_base = all || base;
			cells.push(number(percent(row.baseTotal * factor(), whole_base)),
				number(signed((row.total - row.baseTotal * factor()) / (whole_base || 1))));
		} else if (!whole.value) {
			const sum = allOf(Array.from(row.states));
			for (let i = 0; i < model.STATES; i++) {
				const cell = number(row.states[i] ? percent(row.states[i], sum) : "");
				cell.classList.add(STATE_NAMES[i]);
				cells.push(cell);
			}
		}
		const line = make("tr", { onclick: function () { chooseName(row.name); } }, ...cells,
			nameCell(row.name));
		line.classList.toggle("selected", selected !== null && tree.name[selected] === row.name);
		return line;
	}

	function drawFunctions() {
		const rows = functionRows(), head = [
			headCell("self %", "self", settings.sort, settings.reverse, sortBy, true),
			headCell("self", null, 0, 0, 0, true),
			headCell("total %", "total", settings.sort, settings.reverse, sortBy, true),
			headCell("total", null, 0, 0, 0, true)];
		if (data.base)
			head.push(headCell("base total %", null, 0, 0, 0, true),
				headCell("difference", "change", settings.sort, settings.reverse, sortBy, true));
		else if (!whole.value)
			STATE_NAMES.forEach(function (name) { head.push(headCell(name + " %", null, 0, 0, 0, true)); });
		head.push(headCell("function", "name", settings.sort, settings.reverse, sortBy));
		fill(byId("table-head"), make("tr", {}, ...head));
		fill(byId("table-body"), ...rows.slice(0, ROWS).map(functionRow));
		byId("caption").textContent = rows.length > ROWS ?
			"The first " + ROWS + " of " + rows.length + " functions: the search finds the others." :
			model.several(rows.length, "function") + ". States are percent of the function's own total.";
	}

	function keyOf(node) {
		return model.namesOf(tree, node).join("\u0001");
	}

	function treeRow(node) {
		const kids = tree.end[node] > node + 1, open = open_rows.has(keyOf(node));
		const cell = nameCell(tree.name[node]), all = weight.total[0];
		cell.style.paddingLeft = 8 + 14 * Math.min(tree.depth[node], 60) + "px";
		cell.prepend(make("button", { type: "button", class: "twist", "aria-expanded": open,
			"aria-label": open ? "close" : "open", text: kids ? (open ? "\u25be" : "\u25b8") : "\u00b7",
			onclick: function (event) {
				event.stopPropagation();
				toggle(node);
			} }));
		const line = make("tr", { onclick: function () { choose(node); } },
			number(percent(weight.total[node], all)), number(amount(weight.total[node])),
			number(percent(weight.self[node], all)), cell);
		line.classList.toggle("selected", node === selected);
		return line;
	}

	function toggle(node) {
		const key = keyOf(node);
		if (open_rows.has(key))
			open_rows.delete(key);
		else
			open_rows.add(key);
		draw();
	}

	// Down to where there is a choice.
	function openFirst() {
		if (open_rows)
			return;
		open_rows = new Set();
		for (let node = 0; node < tree.count; node++) {
			open_rows.add(keyOf(node));
			if (node + 1 < tree.count && tree.end[node + 1] < tree.end[node])
				break;
		}
	}

	function openHottest() {
		openFirst();
		for (let node = selected || 0; node > 0; node = tree.parent[node])
			open_rows.add(keyOf(node));
		for (const node of model.hottest(tree, weight.total, selected || 0))
			open_rows.add(keyOf(node));
		draw();
	}

	function drawTree() {
		const rows = [];
		openFirst();
		(function add(node) {
			if (rows.length >= ROWS || !(weight.total[node] > 0))
				return;
			rows.push(treeRow(node));
			const kids = [];
			if (!open_rows.has(keyOf(node)))
				return;
			for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
				kids.push(child);
			kids.sort(function (a, b) { return weight.total[b] - weight.total[a] || a - b; });
			kids.forEach(add);
		})(0);
		fill(byId("table-head"), make("tr", {}, headCell("total %", null, 0, 0, 0, true),
			headCell("total", null, 0, 0, 0, true), headCell("self %", null, 0, 0, 0, true),
			headCell("function", null)));
		fill(byId("table-body"), ...rows);
		byId("caption").textContent = "e opens the hottest path.";
	}

	function sortThreads(column) {
		settings.thread_reverse = settings.thread_sort === column ? !settings.thread_reverse : false;
		settings.thread_sort = column;
		draw();
	}

	function threadRow(row) {
		const all = allOf(row.slice(5, 10)), cells = [number(String(row[1] || "")), make("th",
			{ scope: "row", text: row[2] }), number(model.grouped(row[4]))];
		for (let i = 0; i < model.STATES; i++) {
			const cell = number(row[5 + i] ? percent(row[5 + i], all) : "");
			cell.classList.add(STATE_NAMES[i]);
			cells.push(cell);
		}
		return make("tr", { onclick: function () {
			settings.group = row[3];
			settings.view = "flame";
			remake();
		} }, ...cells, make("td", { class: "stack", text: row[10] }));
	}

	// By a column, numbers descending.
	function sorted(rows, column, reverse) {
		function compare(a, b) {
			return typeof a === "number" ? b - a : a < b ? -1 : a > b ? 1 : 0;
		}
		return rows.slice().sort(function (a, b) {
			return (compare(a[column], b[column]) || compare(b[1], a[1])) * (reverse ? -1 : 1);
		});
	}

	function drawThreads() {
		const column = settings.thread_sort, names = ["tid", "name", "samples"]
			.concat(STATE_NAMES.map(function (name) { return name + " %"; }), ["most often in"]);
		const columns = [1, 2, 4, 5, 6, 7, 8, 9, 10];
		const rows = sorted(data.threads.filter(function (row) {
			return !settings.group || settings.group === "*" || row[3] === settings.group;
		}), column, settings.thread_reverse);
		fill(byId("table-head"), make("tr", {}, ...names.map(function (name, i) {
			return headCell(name, columns[i], column, settings.thread_reverse, sortThreads,
				i !== 1 && i !== 8);
		})));
		fill(byId("table-body"), ...rows.slice(0, ROWS).map(threadRow));
		byId("caption").textContent = model.several(rows.length + (data.more_threads || 0), "thread") +
			(rows.length > ROWS || data.more_threads ? ", not all" : "") +
			". A click shows its group.";
	}

	function sortLocks(column) {
		settings.lock_reverse = settings.lock_sort === column ? !settings.lock_reverse : false;
		settings.lock_sort = column;
		draw();
	}

	function lockRow(row) {
		return make("tr", { onclick: function () {
			settings.view = "flame";
			setKind("lock");
		} }, number(whole.timed ? model.time(row[2]) : model.grouped(row[2])),
		number(model.grouped(row[3])), number(model.grouped(row[4])),
		make("td", { text: row[0] + (row[1] ? " (" + row[1] + ")" : "") }),
		make("td", { text: row[5] }), number(percent(row[6], row[3])),
		make("td", { class: "stack", text: row[7] }), make("td", { class: "stack", text: row[8] }));
	}

	function drawLocks() {
		const names = ["waited", "samples", "threads", "lock", "held by", "in %", "waits in",
			"holder is in"];
		const columns = [2, 3, 4, 0, 5, 6, 7, 8];
		const rows = sorted(data.locks, settings.lock_sort, settings.lock_reverse);
		fill(byId("table-head"), make("tr", {}, ...names.map(function (name, i) {
			return headCell(name, columns[i], settings.lock_sort, settings.lock_reverse, sortLocks,
				i < 3 || i === 5);
		})));
		fill(byId("table-body"), ...(data.deadlocks || []).map(function (text) {
			return make("tr", { class: "deadlock" },
				make("td", { class: "name", colspan: 8, text: "now: deadlock in " + text }));
		}), ...rows.map(lockRow));
		byId("caption").textContent = model.several(rows.length, "lock") +
			(rows.length === 1 ? " was" : " were") + " waited for. The holder is the most " +
			"frequent known one. A click shows that time as widths.";
	}

	// ---- side ----------------------------------------------------------------------------------

	function list(title, rows, all, action) {
		if (!rows.length)
			return null;
		return make("section", {}, make("h3", { text: title }), make("ul", {},
			...rows.slice(0, 8).map(function (row) {
				const button = make("button", { type: "button", text: row.text,
					onclick: function () { action(row.value); } });
				return make("li", {}, button, make("span", { class: "number",
					text: percent(row.part, all) + " %" }));
			})));
	}

	function stateRows(node) {
		const sums = sumsOf(node), all = allOf(sums);
		if (whole.value || !all)
			return null;
		return make("section", {}, make("h3", { text: "what its threads did" }), make("div",
			{ class: "bar" }), make("ul", {}, ...sums.map(function (sum, i) {
			return sum ? make("li", {}, make("span", { class: "state " + STATE_NAMES[i],
				text: STATE_NAMES[i] }), make("span", { class: "number",
				text: (whole.timed ? model.time(sum) : model.grouped(sum)) + " \u00b7 " +
					percent(sum, all) + " %" })) : "";
		})));
	}

	function named(rows) {
		return rows.map(function (row) { return { text: shown(row[0]), value: row[0], part: row[1] }; });
	}

	function drawSide() {
		const side = byId("side-content");
		if (selected === null) {
			fill(side, make("p", { class: "hint", text: "Choose a box: a second click zooms." }));
			return;
		}
		const name = tree.name[selected], all = weight.total[0];
		const row = model.functions(tree, weight).find(function (row) { return row.name === name; });
		const around = model.around(tree, weight, name);
		const groups = model.groups(whole, whole_weight, name).filter(function (group) {
			return group.part > 0;
		}).sort(function (a, b) { return b.part - a.part; }).map(function (group) {
			return { text: group.name, value: group.name, part: group.part };
		});
		const facts = ["here " + percent(weight.total[selected], all) + " %, " +
			amountOf(weight.total[selected])];
		if (row)
			facts.push("everywhere: self " + percent(row.self, all) + " %, total " +
				percent(row.total, all) + " %");
		if (row && data.base)
			facts.push("difference to the base " + signed(model.change(weight, selected, factor())) + " %");
		fill(side, make("h2", { text: model.nameOf(tree, name) }),
			make("p", { class: "module-name", text: [moduleOf(name), fileOf(name)].filter(Boolean).join("  ") }),
			...facts.map(function (fact) { return make("p", { text: fact }); }),
			make("p", {}, make("button", { type: "button", text: "zoom", onclick: function () {
				show("flame");
				zoomTo(selected);
			} }), make("button", { type: "button", text: "only its stacks", onclick: function () {
				settings.focus = "^" + model.nameOf(tree, name).replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$";
				remake();
			} })),
			stateRows(selected),
			list("by group", groups, all, function (group) {
				settings.group = group;
				remake();
			}),
			list("callers", named(around.callers), all, chooseName),
			list("callees", named(around.callees), all, chooseName));
		const bar = side.querySelector(".bar");
		if (bar)
			bar.style.background = strip(sumsOf(selected));
	}

	function say() {
		const parts = [];
		if (selected !== null) {
			parts.push(titleOf(selected));
			if (!whole.value)
				parts.push(states(sumsOf(selected), allOf(sumsOf(selected))));
		} else if (settings.view === "diff") {
			parts.push("red grew, blue shrank since the base");
		}
		if (settings.focus)
			parts.push("only stacks with " + settings.focus);
		byId("status").textContent = parts.filter(Boolean).join("; ");
		byId("zoom-out").hidden = !zoom.length || byId("flame").hidden;
	}

	// ---- keys ----------------------------------------------------------------------------------

	function cycle(values, value) {
		return values[(values.indexOf(value) + 1) % values.length];
	}

	function field(id) {
		byId(id).focus();
		byId(id).select();
	}

	function escape() {
		if (byId("search").value) {
			byId("search").value = "";
			search();
			draw();
		} else if (settings.focus) {
			settings.focus = "";
			remake();
		} else if (zoom.length) {
			zoom = [];
			draw();
		} else {
			selected = selected_path = null;
			document.body.classList.remove("chosen");
			byId("side").classList.remove("full");
			draw();
		}
	}

	function sortNext(by) {
		const keys = COLUMNS.map(function (column) { return column[0]; });
		sortBy(keys[(keys.indexOf(settings.sort) + by + keys.length) % keys.length]);
	}

	const VIEWS = ["flame", "functions", "tree", "threads", "locks", "diff"];
	const KEYS = [
		[["1", "2", "3", "4", "5", "6"], "views", function (key) { show(VIEWS[key - 1]); }],
		[["/"], "search for names: a regular expression", function () { field("search"); }],
		[["n"], "next match", function () { next(1); }],
		[["N"], "previous match", function () { next(-1); }],
		[["\\"], "only stacks with a function that matches", function () { field("focus"); }],
		[["o"], "only one group of threads", function () { byId("group").focus(); }],
		[["i"], "threads that wait for work: shown, hidden, only they", function () {
			settings.idle = cycle(["shown", "hidden", "only"], settings.idle);
			reweigh();
		}],
		[["H", "t"], "groups of threads apart, or together", function () {
			settings.group = settings.group === "*" ? "" : "*";
			remake();
		}],
		[["m"], "what widths mean: samples, time, CPU ...", function () {
			setKind(cycle(allKinds(), byId("kind").value));
		}],
		[["v"], "from the root or, inverted, from the leaf", function () {
			settings.inverted = !settings.inverted;
			zoom = [];
			selected = selected_path = null;
			remake();
		}],
		[["y"], "live: the last 10 s, the last minute, all that is kept", function () {
			settings.window = (settings.window + 1) % WINDOWS.length;
			if (data.live)
				again(0);
		}],
		[["Z"], "live: freeze the picture, and go on", function () {
			settings.frozen = Boolean(data.live) && !settings.frozen;
			fillHead();
			if (data.live && !settings.frozen)
				again(0);
		}],
		[["L"], "live again; on the time line a drag chooses a part of the past, arrows move it", function () {
			if (data.live)
				live();
		}],
		[["d"], "mark on the time line what to compare with (or drag with Shift); a heap: what it is now", function () {
			if (whole.heap && data.live) {
				line.heap = line.heap ? null : { tree: data.tree, at: line.now };
				settings.view = line.heap ? "diff" : "flame";
				again(0);
				return;
			}
			line.marks = Boolean(data.live);
			byId("timeline").focus();
		}],
		[["w"], "live: save what is shown", function () { byId("save").focus(); }],
		[["e"], "tree: open the hottest path", openHottest],
		[["c"], "short or full names", function () {
			settings.brief = !settings.brief;
			draw();
		}],
		[["<"], "functions: sort by the column to the left", function () { sortNext(-1); }],
		[[">"], "functions: sort by the column to the right", function () { sortNext(1); }],
		[["I"], "sort the other way round", function () { sortBy(settings.sort); }],
		[["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"],
			"caller, callee, siblings", move],
		[["PageUp", "PageDown"], "scroll", function (key) {
			byId("view").scrollBy(0, (key === "PageUp" ? -1 : 1) * byId("view").clientHeight * 0.9);
		}],
		[["Enter"], "zoom", function () { if (selected !== null) zoomTo(selected); }],
		[["Backspace"], "zoom out by one", back],
		[["Escape"], "end the search, the filter, the zoom, the choice", escape],
		[["?"], "this list", help],
	];

	function help() {
		const dialog = byId("help");
		if (dialog.open) {
			dialog.close();
			return;
		}
		fill(byId("keys"), ...KEYS.map(function ([keys, text]) {
			return make("tr", {}, make("th", { scope: "row" }, ...keys.map(function (key) {
				return make("kbd", { text: key.replace("Arrow", "") });
			})), make("td", { text: text }));
		}));
		dialog.showModal();
	}

	function onKey(event) {
		const target = event.target, key = event.key;
		const editing = target.closest && target.closest("input, select, textarea, dialog");
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (editing) {
			if (target.id === "search" && key === "Escape") {
				escape();
				target.blur();
			} else if ((target.id === "search" || target.id === "focus") && key === "Enter") {
				target.blur();
				byId("boxes").focus({ preventScroll: true });
			} else {
				return;
			}
			event.preventDefault();
			return;
		}
		if (target.id === "timeline" && (key === "ArrowLeft" || key === "ArrowRight")) {
			shiftPast(key === "ArrowLeft" ? -1 : 1, event.shiftKey);
			event.preventDefault();
			return;
		}
		// A button that has the focus is pressed.
		if ((key === "Enter" || key === " ") && target.closest && target.closest("button, a"))
			return;
		if (settings.view !== "flame" && settings.view !== "diff" &&
		    /^(Arrow|Home|End|Page)/.test(key))
			return;
		const row = KEYS.find(function ([keys]) { return keys.includes(key); });
		if (!row)
			return;
		event.preventDefault();
		row[2](key);
	}

	function listen() {
		window.addEventListener("keydown", onKey);
		byId("boxes").addEventListener("click", onBox);
		byId("zoom-out").addEventListener("click", function () {
			zoom = [];
			draw();
		});
		byId("help-close").addEventListener("click", help);
		let width = window.innerWidth;
		window.addEventListener("resize", function () {
			if (width !== window.innerWidth && tree)
				draw();
			drawLine();
			width = window.innerWidth;
		});
	}

	listen();
	start();
}

if (typeof document !== "undefined")
	page(document, window);
else if (typeof module !== "undefined")
	module.exports = model;
