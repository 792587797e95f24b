#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pmp --serve and its clients, what 0947 has not: locks and all time for google-pprof, windows
# compared by go tool pprof, tokens in addresses; and answers of a feed add up.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"
HOME=$tmp
export HOME

# One holds a lock half of the time in hold_lock(), another one waits for it in wait_for_lock().
cat >pair.c <<'END_C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void hold_lock(void)
{
	pthread_mutex_lock(&lock);
	usleep(250000);
	pthread_mutex_unlock(&lock);
	usleep(250000);
}

__attribute__((noinline)) static void wait_for_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	usleep(1000);
}

static void *waiter(void *arg)
{
	for (;;)
		wait_for_lock();
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, waiter, NULL);
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;)
		hold_lock();
}
END_C
${CC:-cc} -g -O1 -pthread -o pair pair.c || skip_all "the target cannot be compiled"
./pair >pair.out &
pair=$!
test_pids="$test_pids $pair"
wait_for 'grep -q ready pair.out'

# ---- feeds ------------------------------------------------------------------------------

start_server slow --serve=0 -F 1 -p "$pair"

# ---- a connection that is kept --------------------------------------------------------------

# What is sent in two pieces waits, before the second one, until the client has confirmed the
# first: for 40 ms, from the second request on.
cat >kept.py <<'END'
import socket
import sys

host, port = sys.argv[1].split(":")
with socket.create_connection((host, int(port)), 30) as server:
    for _ in range(5):
        server.sendall(b"GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n" % sys.argv[1].encode())
        answer = server.recv(65536)
        print("whole" if answer.endswith(b"\r\n\r\nok\n") else answer)
        while not answer.endswith(b"ok\n"):
            answer += server.recv(65536)
END
cat >mapped.py <<'END'
import socket
import sys

host, port = sys.argv[1].split(":")
with socket.socket(socket.AF_INET6) as server:
    server.connect(("::ffff:" + host, int(port)))
    server.sendall(b"GET /past/folded HTTP/1.0\r\nHost: %s\r\n\r\n" % sys.argv[1].encode())
    print(server.makefile().readline().strip())
END
if command -v python3 >/dev/null; then
	wait_for '[ "$(status "${url}healthz")" = 200 ]'
	host=${url#http://}
	is "$(python3 kept.py "${host%/}" | sort -u)" whole "head and body come together"
	if [ -e /proc/net/if_inet6 ]; then
		is "$(python3 mapped.py "${host%/}")" "HTTP/1.1 200 OK" \
			"a client whose socket of IPv6 speaks IPv4 is known by its user"
	else
		skip "no IPv6"
	fi
else
	skip "no python3"
fi

# next: a snapshot has just been taken
next() {
	# shellcheck disable=SC2034 # what is waited for has it
	taken=$(curl -s "${url}metrics" | sed -n 's/^pmp_snapshots_total //p')
	wait_for '[ "$(curl -s "${url}metrics" | sed -n "s/^pmp_snapshots_total //p")" != "$taken" ]'
}

# sum FILE...: the counts of each stack
sum() {
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); all[$0] += n }
		END { for (stack in all) print stack, all[stack] }' "$@" | sort
}

# In between a snapshot may come: then it is tried again, with feeds that are new.
feed() {
	tried=$((${tried:-0} + 1))
	next
	status "${url}feed/parts$tried/folded?seconds=1.5" >/dev/null
	status "${url}feed/whole$tried/folded?seconds=1.5" >/dev/null
	for part in 1 2 3; do
		next
		next
		curl -s -D "head$part" -o "part$part" "${url}feed/parts$tried/folded"
	done
	curl -s -o whole "${url}feed/whole$tried/folded"
	# From between the last snapshot before the first part and the first in it.
	seconds=$(cat head1 head2 head3 | tr -d '\r' |
		sed -n 's/^X-Pmp-Window: seconds=\([0-9.]*\) .*/\1/p' |
		awk '{ sum += $1 } END { print sum - 0.5 }')
	curl -s -o all "${url}past/folded?seconds=$seconds"
	[ "$(sum part1 part2 part3)" = "$(sum whole)" ] && [ "$(sum whole)" = "$(sum all)" ]
}
record() {
	next
	curl -s -o to_come "${url}folded?seconds=2"
	curl -s -o past "${url}past/folded?seconds=2"
	[ -s past ] && [ "$(sum past)" = "$(sum to_come)" ]
}
for _ in 1 2 3 4 5 6 7 8; do
	! feed || break
done
ok "[ -s part1 ] && [ -s part2 ] && [ -s part3 ]" "a feed has something new each time"
is "$(sum part1 part2 part3)" "$(sum whole)" \
	"three answers of a feed add up to one of the same time"
is "$(sum part1 part2 part3)" "$(sum all)" "and to the past of that time, stack by stack"
ok "record || record || record || record || record" "what was recorded is what the past has of that time"
end_server

# ---- a part of a feed that its client does not take -------------------------------------------

# Prints how many seconds are in the part that breaks off, and in the next one; in between
# something is fetched that the server has itself.
cat >broken.py <<'END'
import http.client
import re
import socket
import sys

host, port = sys.argv[1].split(":")
page = "/feed/broken/perf"


def seconds(window):
    return float(re.match("seconds=([0-9.]+)", window).group(1))


def get(path):
    server = http.client.HTTPConnection(host, int(port), timeout=60)
    server.request("GET", path)
    answer = server.getresponse()
    answer.read()
    return answer


with socket.socket() as server:
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    server.connect((host, int(port)))
    server.sendall(b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (page.encode(), sys.argv[1].encode()))
    head = server.recv(2000).decode()
print(seconds(re.search("X-Pmp-Window: (.*)\r", head).group(1)))
for _ in range(3):
    get("/page.css")
print(seconds(get(page).getheader("X-Pmp-Window")))
END
if command -v python3 >/dev/null; then
	"$top_builddir/t/target/threads" 4900 >threads.out &
	threads=$!
	test_pids="$test_pids $threads"
	wait_for 'grep -q ready threads.out'
	start_server broken --serve=0 -F 10 --max-cpu 0 -p "$threads"
	host=${url#http://}
	wait_for '[ "$(metric pmp_snapshots_total)" -ge 20 ]'
	python3 broken.py "${host%/}" >parts 2>err || diag "$(cat err)"
	ok "awk 'NR == 1 { lost = \$1 } END { exit !(lost > 1 && \$1 >= lost) }' parts" \
		"what breaks off is in the next part of a feed: $(tr '\n' ' ' <parts)"
	end_server
	kill "$threads"
else
	skip "no python3"
fi

# ---- clients ------------------------------------------------------------------------------

echo 'abcdefghijklmnop' >token
chmod 600 token
start_server clients --serve=0 -F 50 --serve-token token -p "$pair"
wait_for "[ \$(status ${url}healthz) = 200 ]"
host=${url#http://}

if command -v google-pprof >/dev/null 2>&1; then
	wait_for "google-pprof --text ${url}pprof/contention 2>google.err | grep -q wait_for_lock"
	like "$(google-pprof --text "${url}pprof/contention" 2>google.err)" ' wait_for_lock$' \
		"google-pprof: waiting for locks"
	like "$(google-pprof --text "${url}past/pprof/wall" 2>>google.err)" ' hold_lock$' \
		"google-pprof: all time"
	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1; then
		mkdir google
		chmod 711 . && chown 4711 google
		google_as_other() {
			HOME=$tmp/google setpriv --reuid 4711 --clear-groups google-pprof --text \
				"http://$1${host}past/pprof/wall" 2>&1
		}
		like "$(google_as_other pmp:abcdefghijklmnop@)" ' hold_lock$' \
			"google-pprof of another user, with the token in the address: names, too"
		like "$(google_as_other pmp:wrong-wrong-wrong@)" '^Failed to get' \
			"with a wrong one he gets nothing"
		like "$(google_as_other '')" '^Failed to get' "nor without one"
	else
		skip "not root: another user"
	fi
else
	skip "no google-pprof"
fi
if command -v go >/dev/null 2>&1; then
	page=${url}debug/pprof/wall
	go tool pprof -top -cum -seconds 1 "$page" >top 2>>go.err
	like "$(cat top)" 'Duration: (9[0-9.]+ms|1[.0-9]*s)' "go tool pprof -seconds"
	go tool pprof -raw -base "$page?seconds=1" "$page?seconds=2" >raw 2>>go.err
	like "$(cat raw)" '^samples/count wall/nanoseconds' "go tool pprof -base: two windows at the same time"
	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1; then
		go=$(command -v go)
		mkdir home
		chmod 711 . && chown 4711 home
		as_other() {
			HOME=$tmp/home setpriv --reuid 4711 --clear-groups "$go" tool pprof -top \
				"http://$1${host}debug/pprof/threads" 2>&1
		}
		like "$(as_other pmp:abcdefghijklmnop@)" ' hold_lock$|clock_nanosleep' \
			"another user, with the token in the address"
		unlike "$(as_other '')" ' hold_lock$|clock_nanosleep' "not without it"
	else
		skip "not root: another user"
	fi
else
	skip "no go tool pprof"
fi
end_server
is $? 0 "it ends in order"
kill "$pair"

done_testing
