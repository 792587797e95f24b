#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The flame graph in a real browser: a script in a copy of the file clicks, types and
# presses keys, and writes down what it sees.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

browser=
for name in chromium chromium-browser google-chrome; do
	[ -n "$browser" ] || browser=$(command -v "$name")
done
[ -n "$browser" ] || skip_all "no chromium"

golden=$top_srcdir/t/data/golden

# visit SVG: what the script that is its standard input has reported.
visit() {
	{
		sed '$d' "$1"
		cat <<'END'
<script><![CDATA[
const seen = [], byId = id => document.getElementById(id);
window.onerror = message => { report("error: " + message); };
const report = line => seen.push(line);
const boxes = () => [...document.querySelectorAll("g.b")].filter(g => g.style.display !== "none");
const title = g => g.querySelector("title").textContent;
const find = name => boxes().find(g => title(g).startsWith(name + " ("));
const width = g => Number(g.querySelector("rect").getAttribute("width"));
const click = on => on.dispatchEvent(new MouseEvent("click", { bubbles: true }));
const press = key => window.dispatchEvent(new KeyboardEvent("keydown", { key: key }));
const type = text => {
	byId("input").value = text;
	byId("input").dispatchEvent(new Event("input"));
};
END
		cat
		cat <<'END'
const result = document.createElementNS("http://www.w3.org/2000/svg", "desc");
result.textContent = "RESULT\n" + seen.join("\n") + "\nEND";
document.documentElement.appendChild(result);
]]></script>
</svg>
END
	} >page.svg
	"$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update \
		--disable-sync --disable-dev-shm-usage --user-data-dir="$tmp/browser" \
		--dump-dom "file://$tmp/page.svg" >dom 2>browser.err
	sed -n '/RESULT$/,/^END/{/RESULT$/d;/^END/d;p}' dom
}

visit "$golden/plain.svg" >seen <<'END'
const all = boxes().length, lock = find("__lll_lock_wait");
report("boxes: " + all + ", width of all: " + width(find("all")));
report("live: " + document.documentElement.classList.contains("live"));
click(byId("search"));
report("asked: " + (byId("box").style.display === ""));
type("LOCK|mutex");
report(byId("matched").textContent + ", hits: " + document.querySelectorAll(".hit").length);
type("lock|MUTEX");
report(byId("matched").textContent);
type("lock");
report(byId("matched").textContent + ", hits: " + document.querySelectorAll(".hit").length);
type("(");
report(byId("matched").textContent);
type("");
report("nothing: '" + byId("matched").textContent + "'");
click(lock);
report("zoomed: " + width(lock) + ", left: " + (boxes().length < all) + ", " +
	byId("status").textContent);
report("label: " + lock.querySelector("text").textContent);
report("can reset: " + !byId("reset").classList.contains("off"));
click(byId("reset"));
report("reset: " + (boxes().length === all) + ", " + (width(lock) < 1000));
byId("input").blur();
press("ArrowUp");
report("selected: " + byId("status").textContent);
press("ArrowUp");
report("above: " + byId("status").textContent);
press("ArrowUp");
press("Enter");
report("zoomed by keys: " + boxes().length);
press("Escape");
report("back: " + (boxes().length === all));
press("/");
report("asked by key: " + (byId("box").style.display === ""));
find("poll").dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
report("hover: " + byId("status").textContent);
END
is "$(cat seen)" "boxes: 23, width of all: 1180
live: true
asked: true
Matched: 33.33%, hits: 1
Matched: 44.44%
Matched: 44.44%, hits: 3
not a regular expression
nothing: ''
zoomed: 1180, left: true, __lll_lock_wait (3 samples, 33.33%)
label: __lll_lock_wait
can reset: true
reset: true, true
selected: all (9 samples, 100.00%)
above: mariadbd (9 samples, 100.00%)
zoomed by keys: 16
back: true
asked by key: true
hover: poll (1 sample, 11.11%)" "search, zoom, reset, keys and tooltips"

visit "$golden/diff.svg" >seen <<'END'
const gone = () => [...document.querySelectorAll("g.b")].filter(g =>
	getComputedStyle(g).display === "none").map(g => title(g).replace(/ .*/, ""));
report("gone: " + gone().join(" "));
const lock = find("__lll_lock_wait"), before = width(lock);
report(title(lock) + " " + lock.querySelector("rect").getAttribute("class"));
report("start_thread: " + find("start_thread").querySelector("rect").getAttribute("class"));
report(byId("status").textContent);
click(byId("widths"));
report("base: " + byId("widths").textContent + ", gone: " + gone().length);
report("width: " + width(find("all")) + " " + width(lock));
type("poll");
report(byId("matched").textContent);
click(lock);
report("zoomed: " + width(lock));
click(byId("reset"));
click(byId("widths"));
report("profile: " + (width(lock) === before) + ", gone: " + gone().join(" "));
report(byId("matched").textContent);
END
is "$(cat seen)" "gone: poll
__lll_lock_wait (3 samples, 33.33%; +22.22%) more8
start_thread: less7
red grew, blue shrank since the base: 16 stacks in 2 snapshots, times 1/2; gone: -55.56% in 1 stack
base: Show the profile, gone: 12
width: 1180 147.5
Matched: 87.50%
zoomed: 1180
profile: true, gone: poll
Matched: 44.44%" "a comparison: colours, what is gone, the widths of the base"

for name in diff-gone diff-new diff-empty diff-all; do
	visit "$golden/$name.svg" >seen <<'END'
click(byId("widths"));
boxes().forEach(g => { click(g); press("ArrowUp"); press("ArrowRight"); });
type(".");
click(byId("widths"));
boxes().forEach(g => { click(g); press("ArrowUp"); press("ArrowRight"); });
const odd = [...document.querySelectorAll("rect")].some(r => /NaN|Inf|-/.test(
	r.getAttribute("x") + r.getAttribute("width")));
report("odd: " + odd + ", matched: " + byId("matched").textContent);
END
	like "$(cat seen)" '^odd: false, matched: Matched: (100|0)\.00%' "$name.svg works"
done

for name in hostile-all empty two; do
	visit "$golden/$name.svg" >seen <<'END'
boxes().forEach(g => { click(g); press("ArrowUp"); press("ArrowRight"); });
type(".");
report("matched: " + byId("matched").textContent + ", boxes: " + (boxes().length > 0));
report("injected: " + document.querySelectorAll("g.b script, g.b a").length);
END
	like "$(cat seen)" '^matched: Matched: (100|0)\.00%, boxes: true' "$name.svg works"
	like "$(cat seen)" '^injected: 0' "and contains what it should"
done

# Of bytes and times, as a heap has them.
sed 's/(\([0-9,]*\) samples\{0,1\}, /(1.\1MB, /' "$golden/plain.svg" >unit.svg
ok "grep -q 'MB, ' unit.svg" "a picture of bytes"
visit unit.svg >seen <<'END'
const lock = find("__lll_lock_wait");
type("lock");
report("live: " + document.documentElement.classList.contains("live") + ", " + byId("matched").textContent);
click(lock);
report("zoomed: " + width(lock));
END
is "$(cat seen)" "live: true, Matched: 44.44%
zoomed: 1180" "bytes: it is searched and zoomed as well"

done_testing
