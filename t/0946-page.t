#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The page in a real browser, as the format html writes it: clicks and keys are those of
# a user. Pages of known content have the data of golden files.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

[ -x "$PMP" ] || skip_all "no $PMP"
need python3
PYTHONPATH=$top_srcdir/t/lib PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
python3 -c 'import browser, sys; sys.exit(not browser.found())' || skip_all "no chromium"

start_target demo
save demo.pb.gz -n 12 -i 20ms
ok "'$PMP' -q -o demo.html demo.pb.gz" "a page is written"
is "$("$PMP" -q -f html demo.pb.gz | cmp - demo.html)" "" "it is the same when written again"
stop_process "$target_pid"
for name in plain all hostile-all diff diff-gone empty manual; do
	{
		sed '/<script type="application.json"/q' demo.html
		cat "$top_srcdir/t/data/golden/$name.html"
		sed -n '/^<script type="application.json"/,$p' demo.html | sed -n '/^<.script>$/,$p'
	} >"$name.html"
done

cat >steps.py <<'END'
import browser, json, sys

page = browser.Browser().__enter__()
def say(*words): print(*words, flush=True)
def go(name):
    page.messages.clear()
    page.requests.clear()
    page.open("file://%s/%s.html" % (sys.argv[1], name))
def quiet():
    odd = [r for r in page.requests if not r.startswith("file://" + sys.argv[1])]
    say("messages:", page.messages, "requests:", len(page.requests), odd)
def titles(): return page.do("[...document.querySelectorAll('.box')].map(b => b.title)")
def width(name): return page.do("""Math.round([...document.querySelectorAll('.box')].find(
    b => b.title.startsWith(%s)).getBoundingClientRect().width)""" % json.dumps(name + " ("))
def pick(name):
    page.click_at(*page.do("""(function (b) {
        b.scrollIntoView({ block: "nearest" });
        const r = b.getBoundingClientRect();
        return [r.x + r.width / 2, r.y + r.height / 2];
    })([...document.querySelectorAll('.box')].find(b => b.title.startsWith(%s)))"""
        % json.dumps(name + " (")))
def search(text):
    page.do("document.getElementById('search').value = ''")
    page.click("#search")
    page.type(text)
    hits = page.do("document.querySelectorAll('.hit').length")
    return "%s: %s, hits: %d" % (text, page.text("#matched"), hits)
def status(): return page.text("#status")
def chosen(): return page.do("(b => b ? b.title : null)(document.querySelector('.box.selected'))")
def active(): return page.do("document.querySelector('[role=tab][aria-selected=true]').textContent")
exec(sys.stdin.read())
page.__exit__()
END
steps() { python3 steps.py "$tmp" 2>&1; }

steps >seen <<'END'
go("plain")
say("boxes:", len(titles()), "all:", width("all"), "main:", width("main"))
say("order:", " ".join(t.split(" (")[0] for t in titles() if t.startswith(("conn", "poll", "main", "start"))))
say("head:", page.text("#title"), "/", page.text("#facts"))
for text in ["LOCK|mutex", "lock|MUTEX", "lock", "("]: say(search(text))
page.key("Escape")
say("ended:", page.text("#matched") == "", page.do("document.querySelectorAll('.hit').length"))
pick("__lll_lock_wait")
say("chosen:", status())
say("side:", page.text("#side h2"), "|", page.text("#side .module-name"))
pick("__lll_lock_wait")
say("zoomed:", width("__lll_lock_wait") == width("all"), len(titles()), page.do("document.getElementById('zoom-out').hidden"))
page.key("Backspace")
say("out by one:", width("pthread_mutex_lock") == width("all"), width("__lll_lock_wait") == width("all"))
page.click("#zoom-out")
say("back:", len(titles()), width("__lll_lock_wait") < width("all"))
page.key("Escape")
say("nothing chosen:", chosen())
for key in ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "End", "Home", "ArrowUp"]:
    page.key(key)
    say(key + ":", chosen())
page.key("Enter")
say("Enter:", page.do("document.getElementById('zoom-out').hidden"))
page.key("Escape")
page.key("/")
page.type("poll")
page.key("Enter")
page.key("n")
first = page.do("[...document.querySelectorAll('.box')].findIndex(b => b.classList.contains('selected'))")
page.key("n")
say("next:", chosen(), first != page.do("[...document.querySelectorAll('.box')].findIndex(b => b.classList.contains('selected'))"))
page.key("Escape")
page.key("\\")
page.type("^do_command$")
page.key("Enter")
say("filter:", titles()[0], "|", status())
page.key("Escape")
say("without:", titles()[0])
page.key("i")
say("hidden:", titles()[0])
page.key("i")
say("only:", titles()[0])
page.key("i")
page.key("v")
say("inverted:", " ".join(sorted(t.split(" (")[0] for t in titles() if t.startswith(("poll", "__lll")))))
page.key("v")
for key in "234561":
    page.key(key)
    say(key, active())
page.key("?")
say("help:", page.do("document.getElementById('help').open"), page.do("document.querySelectorAll('#keys tr').length") > 15)
page.key("Escape")
say("closed:", not page.do("document.getElementById('help').open"))
quiet()
END
cat >want <<'END'
boxes: 23 all: 955 main: 105
order: main start_thread poll poll poll poll
head: mariadbd / 1 snapshots · 9 stacks · 2026-11-21 04:08:36 UTC
LOCK|mutex: Matched: 33.33%, hits: 1
lock|MUTEX: Matched: 44.44%, hits: 3
lock: Matched: 44.44%, hits: 3
(: not a regular expression, hits: 0
ended: True 0
chosen: __lll_lock_wait (3 samples, 33.33%); lock 100 %
side: __lll_lock_wait | libc.so.6
zoomed: True 7 False
out by one: True True
back: 23 True
nothing chosen: None
ArrowDown: all (9 samples, 100.00%)
ArrowDown: mariadbd (9 samples, 100.00%)
ArrowDown: [not stopped: epoll_wait] (1 sample, 11.11%)
ArrowRight: [truncated: no unwind information] (1 sample, 11.11%)
End: start_thread (6 samples, 66.67%)
Home: [not stopped: epoll_wait] (1 sample, 11.11%)
ArrowUp: mariadbd (9 samples, 100.00%)
Enter: False
next: poll (1 sample, 11.11%) True
filter: all (4 samples, 100.00%) | mariadbd (4 samples, 100.00%); lock 75 %, sleep 25 %; only stacks with ^do_command$
without: all (9 samples, 100.00%)
hidden: all (5 samples, 100.00%)
only: all (4 samples, 100.00%)
inverted: __lll_lock_wait poll
2 2 Functions
3 3 Tree
4 3 Tree
5 3 Tree
6 3 Tree
1 1 Flame
help: True True
closed: True
messages: [] requests: 1 []
END
is "$(cat seen)" "$(cat want)" "boxes, search, choice, zoom, keys, filter"

# The same numbers as other formats have.
"$PMP" -q -f flat demo.pb.gz | sed '1,/self%/d' |
	awk '{ print $1, $3, $2, $4, $7, $8 }' | sed 's/[()]//g; s/ \[.*//; s/ *$//' | sort >flat
"$PMP" -q -f svg demo.pb.gz | sed -n 's/.*<title>\(.*\)<.title>.*/\1/p' | sort >svg
"$PMP" -q -f folded demo.pb.gz | awk '{ all += $NF } /mutex|poll/ { n += $NF }
	END { printf("%.2f\n", 100 * n / all) }' >share
steps >seen <<'END'
go("demo")
open("svg.page", "w").write("".join(t + "\n" for t in sorted(titles())))
say(search("mutex|poll"))
page.key("Escape")
page.key("2")
rows = page.do("""[...document.querySelectorAll('#table-body tr')].map(row => {
    const cells = [...row.children].map(cell => cell.textContent);
    return [...cells.slice(0, 4), cells[cells.length - 1]].join(' ');
})""")
open("flat.page", "w").write("".join(row + "\n" for row in sorted(rows)))
say("head:", page.do("[...document.querySelectorAll('#table thead th')].map(h => h.textContent + ' ' + h.ariaSort).join(', ')"))
self_percent = page.do("[...document.querySelectorAll('#table-body tr')].map(row => Number(row.children[0].textContent))")
say("sorted:", self_percent == sorted(self_percent, reverse=True))
page.click("#table thead th:nth-child(3) button")
total = page.do("[...document.querySelectorAll('#table-body tr')].map(row => Number(row.children[2].textContent))")
say("by total:", total == sorted(total, reverse=True))
page.key("I")
say("turned round:", page.do("document.querySelector('#table thead th:nth-child(3)').ariaSort"))
page.key("3")
page.key("e")
say("hottest:", page.do("document.querySelector('#table-body tr:nth-last-child(n) .name').textContent"), page.do("[...document.querySelectorAll('#table-body .name')].map(n => n.textContent).includes('update_table')"))
page.key("4")
say("threads:", page.do("document.querySelectorAll('#table-body tr').length"))
page.click("#table-body tr:nth-child(5)")
say("group:", page.do("document.getElementById('group').value"), active(), titles()[0])
page.do("document.activeElement.blur()")
page.key("H")
say("apart:", " ".join(sorted(t.split(" (")[0] for t in titles() if t.startswith(("queue-N", "busy", "holder")))))
page.key("H")
pick("update_table")
say("by group:", page.do("[...document.querySelectorAll('#side li')].map(li => li.textContent).join('; ')"))
page.do("document.getElementById('kind').value = 'lock'; document.getElementById('kind').dispatchEvent(new Event('change'))")
say("lock:", page.do("document.querySelector('.box').title.endsWith('s, 100.00%)')"), width("update_table") == width("all"))
quiet()
END
is "$(cat svg.page)" "$(cat svg)" "boxes and their numbers are those of the format svg"
is "$(cat flat.page)" "$(cat flat)" "the table of functions is that of the format flat"
like "$(cat seen)" "^mutex.poll: Matched: $(cat share)%" "the share that is found is that of the stacks"
cat >want <<'END'
head: self % descending, self null, total % none, total null, run % null, ready % null, lock % null, disk % null, sleep % null, function none
sorted: True
by total: True
turned round: ascending
hottest: all True
threads: 10
group: queue-N 1 Flame all (48 samples, 100.00%)
apart: busy busy holder holder queue-N
by group: lock; queue-N40.00 %; queue40.00 %; pthread_mutex_lock40.00 %
lock: True True
messages: [] requests: 1 []
END
is "$(sed 1d seen | sed 's/by group: lock[^;]*/by group: lock/')" "$(cat want)" "tables, groups, widths"

# The rows of two tables are in another order for each column than for the one before it, and
# by a share than by its number.
steps >seen <<'END'
page_text = open(sys.argv[1] + "/demo.html", encoding="utf-8").read()
start = page_text.index('id="data">') + 10
end = page_text.index("</script>", start)
data = json.loads(page_text[start:end])
data["threads"] = [[1, 3, "b", "b", 20, 50, 20, 10, 15, 5, "x<y"], [1, 2, "a", "a", 30, 80, 60, 10, 40, 10, "z"],
    [1, 1, "c", "c", 10, 30, 40, 20, 0, 10, "a<z"]]
data["locks"] = [["mutex b", "", 300000, 20, 3, "y", 14, "s", "u"], ["mutex c", "", 200000, 30, 1, "x", 15, "t", "r"],
    ["mutex a", "", 100000, 10, 2, "z", 1, "r", "t"]]
text = page_text[:start] + json.dumps(data).replace("<", "\\u003c") + page_text[end:]
open(sys.argv[1] + "/sorts.html", "w", encoding="utf-8").write(text)
def head(): return page.do("[...document.querySelectorAll('#table thead th')].map(h => [h.textContent, h.ariaSort, h.className])")
def cells(i): return page.do("""[...document.querySelectorAll('#table-body tr')].map(r => r.children[%d])
    .map(c => (c.querySelector('.name') || c).textContent)""" % i)
def number(text): return float("".join(c for c in text if c.isdigit() or c == ".") or 0)
def sort():
    """The column that the table is sorted by, and whether its cells are in that order."""
    [(i, (title, _, kind))] = [(i, h) for i, h in enumerate(head()) if h[1] == "descending"]
    texts = cells(i)
    if kind == "number":
        return title, texts == sorted(texts, key=number, reverse=True) and len(set(texts)) > 1
    return title, texts == sorted(texts) and len(set(texts)) > 1
go("sorts")
for key in "245":
    page.key(key)
    titles = [h[0] for h in head() if h[1]]
    at = titles.index(sort()[0])
    seen = {}
    for name, step in [(">", 1), ("<", -1)]:
        seen[name] = []
        for i in range(len(titles)):
            page.key(name)
            at = (at + step) % len(titles)
            seen[name].append(sort() == (titles[at], True))
    say(active() + ":", ", ".join(titles), "|", *(all(seen[name]) for name in seen))
    page.key("I")
    say("turned round:", [h[0] for h in head() if h[1] == "ascending"])
    page.key(">")
    say("then the next:", *sort())
for key in "361":
    page.key(key)
    for name in "<>I": page.key(name)
say("without an order:", active())
quiet()
END
cat >want <<'END'
2 Functions: self %, total %, function | True True
turned round: ['self %']
then the next: total % True
4 Threads: tid, name, samples, run %, ready %, lock %, disk %, sleep %, most often in | True True
turned round: ['samples']
then the next: run % True
5 Locks: waited, samples, threads, lock, held by, in %, waits in, holder is in | True True
turned round: ['samples']
then the next: threads True
without an order: 1 Flame
messages: [] requests: 1 []
END
is "$(cat seen)" "$(cat want)" "< and > sort all tables by the next column"

steps >seen <<'END'
go("all")
page.key("4")
say("thread:", page.do("[...document.querySelectorAll('#table-body tr')].find(r => r.textContent.includes('worker 12')).click()"), titles()[0], page.do("document.getElementById('group').value"))
go("diff")
page.key("6")
classes = lambda name: page.do("[...document.querySelectorAll('.box')].find(b => b.title.startsWith('%s (')).className" % name)
say(titles()[0], "|", status())
say("lock:", classes("__lll_lock_wait"), [t for t in titles() if t.startswith("__lll")])
say("start_thread:", classes("start_thread"))
before = width("__lll_lock_wait")
page.click("#widths")
say("base:", page.text("#widths"), round(8 * width("__lll_lock_wait") / width("all"), 1))
page.click("#widths")
say("profile:", width("__lll_lock_wait") == before)
page.key("2")
say("functions:", page.do("[...document.querySelectorAll('#table-body tr')].map(r => r.textContent).filter(t => t.includes('__lll')).join()"))
page.click("#table thead th:nth-child(6) button")
say("by difference:", page.text("#table-body .name"))
quiet()
go("diff-gone")
page.key("6")
page.click("#widths")
say("gone:", titles()[0], len(titles()))
go("empty")
say("empty:", titles(), page.do("document.getElementById('empty').hidden"))
for key in ["2", "3", "e", "1", "ArrowDown", "Enter", "v", "i", "/"]: page.key(key)
quiet()
END
cat >want <<'END'
thread: None all (1 sample, 100.00%) worker_12
all (9 samples, 100.00%; +11.11%) | red grew, blue shrank since the base
lock: box more8 ['__lll_lock_wait (3 samples, 33.33%; +22.22%)']
start_thread: box less7
base: Show the profile 1.0
profile: True
functions: 33.33333.33311.11+22.22__lll_lock_wait libc.so.6
by difference: poll
messages: [] requests: 1 []
gone: all (0 samples, 0.00%; -100.00%) 12
empty: ['all (0 samples, 0.00%)'] False
messages: [] requests: 1 []
END
is "$(cat seen)" "$(cat want)" "a comparison, and nothing at all"

# Names that try to be something else; the page may reach nothing.
python3 - "$tmp" <<'END'
import json, sys
names = ["</script><script>window.hit = 1</script>", "\"><img src=x onerror='window.hit = 1'>",
         "\u202egnp.exe", "x" * 65536, "a\0b\nc", "__proto__", "constructor", "${window.hit = 1}",
         "<b onclick=window.hit=1>", "&lt;script&gt;", "'; window.hit = 1; //"]
data = {"version": "0", "title": names[0], "host": names[1], "command": names[0], "type": "",
        "start": 0, "duration": 0, "snapshots": 1, "stacks": 99, "threads": [], "tree": {
            "unit": "samples", "states": ["run", "ready", "lock", "disk", "sleep"],
            "split": "group", "names": ["all", "p"] + names, "modules": names,
            "module": [-1, -1] + list(range(len(names))), "files": names,
            "file": [-1, -1] + list(range(len(names))), "depth": [0, 1], "name": [0, 1],
            "v": [[-2], [], [], [], []], "idle": []}}
for i, name in enumerate(names):
    data["threads"].append([1, i, name, name, 9, 9, 0, 0, 0, 0, name])
    data["tree"]["depth"] += [2, 3]
    data["tree"]["name"] += [i + 2, (i + 1) % len(names) + 2]
    data["tree"]["v"][0] += [-1, 9]
text = json.dumps(data)
for c in "<>&": text = text.replace(c, "\\u%04x" % ord(c))
page = open(sys.argv[1] + "/plain.html", encoding="utf-8").read()
start = page.index('id="data">') + 10
page = page[:start] + "\n" + text + "\n" + page[page.index("</script>", start):]
open(sys.argv[1] + "/hostile.html", "w", encoding="utf-8").write(page)
END
steps >seen <<'END'
for name in ["hostile", "hostile-all"]:
    go(name)
    before = page.do("document.querySelectorAll('*').length") > 0
    for key in ["2", "3", "e", "4", "1", "H", "v", "v", "c", "c"]: page.key(key)
    count = page.do("document.querySelectorAll('.box').length")
    for i in range(min(count, 14)):
        page.do("document.querySelectorAll('.box')[%d].click()" % i)
    for key in ["2", "3", "4", "1"]: page.key(key)
    search("<|x")
    say(name, count > 5, page.do("window.hit"), page.do("document.querySelectorAll('img, b, script:not(#data)').length"),
        page.do("document.title.includes('script') || document.title.length > 5"))
    quiet()
say("fetch:", page.do("fetch('http://127.0.0.1:9/x').then(() => 'sent', () => 'refused')"))
say("script:", page.do("new Promise(done => { const i = new Image(); i.onload = i.onerror = e => done(e.type); i.src = 'file:///x.png'; })"))
say("told:", len([m for m in page.messages if "Content Security Policy" in m]) >= 2, [r for r in page.requests if r.startswith("http")])
END
cat >want <<'END'
hostile True None 1 True
messages: [] requests: 1 []
hostile-all True None 1 True
messages: [] requests: 1 []
fetch: refused
script: error
told: True []
END
is "$(cat seen)" "$(cat want)" "hostile names are text, and the page reaches nothing"

steps >seen <<'END'
def luminance(colour):
    parts = [int(x) / 255 for x in colour[4:-1].split(",")]
    parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
def contrast(a, b):
    light, dark = sorted([luminance(a), luminance(b)], reverse=True)
    return (light + 0.05) / (dark + 0.05)
def computed(selector, what, pseudo=""):
    return page.do("getComputedStyle(document.querySelector('%s'), '%s')['%s']" % (selector, pseudo, what))
def colours():
    back = computed("body", "backgroundColor")
    text = [contrast(computed(s, "color"), back) for s in ["h1", "#facts", "nav label"]]
    boxes = page.do("[...document.querySelectorAll('.box')].map(b => [getComputedStyle(b).color, getComputedStyle(b).backgroundColor])")
    strips = [contrast(computed(".state." + s, "backgroundColor", "::before"), back) for s in ["run", "ready", "lock", "disk", "sleep"]]
    return min(text) >= 4.5, min(contrast(*b) for b in boxes) >= 4.5, min(strips) >= 3
go("demo")
light = computed("body", "backgroundColor")
say("light:", colours())
page.media(prefers_color_scheme="dark")
say("dark:", colours(), light != computed("body", "backgroundColor"))
page.media(prefers_color_scheme="light", forced_colors="active")
say("forced:", page.do("getComputedStyle(document.querySelector('.strip')).backgroundImage !== 'none'"))
page.media(forced_colors="none")
page.resize(640, 400, 2)
say("twice as large:", page.do("document.documentElement.scrollWidth <= innerWidth && document.getElementById('view').clientHeight > 100"))
page.resize(390, 844, 2, True)
go("demo")
say("phone:", page.do("document.documentElement.scrollWidth"), page.do("Math.min(...[...document.querySelectorAll('nav button, nav select, nav input')].filter(b => b.offsetHeight).map(b => b.offsetHeight)) >= 40"),
    page.do("document.getElementById('side').offsetHeight"))
pick("queue")
say("sheet:", page.do("(s => s.offsetWidth === innerWidth && s.offsetHeight > 300)(document.getElementById('side'))"), page.text("#side h2"))
page.click("#grip")
say("full:", page.do("document.getElementById('side').offsetHeight > 700"))
page.key("Escape")
say("closed:", page.do("document.getElementById('side').offsetHeight"))
quiet()
page.resize(1280, 800)
go("demo")
pick("queue")
nodes = page.call("Accessibility.getFullAXTree")["nodes"]
def role(n): return n.get("role", {}).get("value")
def label(n): return n.get("name", {}).get("value")
say("tree:", [label(n) for n in nodes if role(n) == "tree"])
say("item:", [label(n) for n in nodes if role(n) == "treeitem" and label(n).startswith("queue,")])
say("tabs:", [label(n) for n in nodes if role(n) == "tab"])
say("status:", len([n for n in nodes if role(n) == "status"]) > 0)
say("nameless:", [role(n) for n in nodes if role(n) in ("button", "textbox", "searchbox", "combobox") and not label(n) and not n.get("ignored")])
page.key("2")
nodes = page.call("Accessibility.getFullAXTree")["nodes"]
say("table:", len([n for n in nodes if role(n) == "columnheader"]), len([n for n in nodes if role(n) == "rowheader"]) > 5)
page.key("5")
say("locks:", page.do("""[...document.querySelectorAll('#table-body tr')].map(r =>
    [2, 3, 4, 6].map(i => r.cells[i].textContent).join(', ')).join('; ')"""))
END
cat >want <<'END'
light: (True, True, True)
dark: (True, True, True) True
forced: True
twice as large: True
phone: 390 True 0
sheet: True queue
full: True
closed: 0
messages: [] requests: 1 []
tree: ['flame graph, callers above']
item: ['queue, 40.00 percent, mostly lock']
tabs: ['1 Flame', '2 Functions', '3 Tree', '4 Threads', '5 Locks']
status: True
nameless: []
table: 10 True
locks: 4, mutex table_lock, holder, pthread_mutex_lock<update_table<queue<start_thread<clone3
END
is "$(cat seen)" "$(cat want)" "colours, sizes, a phone, what is read aloud"

done_testing
