#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What pmp-examples(7) says of services and collectors of profiles: the files are those of
# man/examples, what the configurations ask for is fetched as Parca and Alloy fetch it, and
# holds against what they check; a socket that a service manager has passed is served.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"
need python3
examples=$top_srcdir/man/examples

# ---- the manual --------------------------------------------------------------------------

# literal FIRST LAST: the text of the manual from one line to another
literal() {
	sed -n "/^\.Sh RUNNING AS A SERVICE/,/^\.Sh COMPARING/p" "$top_srcdir/man/pmp-examples.7" |
		awk -v first="$1" '/^\.Bd/ { text = ""; on = 1; next }
			/^\.Ed/ { if (index(text, first) == 1) { printf "%s", text; exit }; on = 0 }
			on { text = text $0 "\n" }'
}

# same FILE FIRST-LINES: the file is in the manual, literally.
same() {
	literal "$2" | cmp -s - "$examples/$1"
	ok "[ $? -eq 0 ]" "$1 is what the manual shows"
}
for unit in pmp-serve@.service pmp-serve@.socket pmp-sample@.service pmp-sample@.timer; do
	same "$unit" "$(head -n 5 "$examples/$unit")"
done
same prometheus.yaml "scrape_configs:
  - job_name: pmp
    authorization"
same parca.yaml "scrape_configs:
  - job_name: pmp
    scrape_interval"
same alloy.conf 'pyroscope.scrape'
if command -v systemd-analyze >/dev/null; then
	mkdir units
	for unit in "$examples"/pmp-*@.*; do
		sed "s|/usr/local/bin/pmp|$PMP|" "$unit" >"units/${unit##*/}"
	done
	is "$(systemd-analyze verify --man=no units/pmp-*@.* 2>&1 | grep pmp-)" "" \
		"systemd accepts the units"
fi

# ---- collectors ----------------------------------------------------------------------------

start_target contend 600
start_target demo
printf 'abcdefghijklmnopqrstuvwx\n' >token
chmod 600 token
start_server first --serve=0 --serve-token token -F 20 -p "$target_pid"
wait_for "curl -s '${url}api/timeline?from=0' | grep -q '\[[0-9]'"

cat >fetch.py <<'END'
import gzip, http.client, re, sys
port, examples = int(sys.argv[1]), sys.argv[2]

def get(path, **headers):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=25)
    c.request("GET", path, headers=dict(headers, **{
        "Authorization": "Bearer abcdefghijklmnopqrstuvwx", "Accept-Encoding": "gzip"}))
    r = c.getresponse()
    return r, r.read()

# profile.proto: fields of a message, as (number, value).
def fields(data):
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            length = varint()
            yield key >> 3, data[at:at + length]
            at += length
        else:
            raise ValueError("wire type %d" % (key & 7))

def packed(values):
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(value)
            continue
        number = shift = 0
        for byte in value:
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                out.append(number)
                number = shift = 0
    return out

class Profile:
    def __init__(self, body):
        self.all = list(fields(gzip.decompress(body)))
        self.strings = [v for k, v in self.all if k == 6]
        self.types = [tuple(self.strings[dict(fields(v)).get(i, 0)].decode() for i in (1, 2))
                      for k, v in self.all if k == 1]
        self.samples = []
        self.labels = set()
        for k, v in self.all:
            if k == 2:
                parts = list(fields(v))
                self.samples.append((packed(x for n, x in parts if n == 1),
                                     packed(x for n, x in parts if n == 2)))
                self.labels |= {tuple(sorted((self.strings[dict(fields(x)).get(1, 0)],
                    self.strings[dict(fields(x)).get(2, 0)]) for n, x in parts if n == 3))}
        one = dict(self.all)
        self.time, self.duration = one.get(9, 0), one.get(10, 0)

    # What the collectors check before they store one.
    def wrong(self):
        if self.strings[0] != b"":
            return "string 0"
        for kind, name in ((4, "locations"), (5, "functions"), (3, "mappings")):
            ids = [dict(fields(v))[1] for k, v in self.all if k == kind]
            if ids != list(range(1, len(ids) + 1)):
                return name
        if any(len(values) != len(self.types) for _, values in self.samples):
            return "values"
        if any(value >= 1 << 63 for _, values in self.samples for value in values):
            return "negative"
        if len(self.samples) > 16000:
            return "too many"
        if len(self.labels) > 100:
            return "series"
        return ""

def check(who, path):
    before = None
    for _ in range(2):
        r, body = get(path)
        if r.status != 200:
            print(who, path, r.status, body[:100])
            return
        profile = Profile(body)
        if r.getheader("Content-Type") != "application/octet-stream":
            print(who, path, r.getheader("Content-Type"))
        if r.getheader("Content-Encoding"):
            print(who, path, "is compressed twice")
        if profile.wrong():
            print(who, path, profile.wrong())
        if before and "seconds" in path:
            gap = profile.time - before.time - before.duration
            # Nothing new may have come.
            if profile.samples and not -60e6 < gap < 60e6:
                print(who, path, "gap of", gap)
        before = profile
    print(who, path.split("?")[0], *(":".join(t) for t in profile.types))

# Parca: what is enabled, with its seconds.
text = open(examples + "/parca.yaml").read()
prefix = re.search(r"path_prefix: (\S+)", text).group(1)
for name, path, rest in re.findall(r"(\w+): \{ enabled: true, path: ([^ ,]+)(.*) \}", text):
    seconds = re.search(r"seconds: (\d+)", rest)
    check("parca", prefix + path + ("?seconds=" + seconds.group(1) if seconds else ""))

# Alloy adds a second less than its interval, again each time.
text = open(examples + "/alloy.conf").read()
prefix = re.search(r'path_prefix = "(\S+)"', text).group(1)
seconds = int(re.search(r'scrape_interval = "(\d+)s"', text).group(1)) - 1
paths = {"process_cpu": "/debug/pprof/profile", "goroutine": "/debug/pprof/goroutine"}
for name, block in re.findall(r"profile\.(?:custom )?\"?(\w+)\"? \{\n(.*?)\n    \}", text, re.S):
    if "enabled = true" not in block:
        continue
    own = re.search(r'path = "(\S+)"', block)
    path = prefix + (own.group(1) if own else paths[name])
    if name != "goroutine":
        path += "?seconds=%d&seconds=%d" % (seconds, seconds)
    check("alloy", path)
END
port=$(echo "$url" | sed 's/.*:\([0-9]*\).*/\1/')
python3 fetch.py "$port" "$examples" >seen 2>&1
cat >want <<'END'
parca /feed/parca/debug/pprof/profile samples:count cpu:nanoseconds
parca /feed/parca/debug/pprof/wall samples:count wall:nanoseconds
parca /feed/parca/debug/pprof/block contentions:count delay:nanoseconds
parca /feed/parca/debug/pprof/mutex contentions:count delay:nanoseconds
parca /feed/parca/debug/pprof/threads threads:count
alloy /feed/alloy/debug/pprof/profile samples:count cpu:nanoseconds
alloy /feed/alloy/debug/pprof/wall samples:count wall:nanoseconds
alloy /feed/alloy/debug/pprof/threads threads:count
END
while read -r line; do
	like "$(cat seen)" "^$line\$" "fetched and checked: ${line%% [a-z]*:*}"
done <want
is "$(grep -c . seen)" 8 "nothing else was said" || diag "$(cat seen)"
is "$(curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer wrong-wrong-wrong' \
	"${url}metrics")" 401 "a wrong token"
end_server

# ---- a socket that was passed -----------------------------------------------------------------

cat >pass.py <<'END'
import os, socket, sys
kind, count, program = sys.argv[1:4]
if kind == "unix":
    s = socket.socket(socket.AF_UNIX)
    s.bind("passed.sock")
else:
    s = socket.socket()
    s.bind(("0.0.0.0" if kind == "any" else "127.0.0.1", 0))
if kind != "deaf":
    s.listen(5)
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ["LISTEN_PID"], os.environ["LISTEN_FDS"] = str(os.getpid()), count
os.execv(program, [program] + sys.argv[4:])
END

# passed KIND COUNT OPTION...: pmp with such a socket, in the background
passed() {
	kind=$1 count=$2
	shift 2
	python3 pass.py "$kind" "$count" "$PMP" --serve -p "$target_pid" "$@" 2>err &
	server_pid=$!
	test_pids="$test_pids $server_pid"
}
passed tcp 1
wait_for "grep -q 'serving .* at http' err"
url=$(sed -n 's/.* at \(http:[^?]*\).*/\1/p' err)
unlike "$url" ':7670' "its port is that of the socket"
wait_for "[ \$(status ${url}healthz) = 200 ]"
is "$(status "${url}healthz")" 200 "a socket of TCP is served"
end_server
passed unix 1
wait_for "grep -q 'serving .* at unix:' err"
wait_for "[ \$(status --unix-socket passed.sock http://localhost/healthz) = 200 ]"
is "$(status --unix-socket passed.sock http://localhost/healthz)" 200 "one of unix as well"
end_server
ok "[ -S passed.sock ]" "it is left where it is"
for case in "deaf 1 it is none that listens for connections" "tcp 2 one is wanted, not several"; do
	# shellcheck disable=SC2086 # words
	set -- $case
	passed "$1" "$2"
	wait "$server_pid"
	is "$?" 2 "refused: $1 $2"
	is "$(cat err)" "pmp: cannot serve at the socket that was passed: ${case#* [0-9] }" "its message"
done
passed any 1
wait "$server_pid"
is "$?" 2 "refused: for other machines without a token"
like "$(cat err)" '^pmp: the socket that was passed is for other machines: say who may ask with --serve-token FILE$' \
	"its message"
LISTEN_PID=1 LISTEN_FDS=1 "$PMP" --serve=0 -- sh -c 'env >env.txt' 2>err 3<&-
is "$(grep '^LISTEN_' env.txt)" "" "a command does not take it for its own"
done_testing
