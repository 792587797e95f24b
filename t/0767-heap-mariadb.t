#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A busy server with a recorder inside: it works as without, all stacks are whole, and what
# allocates in it is known.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/mariadb.sh
. "$top_srcdir/t/lib/mariadb.sh"

mariadb_find || skip_all "no mariadbd or sysbench"
trap 'mariadb_stop; test_cleanup' EXIT
server=$(command -v mariadbd)

# As mariadb_start() calls it, in the background.
mariadbd() {
	exec "$PMP" --heap=64K -q -o "$tmp/server.pb.gz" -- "$server" "$@" 2>"$tmp/err"
}

if ! mariadb_start "$tmp/server"; then
	mariadb_failed "a server with a recorder starts"
	done_testing
fi
pmp=$mariadb_pid
server_pid=$(pgrep -P "$pmp" -x mariadbd)
ok "grep -q pmp-heap '/proc/$server_pid/maps'" "a server with a recorder starts"
(mariadb_sysbench oltp_read_write --threads=4 --events=400 --time=0 run) >load 2>&1
is "$?" 0 "and serves its clients"
like "$(cat load)" "total number of events: +400$" "all of them"
like "$(cat load)" "ignored errors: +0 " "without an error"
kill -TERM "$server_pid"
wait "$pmp"
is "$?" 0 "it ends as it does alone: its status is pmp's"
mariadb_pid=
unlike "$(cat err)" "^pmp: " "of which pmp has nothing to say"
"$PMP" -q -f memory server.pb.gz >server.memory
plain=$(tr -d , <server.memory)
like "$plain" "^memory of mariadbd \[$server_pid\] " "its memory is known"
like "$plain" "^  allocated +[0-9]{7,} bytes +malloc [0-9]{4,} " "totals"
like "$(sed -n '/^allocated/,$p' server.memory | sed -n 2,10p)" "my_malloc|mem_heap|alloc_root|__gconv|operator new" \
	"and who allocates most"
"$PMP" -q -f json --sample-type alloc_objects server.pb.gz >server.json
python3 - server.json >ends <<'END' || skip "no python3"
import json, sys
ends = {}
for line in open(sys.argv[1]):
    for thread in json.loads(line)["threads"]:
        end = thread.get("end", "root")
        ends[end] = ends.get(end, 0) + thread["count"]
print(ends.get("root", 0) * 100 // max(1, sum(ends.values())))
END
ok "[ '$(cat ends)' -ge 99 ]" "of its stacks 99 of 100 are whole"

done_testing
