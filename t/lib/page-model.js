// SPDX-License-Identifier: GPL-2.0-or-later
// What the model of pmp/serve/page.js makes of trees: for t/0945-page-model.t.
// node page-model.js FOLDER-OF-THE-PAGE FOLDER-OF-GOLDEN-FILES
"use strict";
const model = require(process.argv[2] + "/page.js"), fs = require("fs");
const data = name => JSON.parse(fs.readFileSync(process.argv[3] + "/" + name + ".html"));
const say = (...words) => console.log(words.join(" "));
const test = text => model.pattern(text);
const rows = (tree, weight) => model.functions(tree, weight).filter(row => row.total)
	.map(row => tree.names[row.name] + " " + row.self + "/" + row.total).join(" ");

let json = data("plain").tree, tree = model.decode(json);
let weight = model.weigh(tree, "samples", "shown");
say("kinds:", model.kinds(tree));
say("all:", weight.total[0], "nodes:", tree.count);
say("poll:", rows(tree, weight).match(/\b(poll [^ ]*)/)[1]);
for (const text of ["LOCK|mutex", "lock|MUTEX", "lock", "^poll$", "."])
	say(text + ":", (100 * model.search(tree, weight, test(text)).share).toFixed(2));
try { test("("); say("no error"); } catch (error) { say("(: " + error.name); }

// Recursion counts once; idle threads can be left out, or be all there is.
json = { unit: "samples", states: ["run", "ready", "lock", "disk", "sleep"], split: "group",
	names: ["all", "a", "b", "g-N", "h", "p"], modules: ["m"], module: [-1, 0, 0, -1, -1, -1],
	depth: [0, 1, 2, 3, 4, 5, 2, 3, 4, 3], name: [0, 5, 3, 1, 2, 1, 4, 2, 1, -3],
	v: [[-3, 1, 2, 4], [], [], [], [-7, 8, 16, 32]], idle: [-8, 16] };
tree = model.decode(json);
weight = model.weigh(tree, "samples", "shown");
say("functions:", rows(tree, weight));
say("hidden:", rows(tree, model.weigh(tree, "samples", "hidden")));
say("only:", rows(tree, model.weigh(tree, "samples", "only")));
say("groups:", JSON.stringify(model.groups(tree, weight, 1)));
const named = pairs => pairs.map(([name, n]) => tree.names[name] + " " + n).join(", ");
say("callers of a:", named(model.around(tree, weight, 1).callers));
say("callees of a:", named(model.around(tree, weight, 1).callees));
const show = tree => {
	const total = model.weigh(tree, "samples", "shown").total;
	return Array.from(total).map((n, i) => ">".repeat(tree.depth[i]) +
		model.nameOf(tree, tree.name[i]) + " " + n).join(" ");
};
say("apart:", show(model.select(tree, { group: "*" })));
say("together:", show(model.select(tree, { group: "" })));
say("one:", show(model.select(tree, { group: "h" })));
say("focus:", show(model.select(tree, { group: "", focus: name => name === "b" })));
say("inverted:", show(model.select(tree, { group: "h", inverted: true })));
say("hottest:", model.hottest(tree, weight.total, 0).join());
say("found:", model.find(tree, ["p", "h", "b", "x"]), model.namesOf(tree, 8).join());

// Boxes do not overlap, and what is narrow is one box.
const boxes = model.picture(tree, weight.total, 0, 126, 1500);
say("boxes:", boxes.map(b => (b.more ? "+" + b.more : b.node) + "@" + b.row + ":" + b.x + "-" +
	(b.x + b.w)).join(" "));
say("zoomed:", model.picture(tree, weight.total, 4, 60, 1500).map(b => b.node + "@" + b.row + ":" +
	b.w).join(" "));
say("narrow:", model.picture(tree, weight.total, 0, 3, 1500).map(b => (b.more || "") + "@" +
	b.row).join(" "));
say("few:", model.picture(tree, weight.total, 0, 1260, 4).length <= 5);

// What is in the files of another format is read to the end.
for (const name of ["manual", "empty", "hostile", "hostile-all", "diff", "diff-gone", "two"]) {
	tree = model.decode(data(name).tree);
	weight = model.weigh(tree, "samples", "shown");
	say(name + ":", weight.total[0], weight.base[0], model.functions(tree, weight).length);
}
tree = model.decode(data("diff").tree);
weight = model.weigh(tree, "samples", "shown");
const lock = tree.names.indexOf("__lll_lock_wait");
say("change:", (100 * model.change(weight, Array.from(tree.name).indexOf(lock), 0.5)).toFixed(2));
tree = model.decode(data("manual").tree);
say("times:", ["wall", "cpu", "lock", "off cpu"].map(kind => model.format(tree, kind,
	model.weigh(tree, kind, "shown").total[0])).join(", "));

// Names that are properties of objects.
json = { unit: "count", states: ["value"], split: "", names: ["all", "__proto__", "constructor"],
	modules: ["toString"], module: [-1, 0, 0], depth: [0, 1, 2, 1], name: [0, 1, 2, 2],
	v: [[-2, 5, 7]] };
tree = model.decode(json);
say("properties:", rows(tree, model.weigh(tree, "value", "shown")), ({}).x);

// Numbers and names for people.
const bytes = Object.assign({}, tree, { unit: "bytes" });
say([0, 1023, 1024, 1572864, 5e9].map(n => model.format(bytes, "value", n)).join(" "));
say([7, 999, 1000, 12345, 999999, 1234567].map(n => model.time(n)).join(", "));
say(["std::map<int,std::string>::find", "f(int)", "operator<<(x)", "{anonymous}::g",
	"<alloc::Vec<T>_as_x>::fmt", "(a)", "x<y>::z<(int)3>"].map(model.brief).join(" "));
say([0, 999, 1000, 1234567].map(model.grouped).join(" "));

// A large tree is fast enough for a page.
const N = 50000, depth = [0], name = [0], v = [0], names = ["all"];
for (let i = 1; i < N; i++) {
	depth[i] = 1 + (i * 7919) % Math.min(depth[i - 1] + 1, 60);
	name[i] = 1 + i % 5000;
	v[i] = i % 97;
}
for (let i = 1; i <= 5000; i++)
	names[i] = "function_" + i;
const start = Date.now();
tree = model.decode({ unit: "samples", states: [1, 2, 3, 4, 5], split: "", names: names,
	modules: [], module: names.map(() => -1), depth: depth, name: name, v: [v, [], [], [], []] });
weight = model.weigh(tree, "samples", "shown");
const picture = model.picture(tree, weight.total, 0, 1280, 1500);
model.functions(tree, weight);
say("large:", tree.count, picture.length <= 1500, Date.now() - start < 3000);
