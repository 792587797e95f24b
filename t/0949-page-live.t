#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The page that --serve has at /, in a real browser, on a process of known behaviour: what
# it begins to do is seen, the seconds before can be chosen, and two stretches be compared.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"

need python3
PYTHONPATH=$top_srcdir/t/lib PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
python3 -c 'import browser, sys; sys.exit(not browser.found())' || skip_all "no chromium"

# It burns between USR1 and USR2, and from then on two threads fight for a lock.
cat >phases.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t burns, fights;
static volatile unsigned long sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_signal(int number)
{
	burns = number == SIGUSR1;
	fights = number == SIGUSR2;
}

__attribute__((noinline)) static void burn_cpu(void)
{
	for (int i = 0; i < 1000000; i++)
		sum += (unsigned long)i;
}

__attribute__((noinline)) static void wait_for_work(void)
{
	usleep(20000);
}

__attribute__((noinline)) static void fight_for_lock(void)
{
	pthread_mutex_lock(&lock);
	usleep(50000);
	pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
	for (;;) {
		if (fights)
			fight_for_lock();
		else if (burns && arg)
			burn_cpu();
		else
			wait_for_work();
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	pthread_create(&threads[0], NULL, work, NULL);
	pthread_create(&threads[1], NULL, work, threads);
	for (;;)
		pause();
}
END
${CC:-cc} -g -O1 -pthread phases.c -o phases
./phases &
target=$!
test_pids="$test_pids $target"
printf 'abcdefghijklmnopqrstuvwx\n' >token
chmod 600 token
start_server first --serve=0 --serve-token token -F 20 -p "$target"

cat >steps.py <<'END'
import browser, json, os, signal, sys, time

target, root = int(sys.argv[1]), sys.argv[2]
page = browser.Browser().__enter__()
def say(*words): print(*words, flush=True)
def facts(): return page.do("document.getElementById('facts').textContent")
def box(name): return """[...document.querySelectorAll('.box')]
    .find(b => b.title.startsWith(%s))""" % json.dumps(name + " (")
def share(name):
    """Of the picture's width."""
    return page.do("""(function (b, all) {
        return b ? b.getBoundingClientRect().width / all.getBoundingClientRect().width : 0;
    })(%s, document.querySelector('.box'))""" % box(name))
def kind(value):
    page.do("document.getElementById('kind').value = %s" % json.dumps(value))
    page.do("document.getElementById('kind').dispatchEvent(new Event('change'))")
def value(id): return page.do("document.getElementById('%s').value" % id)
def x_of(ago):
    """Where on the time line it is so many seconds ago."""
    return page.do("""(function (r) {
        return r.x + 88 + (r.width - 100) * (1 - %f / 600);
    })(document.getElementById('timeline').getBoundingClientRect())""" % ago)
def y_of(row):
    return page.do("""(function (r) { return r.y + r.height * %f; })(
        document.getElementById('timeline').getBoundingClientRect())""" % ((row + 0.5) / 5))
def state(): return page.do("document.getElementById('timeline').getAttribute('aria-valuetext')")
def holds_soon(path, word, seconds=20):
    """A browser makes the file first and fills it then."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if os.path.exists(path) and word in open(path).read():
            return True
        time.sleep(0.05)
    return False
def views(): return page.do("""[...document.querySelectorAll('[role=tab]')]
    .filter(t => !t.hidden).map(t => t.dataset.view).join(' ')""")

# Who may see it.
page.open(root)
page.do("window.sessionStorage.setItem('token', 'wrong-wrong-wrong-wrong')")
page.open(root, "document.getElementById('facts').textContent.startsWith('401')")
say("refused:", facts()[:3], page.do("document.getElementById('token').offsetHeight > 0"))
page.resize(390, 844)
say("in full:", page.do("(f => f.scrollWidth <= f.clientWidth)(document.getElementById('facts'))"))
page.resize(1280, 800)
say("address:", page.do("location.href === %s" % json.dumps(root)))
page.click("#token")
page.type("abcdefghijklmnopqrstuvwx")
page.key("Tab")
page.wait("document.documentElement.classList.contains('loaded')")
page.wait("document.getElementById('token').offsetHeight === 0")
say("title:", page.text("#title") == "phases [%d]" % target, facts().split(" ")[0])
page.open(root + "?token=abcdefghijklmnopqrstuvwx")
say("taken:", page.do("location.href === %s" % json.dumps(root)))
page.messages.clear()
page.open(root)
say("kept:", page.text("#title") == "phases [%d]" % target)

# What is new is seen.
page.key("y")
page.key("y")
page.key("y")
page.wait(box("wait_for_work") + " !== undefined")
kind("cpu")
say("before:", share("burn_cpu"))
calm = time.monotonic()
time.sleep(5)
os.kill(target, signal.SIGUSR1)
began = time.monotonic()
page.wait(box("burn_cpu") + " !== undefined")
say("seen:", time.monotonic() - began < 10)
time.sleep(4)
page.wait("(%s).getBoundingClientRect().width > 0.9 * document.querySelector('.box')"
          ".getBoundingClientRect().width" % box("burn_cpu"))
say("burns:", share("burn_cpu") > 0.9)
os.kill(target, signal.SIGUSR2)
fought = time.monotonic()
kind("lock")
page.wait(box("fight_for_lock") + " !== undefined")
time.sleep(4)

# The seconds before.
now = time.monotonic()
kind("samples")
page.drag(x_of(now - began + 4), y_of(2), x_of(now - began + 2), y_of(2))
# While the mouse moves other parts may have been shown.
page.wait("""document.getElementById('facts').textContent.startsWith(document.getElementById(
    'timeline').getAttribute('aria-valuetext').split(', ')[0].replace(' to ', '-'))""")
page.wait(box("burn_cpu") + " === undefined")
say("past:", share("wait_for_work") > 0.5, share("burn_cpu"), share("fight_for_lock"))
say("spoken:", "lock 0.0" in state(), state().count(":"))
before = facts().split(" ")[0]
page.do("document.getElementById('timeline').focus()")
page.key("ArrowRight")
page.wait("!document.getElementById('facts').textContent.startsWith(%s)" % json.dumps(before))
page.key("ArrowLeft")
page.wait("document.getElementById('facts').textContent.startsWith(%s)" % json.dumps(before))
say("arrows:", "there and back")
still = facts()
time.sleep(1.5)
say("the past does not change:", facts() == still)

# With others, from widths that a comparison does not have.
kind("wall")
now = time.monotonic()
page.drag(x_of(now - began - 1), y_of(2), x_of(now - fought + 1), y_of(2), shift=True)
page.wait("document.querySelector('#tab-diff').getAttribute('aria-selected') === 'true'")
page.wait("document.getElementById('notes').textContent.includes('base')")
page.click("#widths")
say("diff:", share("burn_cpu") > 0.2, views())
page.key("L")
page.wait("document.getElementById('facts').textContent.startsWith('live')")
say("live:", page.do("document.getElementById('tab-flame').getAttribute('aria-selected')"), views())

# Saved.
page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=os.getcwd())
page.do("document.getElementById('save').value = 'folded'")
page.do("document.getElementById('save').dispatchEvent(new Event('change'))")
name = "phases-%d.folded" % target
page.wait("document.getElementById('save').value === ''")
say("saved:", holds_soon(name, "fight_for_lock"))

# From the leaf, functions and callers are what they are from the root.
page.key("2")
def cells(name):
    return page.do("""[...document.querySelectorAll('#table-body tr')].filter(row =>
        row.lastChild.textContent.startsWith(%s)).map(row => row.children[0].textContent > 1)""" % json.dumps(name))
page.wait("document.querySelectorAll('#table-body tr').length > 5")
upright = cells("burn_cpu")
page.key("v")
say("inverted:", upright, cells("burn_cpu"))
page.key("v")

# What has the focus keeps it, and what is chosen to be copied stays.
page.do("document.querySelector('#table-head button').focus()")
time.sleep(2.5)
say("focus:", page.do("document.activeElement.dataset.key"))
page.do("getSelection().selectAllChildren(document.querySelector('#table-body tr th'))")
copied = page.do("String(getSelection())")
time.sleep(2.5)
say("selection:", page.do("String(getSelection())") == copied != "")
page.do("getSelection().removeAllRanges()")
page.do("document.querySelector('#table-body tr').focus()")
page.key("ArrowDown")
say("rows by keys:", page.do("document.activeElement === document.querySelectorAll('#table-body tr')[1]"))
page.do("document.getElementById('tab-functions').focus()")
page.key("ArrowRight")
say("tabs by keys:", page.do("document.activeElement.id"))
page.key("1")

# A row.
page.click_at(x_of(300), y_of(2))
say("row of locks:", value("kind"))
page.wait(box("fight_for_lock") + " !== undefined")
say("who waits:", share("fight_for_lock") > 0.9)
page.click_at(x_of(300), y_of(2))
say("again:", value("kind"))
page.key("5")
say("locks have the whole width:", page.do("document.getElementById('view').offsetWidth === innerWidth"))
page.key("1")

# Asked for other views while an answer is on its way, it forgets nothing.
page.do("""(function (get) {
    window.fetch = async function (path, options) {
        const answer = await get.call(window, path, options);
        if (path.includes("timeline"))
            await new Promise(done => setTimeout(done, 400));
        return answer;
    };
})(window.fetch)""")
def first(): return page.do("document.getElementById('timeline').getAttribute('aria-valuemin')")
earliest = first()
for key in "4545454545451":
    page.key(key)
    time.sleep(0.2)
page.wait("document.querySelector('#tab-flame').getAttribute('aria-selected') === 'true'")
time.sleep(2)
say("the time line begins where it did:", first() == earliest)

# Frozen.
page.key("Z")
page.wait("document.getElementById('facts').textContent.startsWith('frozen')")
frozen = facts()
time.sleep(1.5)
say("frozen:", facts() == frozen)
page.key("Z")
page.wait("document.getElementById('facts').textContent.startsWith('live')")
page.resize(390, 844)
page.do("new Promise(done => setTimeout(done, 1500))")
say("phone:", page.do("document.documentElement.scrollWidth <= 390"),
    page.do("document.getElementById('timeline').offsetHeight"))
say("header:", page.do("""[...new Set(['title', 'facts', 'states', 'save', 'help-button'].map(id =>
    (r => Math.round((r.top + r.bottom) / 20))(document.getElementById(id).getBoundingClientRect())))].length"""),
    page.do("document.querySelector('header').offsetHeight < 75"), facts().split(" ")[0])
say("messages:", page.messages, [r for r in page.requests if not r.startswith(root)])
if len(sys.argv) > 3:
    import base64
    open(sys.argv[3], "wb").write(base64.b64decode(page.call("Page.captureScreenshot")["data"]))
page.__exit__()
END
python3 steps.py "$target" "$url" >seen 2>steps.err || diag "$(tail -n 3 steps.err)"
cat >want <<'END'
refused: 401 True
in full: True
address: True
title: True live
taken: True
kept: True
before: 0
seen: True
burns: True
past: True 0 0
spoken: True 4
arrows: there and back
the past does not change: True
diff: True flame functions tree threads locks diff
live: true flame functions tree threads locks
saved: True
inverted: [True] [True]
focus: self %
selection: True
rows by keys: True
tabs by keys: tab-tree
row of locks: lock
who waits: True
again: wall
locks have the whole width: True
the time line begins where it did: True
frozen: True
phone: True 62
header: 2 True live
messages: [] []
END
while read -r line; do
	is "$(grep "^${line%%:*}:" seen)" "$line" "${line%%:*}"
done <want
end_server
is "$?" 0 "the end"
done_testing
