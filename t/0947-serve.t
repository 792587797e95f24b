#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pmp --serve with the programs that fetch profiles: curl, go tool pprof, google-pprof; who may
# ask, and what the server's process can do.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"

# A process that burns a quarter of its time in burn_cpu() and waits for a lock for half of it
# in wait_for_lock().
cat >served.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum;

__attribute__((noinline)) static void burn_cpu(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	do {
		for (int i = 0; i < 10000; i++)
			sum += i;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 100);
}

__attribute__((noinline)) static void wait_for_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void *waiter(void *arg)
{
	for (;;) {
		wait_for_lock();
		usleep(1000);
	}
	return arg;
}

static void *holder(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		usleep(250000);
		pthread_mutex_unlock(&lock);
		usleep(250000);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, waiter, NULL);
	pthread_create(&threads[1], NULL, holder, NULL);
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;) {
		burn_cpu();
		usleep(300000);
	}
}
END
$CC -g -O1 -pthread -o served served.c || skip_all "the target cannot be compiled"
HOME=$tmp
export HOME

./served >served.out &
served=$!
test_pids="$test_pids $served"
wait_for 'grep -q ready served.out'

start_server first --serve=0 -p "$served"
like "$(cat first.err)" "^pmp: serving served \[$served\] at http://127\.0\.0\.1:[0-9]+/\$" \
	"pmp says where it serves, and no token to a file"
wait_for "[ \$(status ${url}healthz) = 200 ]"
is "$(cat body)" "ok" "healthz"

# ---- the processes ---------------------------------------------------------------------

keeper=$(pgrep -P "$server_pid" pmp-keeper)
server=$(pgrep -P "$keeper" pmp-server)
ok "[ -n '$server' ]" "the server is a process of its own"
is "$(grep NoNewPrivs "/proc/$server/status" | tr -d '[:space:]')" NoNewPrivs:1 \
	"it gets no rights"
if ! grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null; then
	is "$(grep ^Seccomp: "/proc/$server/status" | tr -d '[:space:]')" Seccomp:2 \
		"and may ask the kernel for little"
fi
if [ "$(id -u)" = 0 ]; then
	is "$(awk '/^Uid|^Gid/ { print $2, $3, $4, $5 }' "/proc/$server/status" | sort -u)" \
		"65531 65531 65531 65531" "it is nobody"
	is "$(awk '/^CapEff/ { print $2 + 0 }' "/proc/$server/status")" 0 "it has no capabilities"
	open=$(for fd in "/proc/$server/fd"/*; do readlink "$fd"; done)
	is "$(echo "$open" | grep -c ^socket)" 3 \
		"it has three sockets: it listens, asks pmp, and asks the kernel"
	is "$(echo "$open" | wc -l)" 4 "and standard error"
else
	skip "not root: rights of the server"
fi

# ---- curl ---------------------------------------------------------------------------------

is "$(status "${url}debug/pprof/cmdline")" 200 "the command line"
is "$(tr '\0' ' ' <body)" "./served " "its words end in NUL"
is "$(status "${url}pprof/cmdline")" 200 "for google-pprof"
is "$(cat body)" "./served" "they are lines"
is "$(status "${url}folded?seconds=2")" 200 "a window, folded"
like "$(cat body)" 'burn_cpu' "it has what computes"
like "$(cat body)" 'wait_for_lock;.*mutex_lock' "and what waits"
is "$(status "${url}pid/$served/svg?seconds=0.5")" 200 "a picture of the process"
like "$(cat body)" '<svg' "it is one"
is "$(status "${url}pid/1/folded")" 404 "a process that is not sampled"
is "$(status "${url}name/served/healthz")" 200 "the same page by name"
is "$(status "${url}nothing")" 404 "no such page"
is "$(status "${url}folded?seconds=601")" 400 "more seconds than may be"
like "$(cat body)" '^seconds is ' "and says so"
is "$(status -X DELETE "$url")" 405 "another method"
is "$(status -I "${url}folded")" 200 "HEAD records nothing"
is "$(status "${url}pprof/heap")" 501 "no recorder"
like "$(cat body)" '^%warn ' "which google-pprof shows as a warning"
like "$(curl -s "$url")" '<script src="page.js">' "the page"
curl -s "${url}page.js" >page.js
for _ in 1 2; do
	curl -s --compressed -D heads -o packed.js "${url}page.js"
	like "$(cat heads)" 'Content-Encoding: gzip' "the page is compressed on its way"
	ok "cmp -s page.js packed.js" "and arrives as it is"
done
like "$(curl -s "${url}debug/pprof/")" 'href="../../folded' "the list of pages"
is "$(status "${url}debug/pprof")" 404 "a page that there is not"
like "$(cat body)" ': /debug/pprof/ lists all pages$' "where the list is, is said"
like "$(curl -si "${url}folded?seconds=1")" 'X-Pmp-Window: seconds=[01]\.[0-9]+ snapshots=' \
	"what a window covers"

# ---- the past, and feeds -----------------------------------------------------------------

# snapshots PATH: how many the answer covers
snapshots() {
	curl -si "$url$1" | tr -d '\r' | sed -n 's/^X-Pmp-Window:.*snapshots=//p'
}

ok "[ '$(snapshots 'past/folded?seconds=2')' -ge 5 ]" "the past is answered at once"
ok "[ '$(snapshots 'past/folded?seconds=0.001')' -le 1 ]" "as much of it as was asked for"
first=$(snapshots 'feed/a/folded?seconds=1')
ok "[ '$first' -ge 2 ]" "a feed begins with the last seconds"
sleep 1
second=$(snapshots 'feed/a/folded?seconds=60')
ok "[ '$second' -ge 2 ] && [ '$second' -lt '$(snapshots 'past/folded?seconds=60')' ]" \
	"and goes on where it was"
ok "[ '$(snapshots 'feed/a/folded?seconds=60')' -lt '$second' ]" "again"
ok "[ '$(snapshots 'feed/b/folded?seconds=60')' -gt '$second' ]" "another one begins by itself"
ok "[ '$(snapshots "feed/a/pid/$served/folded?seconds=60")' -gt '$second' ]" \
	"and so does another page of it"
curl -s -o all.folded "${url}feed/c/folded?seconds=0.001"
sleep 1
curl -s "${url}feed/c/folded" >fed.folded
sleep 1
curl -s "${url}feed/c/folded" >>fed.folded
for thread in main waiter holder; do
	like "$(cat fed.folded)" "[;]$thread" "two answers of a feed have $thread()"
done
is "$(status "${url}past/feed/a/folded")" 400 "the past of a feed"
# What is compressed on its way has been sent as well.
covered() {
	curl -s --compressed -D heads -o body "$1"
	sed -n 's/.*[Ww]indow: .*snapshots=\([0-9]*\).*/\1/p' heads
}
wait_for "[ '$(snapshots 'past/folded?seconds=60')' -gt 0 ]"
first=$(covered "${url}feed/packed/svg?seconds=600")
like "$(cat heads)" 'Content-Encoding: gzip' "a compressed part of a feed"
second=$(covered "${url}feed/packed/svg?seconds=600")
ok "[ '$second' -lt '$first' ]" "the next one begins after it ($first snapshots, then $second)"

# Names at addresses, sent in a body that waits for "100 Continue".
curl -s -o mapped.prof "${url}pprof/profile?seconds=2"
(
	printf '0x1+0x'
	head -c 1200000 /dev/zero | tr '\0' 0
) >asked
is "$(status --data-binary @asked "${url}pprof/symbol")" 200 "a body above a MiB"
like "$(cat body)" '^num_symbols: [1-9]' "is answered"
head -c 9000000 /dev/zero >asked
is "$(status --data-binary @asked "${url}pprof/symbol")" 413 "one above 8 MiB is not"

# ---- who may ask ---------------------------------------------------------------------------

is "$(status -H 'Host: evil.example' "${url}healthz")" 421 "another name"
is "$(status -H 'Origin: http://evil.example' "${url}healthz")" 403 "another page"
is "$(status -H 'Sec-Fetch-Site: cross-site' "${url}healthz")" 403 "another site"
is "$(status -u pmp:wrong "${url}healthz")" 401 "a wrong token"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1; then
	is "$(setpriv --reuid 4711 --clear-groups curl -s -o /dev/null -w '%{http_code}' \
		"${url}healthz")" 401 "another user of the machine"
	like "$(setpriv --reuid 4711 --clear-groups curl -si "${url}healthz")" \
		'^WWW-Authenticate: Basic' "he is asked who he is"
	# A program of root's: who could look at the process before may not any more.
	mkfifo fifo
	cp "$(command -v sleep)" rootsleep
	chmod 4755 rootsleep
	chmod 711 .
	setpriv --reuid 4711 --clear-groups sh -c 'read line; exec ./rootsleep 600' <fifo &
	changes=$!
	test_pids="$test_pids $changes"
	exec 9>fifo
	wait_for "[ \$(stat -c %u /proc/$changes) = 4711 ]"
	first_url=$url first_pid=$server_pid
	start_server changes --serve=0 -p "$changes"
	as_user() {
		setpriv --reuid 4711 --clear-groups curl -s -o /dev/null -w '%{http_code}' \
			"${url}healthz"
	}
	wait_for '[ "$(as_user)" = 200 ]'
	is "$(as_user)" 200 "the user whose process it is"
	echo go >&9
	exec 9>&-
	wait_for '[ "$(as_user)" = 401 ]'
	is "$(as_user)" 401 "not once it runs a program of another user"
	end_server
	kill -KILL "$changes"
	# Who may ask is looked at again once a second, which has 10 snapshots.
	await_rights() {
		before=$(metric pmp_snapshots_total)
		wait_for "[ \$(metric pmp_snapshots_total) -ge $((before + 15)) ]"
	}
	# What was seen of a program that has ended is still there.
	setpriv --reuid 4711 --clear-groups sh -c \
		'read line; ./rootsleep 1; echo done >done; read line' <fifo &
	changes=$!
	test_pids="$test_pids $changes"
	exec 9>fifo
	chmod 777 .
	wait_for "[ \$(stat -c %u /proc/$changes) = 4711 ]"
	start_server children --serve=0 --children -p "$changes"
	wait_for '[ "$(as_user)" = 200 ]'
	is "$(as_user)" 200 "the user whose process it is, with its children"
	setpriv --reuid 4711 --clear-groups curl -s -o /dev/null -w '%{http_code}' \
		"${url}folded?seconds=3" >window &
	window=$!
	wait_for "[ \"\$(metric pmp_windows)\" = 1 ]" 2
	echo go >&9
	wait_for '[ -s done ]'
	await_rights
	is "$(as_user)" 401 "not after a child has run a program of another user"
	wait "$window"
	is "$(cat window)" 401 "nor what was asked for before"
	exec 9>&-
	end_server
	chmod 711 .
	setpriv --reuid 4711 --clear-groups sleep 600 &
	his=$!
	sleep 600 &
	roots=$!
	test_pids="$test_pids $his $roots"
	wait_for "[ \$(stat -c %u /proc/$his) = 4711 ]"
	start_server two --serve=0 -p "$his" -p "$roots"
	wait_for '[ "$(curl -s "${url}folded" | grep -c sleep)" -ge 2 ]'
	is "$(as_user)" 401 "one of two processes is root's"
	kill "$roots"
	wait_for "curl -s ${url}metrics | grep -q '^pmp_target_up{pid=\"$roots\".* 0'"
	await_rights
	is "$(as_user)" 401 "nor is the other one's user answered once it has ended"
	kill "$his"
	# A program that he may run but not read: its process is his, but he may not look at it.
	cp rootsleep hidden
	chmod 711 hidden
	setpriv --reuid 4711 --regid 4711 --clear-groups sh -c 'exec ./hidden 600' &
	hidden=$!
	test_pids="$test_pids $hidden"
	wait_for "[ \"\$(readlink /proc/$hidden/exe)\" = '$tmp/hidden' ]"
	is "$(stat -c %u /proc/$hidden)" 4711 "a process of the user's"
	start_server hidden --serve=0 -p "$hidden"
	await_rights
	is "$(as_user)" 401 "that he may not look at"
	end_server
	kill "$hidden"
	url=$first_url server_pid=$first_pid
else
	skip "not root: other users"
fi

# ---- what the server's process does -----------------------------------------------------------

if command -v strace >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
	strace -f -qq -o calls -p "$server" 2>strace.err &
	strace_pid=$!
	test_pids="$test_pids $strace_pid"
	wait_for "grep -q '^TracerPid:[[:space:]]*[1-9]' /proc/$server/status"
	status "${url}folded?seconds=0.5" >/dev/null
	status --data-binary 0x1 "${url}pprof/symbol" >/dev/null
	status -u pmp:wrong "${url}healthz" >/dev/null
	kill "$strace_pid"
	wait "$strace_pid"
	like "$(cat calls)" 'sendfile' "bodies are passed on"
	unlike "$(cat calls)" '(open(at2?)?|execve|ptrace|connect|fork|clone3?)\(' \
		"the server opens no file and starts no program"
else
	skip "not root, or no strace"
fi

# ---- a server that dies, clients that go ----------------------------------------------------

curl -s -m 1 "${url}folded?seconds=60" >/dev/null
kill -KILL "$server"
wait_for "grep -q 'another one serves' first.err"
is "$(status "${url}healthz")" 200 "after a crash of the server another one serves"
isnt "$(pgrep -P "$keeper" pmp-server)" "$server" "it is another one"

# ---- go tool pprof -------------------------------------------------------------------------

if command -v go >/dev/null 2>&1; then
	for page in profile:burn_cpu wall:wait_for_lock offcpu:wait_for_lock \
		block:wait_for_lock mutex:holder threads:holder; do
		like "$(go tool pprof -top -cum "${url}debug/pprof/${page%:*}?seconds=2" 2>>go.err)" \
			" ${page#*:}\$" "go tool pprof: ${page%:*} has ${page#*:}"
	done
	# One that was woken just now waits for a processor there: it has the little that it uses.
	go tool pprof -top -cum "${url}debug/pprof/profile?seconds=2" >top.out 2>>go.err
	ok "awk '\$6 == \"wait_for_lock\" && \$5 + 0 > 20 { bad = 1 } END { exit bad }' top.out" \
		"what sleeps has hardly any CPU time"
	like "$(go tool pprof -raw "${url}debug/pprof/profile?seconds=1" 2>>go.err)" \
		'^PeriodType: cpu nanoseconds' "the type that scrapers know"
	like "$(go tool pprof -top "${url}pprof/profile?seconds=2" 2>>go.err)" ' burn_cpu$' \
		"the legacy form"
	like "$(go tool pprof -top "${url}pprof/heap" 2>&1)" 'was not started with a recorder' \
		"an error is shown"
else
	skip "no go tool pprof"
fi

# ---- google-pprof --------------------------------------------------------------------------

if command -v google-pprof >/dev/null 2>&1; then
	host=${url#http://}
	like "$(google-pprof --text --seconds=2 "${host%/}" 2>google.err)" ' burn_cpu$' \
		"google-pprof: names of functions by /pprof/symbol"
	like "$(google-pprof --text --seconds=2 "${url}pid/$served/pprof/profile" 2>>google.err)" \
		' burn_cpu$' "with a prefix"
	like "$(google-pprof --text "${url}pprof/heap" 2>&1)" \
		'WARNING: served \[[0-9]+\] was not started with a recorder' \
		"an error is a warning"
else
	skip "no google-pprof"
fi
end_server
is $? 0 "it ends in order"
ok "! kill -0 $keeper 2>/dev/null" "and so does the server"

# ---- tokens, names, several processes ----------------------------------------------------------

echo 'abcdefghijklmnop' >token
chmod 600 token
./served >served2.out &
served2=$!
test_pids="$test_pids $served2"
wait_for 'grep -q ready served2.out'
start_server second --serve=0 --serve-token token --serve-host other.example \
	--serve-no-cmdline --log log -p "$served,$served2"
wait_for "[ \$(status ${url}healthz) = 200 ]"
is "$(status -H 'Host: other.example' "${url}healthz")" 200 "another name that was given"
is "$(status -H 'Authorization: Bearer abcdefghijklmnop' -H 'Host: x' "${url}healthz")" 200 \
	"the token"
is "$(status -u any:abcdefghijklmnop "${url}healthz")" 200 "the token as a password"
is "$(status "${url}?token=abcdefghijklmnop" -H 'Host: x')" 200 "and in an address"
is "$(status "${url}pprof/profile?seconds=1")" 400 "of two processes one has to be named"
like "$(cat body)" "/pid/$served .*/pid/$served2 " "they are listed"
is "$(status "${url}pid/$served2/pprof/profile?seconds=0.5")" 200 "then it is served"
like "$(curl -s "${url}folded?seconds=0.5")" "^served-$served2;" "both in one file"
is "$(status "${url}api/state")" 200 "what a page asks"
is "$(status "${url}no%0Asuch%1b")" 404 "a path with odd bytes"
is "$(status -H 'Authorization: Bearer wrong-wrong-wrong' "${url}healthz")" 401 "a wrong token"
wait_for "grep -q 'requests refused: 1\$' log"
like "$(cat log)" " 127\.0\.0\.1:[0-9]+, uid 0: GET /folded: 200, [0-9]+ bytes\$" \
	"each request is in the log"
like "$(cat log)" 'GET /no.x0asuch.x1b: 404' "made fit for a terminal"
like "$(cat log)" 'requests refused: 1$' "and how many were refused"
unlike "$(cat log)" 'abcdefghijklmnop|wrong|/api/' "no token, and nothing that a page asks"
curl -s -o body "${url}healthz?[1-700]"
wait_for "grep -q 'more than 600 requests in a minute\$' log"
ok "[ $(grep -c 'GET /healthz.' log) -le 600 ]" "no more of them than that"
kill "$served2"
end_server
is $? 0 "it ends"

# ---- a number that is another process's by now ---------------------------------------------------

# In processes of their own, where the next number can be chosen.
cat >reuse.sh <<'END'
./served >ends & ends=$!
./served >stays & stays=$!
until grep -q ready ends && grep -q ready stays; do sleep 0.05; done
"$PMP" --serve=0 -p $ends -p $stays 2>reuse.err & pmp=$!
until grep -q 'serving .* at ' reuse.err; do sleep 0.05; done
page=$(sed -n 's/.* at \(http:[^?]*\).*/\1/p' reuse.err)pid/$ends/pprof/cmdline
curl -s -o asked.before "$page"
kill -KILL $ends
wait $ends
until grep -q "^pmp: $ends .* ended after " reuse.err; do sleep 0.05; done
echo $((ends - 1)) >/proc/sys/kernel/ns_last_pid
sleep 600 & other=$!
curl -s -o asked.after "$page"
echo $((ends - other))
kill -KILL $pmp $other $stays
END
if unshare -fp --mount-proc sh -c 'echo 100 >/proc/sys/kernel/ns_last_pid' 2>/dev/null; then
	is "$(PMP=$PMP timeout 60 unshare -fp --mount-proc --kill-child sh reuse.sh 2>/dev/null)" 0 \
		"the number of a target that has ended is given again"
	is "$(cat asked.before)" "./served" "what its command line was"
	is "$(cat asked.after)" "./served" "is what is given, not the other process's"
else
	skip "numbers of processes cannot be chosen here"
fi

# ---- a unix socket -----------------------------------------------------------------------------

start_server third --serve=unix:sock -p "$served"
wait_for "[ \$(curl -s --unix-socket sock -o body -w '%{http_code}' http://x/healthz) = 200 ]"
is "$(stat -c %a sock)" 600 "a unix socket is its owner's"
# Its file keeps other users out; where it lets them in the kernel says who asks.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1; then
	# by_socket USER OPTION...: the status that he gets
	by_socket() {
		asks=$1
		shift
		setpriv --reuid "$asks" --clear-groups curl -s --unix-socket sock -o /dev/null \
			-w '%{http_code}' "$@" http://x/healthz
	}
	chmod 711 .
	is "$(by_socket 4711)" 000 "another user cannot connect to it"
	chmod 666 sock
	is "$(by_socket 4711)" 401 "nor is he answered if he can"
	is "$(by_socket 0)" 200 "but root is"
	end_server
	setpriv --reuid 4711 --clear-groups sleep 600 &
	his=$!
	test_pids="$test_pids $his"
	wait_for "[ \$(stat -c %u /proc/$his) = 4711 ]"
	chmod 600 token
	start_server his --serve=unix:sock --serve-token token -p "$his"
	chmod 666 sock
	wait_for '[ "$(by_socket 4711)" = 200 ]'
	is "$(by_socket 4711)" 200 "the user whose process it is may ask there"
	is "$(by_socket 4712)" 401 "a third one may not"
	is "$(by_socket 4712 -u any:abcdefghijklmnop)" 200 "unless he has the token"
	end_server
	# What he asks for takes nothing away from others.
	start_server shared --serve=0 -p "$his"
	wait_for '[ "$(as_user)" = 200 ]'
	curl -s -o body "${url}feed/parca/folded"
	await_rights
	setpriv --reuid 4711 --clear-groups curl -s "${url}feed/parca/folded" >theirs
	curl -s -o body "${url}feed/parca/folded"
	ok "[ $(awk '{ sum += $NF } END { print sum + 0 }' theirs) -ge 10 ]" \
		"the user of the targets has feeds"
	ok "[ $(awk '{ sum += $NF } END { print sum + 0 }' body) -ge 10 ]" \
		"those of others are not the same: nothing is missing there"
	setpriv --reuid 4711 --clear-groups sh -c '
		for _ in $(seq 40); do curl -s -o /dev/null "$1?seconds=60" & done
		wait' - "${url}folded" &
	clients=$!
	test_pids="$test_pids $clients"
	wait_for '[ "$(metric pmp_windows)" = 28 ]'
	sleep 0.3
	is "$(metric pmp_windows)" 28 "he has no more than half of all windows"
	is "$(status "${url}folded?seconds=0.1")" 200 "others have one, too"
	end_server
	for option in --peers --kernel; do
		start_server more --serve=0 $option -p "$his"
		await_rights
		is "$(as_user)" 401 "$option shows what he may not see"
		end_server
	done
	kill "$his"
	# A directory above it is another user's, who has it lead to one of root's later.
	mkdir his his/run roots
	chown 4711 his his/run
	echo precious >roots/sock
	start_server moved --serve=unix:his/run/sock -p "$served"
	wait_for "[ -S his/run/sock ]"
	setpriv --reuid 4711 --clear-groups sh -c "mv his/run his/was && ln -s '$tmp/roots' his/run"
	end_server
	is "$(cat roots/sock)" precious "a file at the same path in another directory stays"
	ok "[ -L his/run ] && [ ! -e his/was/sock ]" "the socket is removed where it is now"
	start_server third --serve=unix:sock -p "$served"
	wait_for "[ \$(curl -s --unix-socket sock -o body -w '%{http_code}' http://x/healthz) = 200 ]"
else
	skip "not root: another user at a unix socket"
fi
like "$("$PMP" --serve=unix:sock -p "$served" 2>&1)" 'cannot serve at unix:sock: Address already' \
	"a unix socket that is in use stays"
end_server
ok "[ ! -e sock ]" "it is removed at the end"
echo text >sock
like "$("$PMP" --serve=unix:sock -p "$served" 2>&1)" 'cannot serve at unix:sock: File exists' \
	"a file of this name stays"

# ---- options ---------------------------------------------------------------------------------------

chmod 644 token
"$PMP" --serve=0 --serve-token token -p "$served" 2>err
is $? 2 "a token that others can read"
like "$(cat err)" 'cannot use the token in token: others can read it' "message"
"$PMP" --serve=0.0.0.0:0 -p "$served" 2>err
is $? 2 "an address for other machines without a token"
like "$(cat err)" 'is for other machines: say who may ask' "message"
"$PMP" --serve=db1:80 -p "$served" 2>err
is $? 2 "a name in place of an address"
"$PMP" --serve-no-cmdline -p "$served" 2>err
is $? 2 "an option of --serve without it"
# Of two processes one ends: the last snapshot is that of the other.
sleep 600 &
brief=$!
test_pids="$test_pids $brief"
start_server third --serve=0 --log third.log -p "$served,$brief"
wait_for "[ \$(status ${url}healthz) = 200 ]"
kill "$brief"
wait "$brief" 2>/dev/null
wait_for "curl -s ${url}metrics | grep -q '^pmp_target_up.*pid=.$brief.*} 0'"
wait_for "[ \$(snapshots 'past/folded?seconds=60') -gt 10 ]"
wait_for "curl -s '${url}debug/pprof/threads?debug=1' | grep -q '^threads.* total 3$'"
is "$(for _ in 1 2 3 4 5 6 7 8; do
	curl -s "${url}debug/pprof/threads?debug=1" | sed -n 's/^threads.* total //p'
done | sort -u)" 3 "threads: those of the process that goes on, once"
unlike "$(curl -s "${url}sd")" "$brief" "the other one is not to be fetched"
status "${url}feed/api/folded" >/dev/null
status "${url}api/state" >/dev/null
wait_for "grep -q feed/api/folded third.log"
ok "grep -q feed/api/folded third.log" "a feed of that name is in the log"
is "$(grep -c 'api/state' third.log)" 0 "what the page asks for is not"
end_server
# A command with children: the server's own processes are none of them.
ok "timeout 20 '$PMP' --serve=0 --children -q -- sh -c 'sleep 1; sleep 0.5'" \
	"with --children it ends when the command has ended"
start_server fourth --serve=0 -p "$served"
port=${url##*127.0.0.1:}
"$PMP" "--serve=${port%/}" -p "$served" 2>err
is $? 5 "a port that is taken"
like "$(cat err)" 'cannot serve at 127.0.0.1:[0-9]+: Address already in use' "message"
kill "$served"
wait "$server_pid"
is $? 0 "it ends when its target does"

done_testing
