#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pmp --serve with clients that close their half of a connection, which is their right; that ask
# for much and read nothing; and with more of them than it has descriptors for. Others are
# answered, samples are taken, and nothing stays of those that have gone.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"
need python3 pgrep

cat >clients.py <<'END_PYTHON'
import os, re, selectors, socket, sys
where, what = sys.argv[1], sys.argv[2]

def connect():
    if where.startswith("unix:"):
        s = socket.socket(socket.AF_UNIX)
        s.connect(where[5:])
    else:
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(("127.0.0.1", int(where)))
    s.settimeout(20)
    return s

def request(path, fields="", method="GET"):
    return ("%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n" % (method, path, fields)).encode()

def answers(s):
    """The first lines of all that comes until the other end closes."""
    got = b""
    while True:
        more = s.recv(65536)
        if not more:
            break
        got += more
    return re.findall("HTTP/1.1 ([0-9]+ [A-Za-z ]+)\r", got.decode())

def half(*requests):
    s = connect()
    s.sendall(b"".join(requests))
    s.shutdown(socket.SHUT_WR)
    return answers(s)

def wait():
    print("there", flush=True)
    sys.stdin.read()

if what == "half":
    for path in ["/healthz", "/page.js", "/past/folded?seconds=1", "/folded?seconds=0.5", "/no"]:
        print(path, half(request(path)))
    print("two:", half(request("/healthz"), request("/folded?seconds=0.5")))
    print("wrong:", half(request("/healthz", "Authorization: Bearer wrong-wrong-wrong\r\n")))
    print("part:", half(request("/healthz"), b"GET /healthz"))
elif what == "leave":
    # It goes on waiting with half of its connection, until it is killed.
    s = connect()
    s.sendall(request("/folded?seconds=600"))
    s.shutdown(socket.SHUT_WR)
    wait()
elif what == "unread":
    # Names of one address, again and again: some MiB.
    body = b"+".join([sys.argv[4].encode()] * 150000)
    all = []
    for _ in range(int(sys.argv[3])):
        s = connect()
        s.sendall(request("/pprof/symbol", "Content-Length: %d\r\n" % len(body), "POST") + body)
        all.append(s)
    wait()
elif what == "many":
    all = []
    for i in range(int(sys.argv[3])):
        s = connect()
        s.setblocking(False)
        if i % 2:
            s.send(request("/folded?seconds=600"))
        all.append(s)
    wait()
elif what == "silent":
    os.setgroups([])
    os.setuid(int(sys.argv[4]))
    all = [connect() for _ in range(int(sys.argv[3]))]
    wait()
elif what == "flood":
    # As many connections as it is let have, all of which guess tokens, one guess after the other,
    # or say nothing; whichever is closed is opened again. It ends with its input.
    os.setgroups([])
    os.setuid(int(sys.argv[4]))
    guesses = request("/healthz", "Authorization: Bearer wrong-wrong-wrong\r\n") * 20
    selector = selectors.DefaultSelector()
    def open_one(number):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", int(where)))
        selector.register(s, selectors.EVENT_WRITE if number % 2 else selectors.EVENT_READ, number)
    for i in range(int(sys.argv[3])):
        open_one(i)
    selector.register(sys.stdin, selectors.EVENT_READ, -1)
    print("there", flush=True)
    while True:
        for key, events in selector.select():
            if key.data < 0:
                sys.exit(0)
            try:
                if events & selectors.EVENT_WRITE:
                    key.fileobj.send(guesses)
                    selector.modify(key.fileobj, selectors.EVENT_READ, key.data)
                    continue
                if key.fileobj.recv(65536):
                    continue
            except OSError:
                pass
            selector.unregister(key.fileobj)
            key.fileobj.close()
            open_one(key.data)
END_PYTHON

# start_clients ARG...: in $clients; they stay until their input ends
start_clients() {
	rm -f said input
	mkfifo input
	python3 clients.py "$@" <input >said 2>clients.err &
	clients=$!
	test_pids="$test_pids $clients"
	exec 8>input
	wait_for "grep -q there said" 20 || diag "$(cat clients.err)"
}

# metric NAME
metric() {
	curl -s -m 10 "${url}metrics" | sed -n "s/^$1 //p"
}

# samples_go_on TEXT: ten more of them
samples_go_on() {
	before=$(metric pmp_snapshots_total)
	ok "wait_for '[ \$(metric pmp_snapshots_total) -ge $((before + 10)) ]'" "$1"
}

# ticks PROCESS: of a processor that it has used
ticks() {
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}

# memory PROCESS: KiB
memory() {
	awk '/^Rss(Anon|Shmem)/ { sum += $2 } END { print sum }' "/proc/$1/status"
}

# descriptors PROCESS
descriptors() {
	find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l
}

start_target contend 600
target=$target_pid

# ---- half of a connection ----------------------------------------------------------------

cat >want <<'END'
/healthz ['200 OK']
/page.js ['200 OK']
/past/folded?seconds=1 ['200 OK']
/folded?seconds=0.5 ['200 OK']
/no ['404 Not Found']
two: ['200 OK', '200 OK']
wrong: ['401 Unauthorized']
part: ['200 OK']
END
echo 'abcdefghijklmnop' >token
chmod 600 token
start_server file --serve=unix:sock --serve-token token -F 50 -p "$target"
wait_for "[ \$(curl -s --unix-socket sock -o body -w '%{http_code}' http://x/healthz) = 200 ]"
is "$(timeout 60 python3 clients.py unix:sock half 2>&1)" "$(cat want)" \
	"clients of a unix socket that have closed their half of it are answered"
start_clients unix:sock leave
windows() {
	curl -s --unix-socket sock http://x/metrics | sed -n 's/^pmp_windows //p'
}
ok "wait_for '[ \"\$(windows)\" = 1 ]'" "one waits for a window"
kill "$clients"
ok "wait_for '[ \"\$(windows)\" = 0 ]'" "and when it is killed nothing is recorded for it"
end_server

start_server tcp --serve=0 --serve-token token -F 50 -p "$target"
wait_for "[ \$(status ${url}healthz) = 200 ]"
port=$(echo "$url" | sed 's/.*:\([0-9]*\).*/\1/')
keeper=$(pgrep -x -P "$server_pid" pmp-keeper)
server=$(pgrep -P "$keeper" pmp-server)
is "$(timeout 60 python3 clients.py "$port" half 2>&1)" "$(cat want)" \
	"clients of TCP that have closed their half of it are answered"
start_clients "$port" leave
ok "wait_for '[ \"\$(metric pmp_windows)\" = 1 ]'" "one waits for a window"
used=$(ticks "$server")
samples_go_on "while samples are taken"
sleep 1
ok "[ $(($(ticks "$server") - used)) -lt 50 ]" "and the server sleeps"
kill "$clients"
ok "wait_for '[ \"\$(metric pmp_windows)\" = 0 ]'" "and when it is killed nothing is recorded for it"

# ---- many at once, while pmp is busy -----------------------------------------------------------

# Without rights the kernel keeps fewer requests for it.
most=50
[ "$(id -u)" = 0 ] || most=10
kill -STOP "$server_pid"
start_clients "$port" many 100
sleep 0.5
kill -CONT "$server_pid"
ok "wait_for '[ \"\$(metric pmp_windows)\" -ge $most ]'" "fifty ask while pmp does not listen, and are heard"
kill -STOP "$server_pid"
kill "$clients"
ok "wait_for '[ \$(descriptors $server) -le 6 ]'" "all of them go while it does not"
kill -CONT "$server_pid"
ok "wait_for '[ \"\$(metric pmp_windows)\" = 0 ]'" "and later it hears of each"

# ---- no reader ------------------------------------------------------------------------------

address=$(sed -n 's/^\([0-9a-f]*\)-[0-9a-f]* r-xp .*/\1/p' "/proc/$target/maps" | head -n 1)
wait_for "[ '$(metric pmp_http_connections)' = 1 ]"
front_memory=$(memory "$server_pid") front_fds=$(descriptors "$server_pid")
start_clients "$port" unread 24 "0x$address"
ok "wait_for '[ \"\$(metric pmp_http_connections)\" = 25 ]'" "some that do not read what they asked for"
is "$(status -m 10 "${url}healthz")" 200 "others are answered"
samples_go_on "and samples are taken"
used=$(ticks "$server")
ok "wait_for '[ \"\$(metric pmp_http_connections)\" = 1 ]' 30" "after a while they are left alone"
ok "[ $(($(ticks "$server") - used)) -lt 300 ]" "of which the server sleeps most"
exec 8>&-
wait "$clients"
ok "wait_for '[ \$(descriptors $server_pid) -le $((front_fds + 2)) ]'" "nothing of them is kept open"
# Sanitizers keep what is freed for a while: 256 MiB of it.
more=65536
! grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null || more=307200
ok "[ $(($(memory "$server_pid") - front_memory)) -lt $more ]" \
	"nor in memory: $(($(memory "$server_pid") - front_memory)) KiB more"
end_server
is $? 0 "it ends in order"

# ---- a user who may not ask ------------------------------------------------------------------

# answered COMMAND...: how often of ten times it prints 200
answered() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$@"
		echo
	done | grep -c '^200$'
}

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	start_server flood --serve=0 --serve-token token -F 50 -p "$target"
	wait_for "[ \$(status ${url}healthz) = 200 ]"
	port=$(echo "$url" | sed 's/.*:\([0-9]*\).*/\1/')
	start_clients "$port" flood 400 65534
	like "$(cat said)" there "400 connections of a user who may not ask"
	is "$(answered status -m 5 "${url}healthz")" 10 \
		"beside them root is answered"
	is "$(answered setpriv --reuid 65533 --clear-groups curl -s -o /dev/null -w '%{http_code}' -m 5 \
		-H "Authorization: Bearer $(cat token)" "${url}healthz")" 10 "and another user who has the token"
	ok "[ $(metric pmp_http_connections) -le 72 ]" "he has a third of the server's connections"
	samples_go_on "and samples are taken"
	exec 8>&-
	wait "$clients"
	ok "wait_for '[ \"\$(metric pmp_http_connections)\" = 1 ]'" "which end with him"
	start_clients "$port" silent 64 65534
	is "$(answered setpriv --reuid 65534 --clear-groups curl -s -o /dev/null -w '%{http_code}' -m 5 \
		-H "Authorization: Bearer $(cat token)" "${url}healthz")" 10 "idle connections of a user give way to his others"
	exec 8>&-
	wait "$clients"
	two=$(printf 'GET /healthz HTTP/1.1\r\nHost: elsewhere\r\n\r\n' |
		python3 -c 'import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
s.sendall(sys.stdin.buffer.read() * 2)
got = b""
while True:
    more = s.recv(65536)
    if not more:
        break
    got += more
print(got.count(b"HTTP/1.1 421"), got.count(b"Connection: close"))' "$port")
	is "$two" "1 1" "whoever is refused has asked for the last time on that connection"
	end_server
	is $? 0 "it ends in order"
else
	for _ in 1 2 3 4 5 6 7 8 9; do skip "not root, or no setpriv"; done
fi

# ---- other machines --------------------------------------------------------------------------

# Addresses of a network of its own; then the command.
cat >network.py <<'END_PYTHON'
import fcntl, os, socket, struct, sys

def ask(request, name, rest):
    fcntl.ioctl(s, request, struct.pack("16s24s", name, rest))

s = socket.socket()
ask(0x8914, b"lo", struct.pack("h", 0x41)) # SIOCSIFFLAGS: up, running
for i, address in enumerate(("10.9.0.1", "10.9.0.2")):
    ask(0x8916, b"lo:%d" % i, struct.pack("hh4s", socket.AF_INET, 0, socket.inet_aton(address)))
os.execvp(sys.argv[1], sys.argv[1:])
END_PYTHON

# 16 connections of one machine wait for the answer to a wrong token.
cat >guesses.py <<'END_PYTHON'
import socket, sys, time
all = []
for _ in range(16):
    s = socket.create_connection((sys.argv[2], int(sys.argv[1])), 10, (sys.argv[2], 0))
    s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong-wrong-wrong\r\n\r\n")
    all.append(s)
print("there", flush=True)
for s in all:
    s.recv(1)
END_PYTHON

cat >machines.sh <<'END'
"$PMP" --serve='[::]:0' --serve-token token -p "$1" 2>machines.err &
pmp=$!
until grep -q ' at ' machines.err; do kill -0 $pmp || exit; sleep 0.1; done
port=$(sed -n 's/.* at .*:\([0-9]*\)\/*.*/\1/p' machines.err)
ask() {
	curl -s -o /dev/null -w '%{http_code} ' -m 10 "$@"
}
auth="Authorization: Bearer $(cat token)"
ask "http://127.0.0.1:$port/healthz"
ask "http://[::1]:$port/healthz"
ask "http://10.9.0.1:$port/healthz"
python3 guesses.py "$port" 10.9.0.1 >guessing &
until grep -q there guessing; do sleep 0.05; done
ask --interface 10.9.0.1 -H "$auth" "http://10.9.0.1:$port/healthz"
ask --interface 10.9.0.2 -H "$auth" "http://10.9.0.1:$port/healthz"
ask "http://127.0.0.1:$port/healthz"
wait $!
kill -INT $pmp
wait $pmp
echo $?
END
if [ "$(id -u)" = 0 ] && unshare -n true 2>/dev/null; then
	is "$(PMP=$PMP unshare -n python3 network.py sh machines.sh "$target")" \
		"200 200 401 000 200 200 0" \
		"16 connections of another machine: none more of it, but of others, also by IPv4 to a socket of IPv6"
else
	skip "no networks of their own"
fi

# ---- few descriptors ------------------------------------------------------------------------

# shellcheck disable=SC3045 # every shell that runs tests has it
(ulimit -n 128 && exec "$PMP" --serve=0 -F 50 -p "$target") 2>few.err &
server_pid=$!
test_pids="$test_pids $server_pid"
wait_for "grep -q 'serving .* at ' few.err"
url=$(sed -n 's/.* at \(http:[^?]*\).*/\1/p' few.err)
port=$(echo "$url" | sed 's/.*:\([0-9]*\).*/\1/')
wait_for "[ \$(status -m 10 ${url}healthz) = 200 ]"
is "$(status -m 10 "${url}healthz")" 200 "with 128 descriptors it serves"
keeper=$(pgrep -x -P "$server_pid" pmp-keeper)
server=$(pgrep -P "$keeper" pmp-server)
snapshots=$(metric pmp_snapshots_total)
used=$(ticks "$server")
start_clients "$port" many 300
sleep 1
ok "[ $(($(ticks "$server") - used)) -lt 100 ]" "three hundred connections do not keep it busy"
exec 8>&-
wait "$clients"
ok "wait_for '[ \$(status -m 10 ${url}healthz) = 200 ]' 20" "when they have gone others are answered"
ok "wait_for '[ \"\$(metric pmp_windows)\" = 0 ]'" "and nothing is recorded for them"
ok "[ $(metric pmp_snapshots_total) -gt $((snapshots + 10)) ]" "samples were taken meanwhile"
is "$(pgrep -P "$keeper" pmp-server)" "$server" "by the same server"
end_server
is $? 0 "it ends in order"
is "$(sed 1d few.err | grep -v 'sampling falls behind')" "" "and has not complained"
ok "untouched $target" "the target is left alone"

done_testing
