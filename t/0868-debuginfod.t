#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --debuginfod: names from a server, and what happens when that has nothing, another file,
# half a file, does not answer or is not there.
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/debuginfod.sh
. "$top_srcdir/t/lib/debuginfod.sh"
need python3 objcopy readelf strip timeout

id=aabbccddeeff0011223344
other=aabbccddeeff0011223355
cat >work.c <<'END'
#include <stdio.h>
#include <unistd.h>
void library_work(void);
volatile int sink;
static inline __attribute__((always_inline)) void inlined_work(void)
{
	for (;;) {
		sink++;
		library_work();
	}
}
static __attribute__((noinline)) void hidden_work(void)
{
	inlined_work();
	sink++;
}
int main(void)
{
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	hidden_work();
	return 0;
}
END
cat >library.c <<'END'
#include <unistd.h>
volatile int drain;
static __attribute__((noinline)) void hidden_library(void)
{
	usleep(10000);
	drain++;
}
void library_work(void)
{
	hidden_library();
	drain++;
}
END
{
	${CC:-cc} -g -O1 -fPIC -shared -Wl,--build-id=0x99$id -o library.so library.c &&
		strip library.so &&
		${CC:-cc} -g -O1 -Wl,--build-id=0x$other -o other work.c ./library.so &&
		${CC:-cc} -g -O1 -Wl,--build-id=0x$id -o whole work.c ./library.so &&
		objcopy --only-keep-debug whole whole.debug && strip -o work whole
} 2>log || skip_all "no compiler: $(tail -n 1 log)"

# Root's debuginfod-find is another user, who needs to reach the programs in bad/.
chmod 711 .
cache=cache/debuginfod_client
[ "$(id -u)" -ne 0 ] || cache=$cache.pmp

mkdir -p files/$id
debuginfod_start

start_target "$tmp/work" || exit 99
work=$target_pid

# serve [FILE [HANG]]: this is the debug file from now on; nothing is in the cache.
serve() {
	rm -rf cache "files/$id/debuginfo" "files/$id/debuginfo.hang"
	[ $# -lt 1 ] || cp "$1" "files/$id/debuginfo"
	[ $# -lt 2 ] || echo "$2" >"files/$id/debuginfo.hang"
	asked_before=$(wc -l <"$requests")
}

# asked: the requests for the program's files since serve.
asked() {
	tail -n +$((asked_before + 1)) "$requests" | grep -c "/$id/"
}

# all_asked: those for any.
all_asked() {
	echo $(($(wc -l <"$requests") - asked_before))
}

# try OPTION...: snapshots of the program (it may not stop in time for one), into out and err;
# status.
try() {
	timeout 60 "$PMP" --raw -n 4 -i 3ms "$@" -p "$work" >out 2>err
	status=$?
}

# ---- without the option, and without the program ----

serve whole.debug
try
like "$(cat out)" '\[work\+0x' "without the option a stripped program has no names"
is "$(all_asked)" 0 "and no server is asked"
if command -v strace >/dev/null; then
	ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=open,openat,openat2,connect,clone,clone3,fork,vfork \
		"$PMP" --raw -p "$work" >out 2>err
	like "$(cat trace)" 'open.*/bbccddeeff0011223344\.debug' "strace has seen the program"
	is "$(grep -E 'libdebuginfod|libcurl|debuginfod_client|connect\(' trace)" "" \
		"no library is loaded, nothing connected to"
else
	skip "no strace"
fi
ok "! readelf -dW '$PMP' | grep -q 'NEEDED.*\(curl\|debuginfod\)'" "it is not linked with it"

env -u DEBUGINFOD_URLS "$PMP" --debuginfod --raw -p "$work" >out 2>err
is "$?" 2 "without DEBUGINFOD_URLS that is wrong usage"
like "$(cat err)" '^pmp: --debuginfod needs servers, and DEBUGINFOD_URLS names none' "it is said"
like "$(cat err)" '^hint: for example DEBUGINFOD_URLS=http' "with what to do"
DEBUGINFOD_URLS=' ' "$PMP" --debuginfod --raw -p "$work" >out 2>err
is "$?" 2 "nor are blanks a server"
mkdir bad
PATH=$tmp/bad "$PMP" --debuginfod --raw -n 2 -i 1ms -p "$work" >out 2>err
is "$?" 0 "without debuginfod-find there is a profile"
like "$(cat out)" '\[work\+0x' "without debuginfod-find there are no names"
like "$(cat err)" '^pmp: --debuginfod fetches nothing: cannot run debuginfod-find: No such file' \
	"that debuginfod-find is not there is said"
like "$(cat err)" '^hint: install the package debuginfod' "where to get debuginfod-find is said"
is "$(grep -c '^pmp: --debuginfod' err)" 1 "that it is not there is said once"

# bad_program COMMAND: one that does this when it is to find something.
bad_program() {
	printf '#!/bin/sh\n%s\n' "$1" >bad/debuginfod-find
	chmod +x bad/debuginfod-find
}

# shellcheck disable=SC2016 # for the program
bad_program 'kill -ABRT $$'
PATH=$tmp/bad:$PATH timeout 30 "$PMP" --debuginfod --raw -p "$work" >out 2>err
is "$?" 0 "a crash of debuginfod-find is none of pmp"
like "$(cat err)" '^pmp: no debug files are fetched any more: debuginfod-find has failed' \
	"a crash of debuginfod-find is said"
like "$(cat out)" '\[work\+0x' "with a crash of debuginfod-find there is a profile"
bad_program 'echo "Server query failed: Out of memory" >&2; exit 1'
PATH=$tmp/bad:$PATH timeout 30 "$PMP" --debuginfod --raw -p "$work" >out 2>err
like "$(cat err)" '^pmp: no debug files are fetched any more: Out of memory' \
	"what debuginfod-find says of a failure is said"
# shellcheck disable=SC2016 # for the program
bad_program 'echo "query failed: $DEBUGINFOD_MAXTIME s, $DEBUGINFOD_MAXSIZE bytes" >&2; exit 1'
PATH=$tmp/bad:$PATH timeout 30 "$PMP" --debuginfod --raw -p "$work" >out 2>err
like "$(cat err)" 'any more: 1800 s, 8589934592 bytes' "a file may take half an hour and 8 GiB"
DEBUGINFOD_MAXTIME=7 PATH=$tmp/bad:$PATH timeout 30 "$PMP" --debuginfod --raw -p "$work" >out 2>err
like "$(cat err)" 'any more: 7 s, ' "unless the user has said otherwise"
bad_program 'head -c 100000 /dev/zero | tr "\\0" a; echo; echo /nowhere/at/all; exit 0'
PATH=$tmp/bad:$PATH timeout 30 "$PMP" --debuginfod --raw -p "$work" >out 2>err
is "$?" 0 "a path from debuginfod-find that does not exist is no file"
like "$(cat out)" '\[work\+0x' "with such a path there are no names"

command -v debuginfod-find >/dev/null || skip_all "no debuginfod-find"

# ---- what a server has ----

serve whole.debug
try --debuginfod --lines
is "$status" 0 "with a server"
like "$(cat out)" ' in hidden_work \(\) at .*/work\.c:14$' "a name and a line of the program"
like "$(cat out)" ' in inlined_work \(\) at ' "an inlined function"
is "$(grep '^pmp: no debug' err)" "" "no complaint"
is "$(asked)" 1 "one request"
try --debuginfod
like "$(cat out)" ' in hidden_work \(\)' "once more"
is "$(asked)" 1 "that comes from the cache"
ok "[ -e $cache/$id/debuginfo ]" "which is where XDG_CACHE_HOME says"
like "$("$PMP" -q -f folded --debuginfod -d 0.3 -p "$work")" ';main;hidden_work;inlined_work;library_work' \
	"in folded stacks"

"$PMP" -q --no-symbols --debuginfod -f pprof -o saved.pb.gz -d 0.3 -p "$work"
serve whole.debug
"$PMP" -q -f folded --debuginfod saved.pb.gz >out
like "$(cat out)" ';main;hidden_work;inlined_work' "a saved profile, where the program is"
is "$(asked)" 1 "whose debug file is asked for"
if command -v gcore >/dev/null; then
	gcore -o core "$work" >gcore.log 2>&1 || diag "$(cat gcore.log)"
	mv "core.$work" core
else
	skip "no gcore"
fi
mv work moved
serve whole.debug
cp moved "files/$id/executable"
unlike "$("$PMP" -q -f folded saved.pb.gz)" hidden_work "a saved profile, where it is not"
is "$(all_asked)" 0 "no server is asked"
"$PMP" -q -f folded --debuginfod saved.pb.gz >out
like "$(cat out)" ';main;hidden_work;inlined_work' "with --debuginfod it is named"
is "$(asked)" 2 "by the program and its debug file"
if [ -e core ]; then
	serve whole.debug
	cp moved "files/$id/executable"
	unlike "$("$PMP" -q core 2>&1)" 'hidden_work' "a core file, where the program is not"
	is "$(all_asked)" 0 "no server is asked"
	"$PMP" -q --debuginfod core >out 2>err
	like "$(cat out)" ' in hidden_work ()' "with --debuginfod it is named"
	like "$(cat out)" ' in main ()' "to its root"
	is "$(asked)" 2 "by the program and its debug file, too"
fi
cp other work
serve whole.debug
"$PMP" -q -f folded --debuginfod saved.pb.gz >out
like "$(cat out)" ';main;hidden_work;inlined_work' "the same where another version lies"
mv moved work
rm "files/$id/executable"

# ---- what it does not have ----

serve
try --debuginfod -n 3 -i 1ms
is "$status" 0 "a server that has nothing"
like "$(cat out)" '\[work\+0x' "names are missing"
is "$(asked)" 1 "it is asked once"
unlike "$(cat err)" 'are fetched any more' "and not blamed"
objcopy --only-keep-debug other other.debug
serve other.debug
try --debuginfod
is "$status" 0 "a file of another build"
like "$(cat out)" '\[work\+0x' "is not believed"
head -c 3000 whole.debug >half
serve half
try --debuginfod
is "$status" 0 "half a file"
like "$(cat out)" '\[work\+0x' "is of no use"
echo rubbish >rubbish
serve rubbish
try --debuginfod
is "$status" 0 "rubbish"
like "$(cat out)" '\[work\+0x' "is of no use, either"

# ---- servers that cannot be reached ----

gone='^pmp: no debug files are fetched any more: '
serve
DEBUGINFOD_URLS=http://127.0.0.1:1 try --debuginfod
is "$status" 0 "a server that is not there"
like "$(cat err)" "${gone}Connection refused" "it is said"
like "$(cat err)" '^hint: DEBUGINFOD_URLS is http://127.0.0.1:1$' "which"
is "$(grep -c "$gone" err)" 1 "once"
like "$(cat out)" '\[work\+0x' "the profile is there"

# Two servers, one of which says nothing.
mkdir -p silent/$id silent/99$id
echo silent | tee silent/$id/debuginfo.hang >silent/99$id/debuginfo.hang
start_process python3 "$top_srcdir/t/lib/debuginfod.py" silent
silent_server=$target_pid silent=$target_out
wait_for "grep -q ^ready '$silent'"
silent_url=http://127.0.0.1:$(sed -n 's/^ready //p' "$silent")
serve whole.debug
DEBUGINFOD_TIMEOUT=1 DEBUGINFOD_URLS="$silent_url $DEBUGINFOD_URLS" try --debuginfod
like "$(cat out)" ' in hidden_work \(\)' "names from one of two servers" || diag "$(cat err)"
is "$(grep -c 'any more' err)" 0 "one silent server of two is no reason to end" ||
	diag "$(cat err)"
stop_process "$silent_server"

# The library, which is asked for before the program is.
mkdir files/99$id && cp whole.debug files/99$id/debuginfo
for how in silent half; do
	serve whole.debug
	echo $how >files/99$id/debuginfo.hang
	begin=$(date +%s)
	DEBUGINFOD_TIMEOUT=1 try --debuginfod
	end=$(date +%s)
	is "$status" 0 "a server that hangs ($how)"
	ok "[ $((end - begin)) -le 20 ]" "is not waited for for ever: $((end - begin)) s"
	is "$(grep -c "$gone" err)" 1 "said once" || diag "$(cat err)"
	is "$(all_asked)" 1 "it was asked once"
	is "$(asked)" 0 "but not for other files afterwards"
	like "$(cat out)" '\[work\+0x' "the profile is there"
done

# Bytes come all the time.
serve whole.debug
echo endless >files/99$id/debuginfo.hang
begin=$(date +%s)
DEBUGINFOD_MAXTIME=2 DEBUGINFOD_TIMEOUT=60 try --debuginfod
end=$(date +%s)
is "$status" 0 "an answer without end"
ok "[ $((end - begin)) -le 20 ]" "is given up: $((end - begin)) s"
like "$(cat err)" "${gone}(no answer in time|no whole file within 2 s)" "it is said"
like "$(cat out)" '\[work\+0x' "the profile is there"
rm -r files/99$id

# hang OPTION...: pmp with such a server, until it waits for it; its output in out.
hang() {
	serve whole.debug silent
	"$PMP" --debuginfod "$@" >out 2>err </dev/null &
	pmp=$!
	test_pids="$test_pids $pmp"
	wait_for "[ \$(asked) -ge 1 ]"
	helper=$(cat "/proc/$pmp/task/$pmp/children" 2>/dev/null)
}

# ends TEXT [SECONDS]: soon, with its processes.
ends() {
	wait_for "! grep -q '^State:[[:space:]]*[^Z]' /proc/$pmp/status" "${2:-5}"
	test_result $? "$1: it ends" || kill -KILL "$pmp"
	wait "$pmp"
	status=$?
	for child in $helper; do
		ok "wait_for '! grep -q \"^State:[[:space:]]*[^Z]\" /proc/$child/status' 5" \
			"and so does its process $child"
	done
}

# One that does not keep to its own limits; what it hangs in ends with pmp.
bad_program 'exec sleep 1000'
serve
PATH=$tmp/bad:$PATH DEBUGINFOD_TIMEOUT=1 "$PMP" --debuginfod --raw -p "$work" >out 2>err &
pmp=$!
test_pids="$test_pids $pmp"
wait_for "[ -n \"\$(cat /proc/$pmp/task/$pmp/children)\" ]"
helper=$(cat "/proc/$pmp/task/$pmp/children")
ends "a debuginfod-find that hangs" 20
is "$status" 0 "in order"
like "$(cat err)" "${gone}no answer within 1 s" "it is said"
like "$(cat out)" '\[work\+0x' "the profile is there"

# Nor to this one.
# shellcheck disable=SC2016 # for the program
bad_program 'i=1; while :; do i=$((i + 100)); echo "Progress $i / 1000000"; sleep 0.1; done'
serve
PATH=$tmp/bad:$PATH DEBUGINFOD_MAXTIME=1 "$PMP" --debuginfod --raw -p "$work" >out 2>err &
pmp=$!
test_pids="$test_pids $pmp"
wait_for "[ -n \"\$(cat /proc/$pmp/task/$pmp/children)\" ]"
helper=$(cat "/proc/$pmp/task/$pmp/children")
ends "a debuginfod-find without an end" 20
like "$(cat err)" "${gone}no whole file within 1 s" "it is said"

# The process that waits for the file has three seconds for an answer here.
if [ -x "$PMP_FAULTY" ]; then
	bad_program "sleep 4; exec $(command -v debuginfod-find) \"\$@\""
	serve whole.debug
	PATH=$tmp/bad:$PATH PMP_FAULT=short-answers timeout 60 "$PMP_FAULTY" --debuginfod --raw \
		-p "$work" >out 2>err
	like "$(cat out)" 'hidden_work' "a fetch may take longer than an answer"
else
	skip "no $PMP_FAULTY"
fi

hang --raw -p "$work"
kill -INT "$pmp"
ends "a signal during a fetch"
is "$status" 0 "in order"
like "$(cat err)" "${gone}interrupted" "it is said"
like "$(cat out)" '\[work\+0x' "what there is is written"

hang -f folded -d 0.2 -p "$work"
kill -TERM "$pmp"
ends "another signal"
is "$status" 143 "with its status"
like "$(cat out)" 'work;.*usleep' "what there is is written"

serve whole.debug silent
"$PMP" --debuginfod -f folded -d 100 -p "$work" >out 2>err &
pmp=$!
test_pids="$test_pids $pmp"
wait_for "[ -n \"\$(cat /proc/$pmp/task/$pmp/children)\" ]"
# As long as samples take: nothing shows that there are some.
sleep 0.5
kill -INT "$pmp"
wait_for "[ \$(asked) -ge 1 ]"
helper=
# Two within 50 ms are one.
sleep 0.1
kill -INT "$pmp"
ends "a signal that ends the sampling, and one during the fetch"
is "$status" 0 "in order"
like "$(cat out)" 'work;.*usleep' "the profile is not lost"

hang --raw --max-wall 1 -p "$work"
ends "--max-wall"
is "$status" 1 "with its status"

# ---- the live view ----

if command -v tmux >/dev/null; then
	serve whole.debug silent
	tmux -L "pmp$$" -f /dev/null new-session -d -x 100 -y 30 \
		"cd '$PWD' && TERM=screen-256color exec '$PMP' --debuginfod -p $work 2>viewerr"
	shows() {
		tmux -L "pmp$$" capture-pane -p | grep -q -e "$1"
	}
	ok "wait_for '[ \$(asked) -ge 1 ]'" "the live view asks, too"
	tmux -L "pmp$$" send-keys 2
	ok "wait_for 'shows SELF' 5" "while it waits for the server keys are answered" ||
		diag "$(tmux -L "pmp$$" capture-pane -p)"
	tmux -L "pmp$$" send-keys q
	ok "wait_for '! tmux -L pmp$$ list-sessions' 5" "and q ends it"
	tmux -L "pmp$$" kill-server 2>/dev/null
	serve whole.debug
	tmux -L "pmp$$" -f /dev/null new-session -d -x 100 -y 30 \
		"cd '$PWD' && TERM=screen-256color exec '$PMP' --debuginfod -p $work 2>viewerr"
	ok "wait_for 'shows hidden_work'" "names from a server" ||
		diag "$(tmux -L "pmp$$" capture-pane -p)"
	tmux -L "pmp$$" send-keys q
	wait_for "! tmux -L pmp$$ list-sessions" 5 || tmux -L "pmp$$" kill-server
else
	skip "no tmux"
fi

ok "untouched $work" "the program was left as it was"
stop_process "$server"
done_testing
