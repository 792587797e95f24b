# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154
#
# A real PostgreSQL to profile: in a directory of its own, on a socket there, without a
# network. Sourced after test.sh.
#
#   postgres_start DIR            sets $postgres_pid
#   postgres_ask SQL              one answer
#   postgres_session SQL          a client in the background
#   postgres_stop                 ends all of it, by ids; keeps $?, for traps

postgres_pid='' postgres_dir='' postgres_clients=''

postgres_find() { # distributions have the server's programs outside of the PATH
	for postgres_bin in /usr/lib/postgresql/*/bin /usr/lib/postgresql*/bin \
		/usr/pgsql-*/bin /usr/libexec/postgresql*; do
		[ ! -x "$postgres_bin/initdb" ] || PATH=$PATH:$postgres_bin
	done
	command -v initdb >/dev/null && command -v postgres >/dev/null &&
		command -v psql >/dev/null
}

# It does not run as root.
postgres_as() {
	if [ "$(id -u)" = 0 ]; then
		exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$postgres_dir" "$@"
	fi
	exec env HOME="$postgres_dir" "$@"
}

postgres_start() {
	postgres_dir=$1
	mkdir -p "$postgres_dir"
	[ "$(id -u)" != 0 ] || {
		chown 65534:65534 "$postgres_dir"
		chmod a+x "$(dirname "$postgres_dir")"
	}
	(cd "$postgres_dir" && postgres_as initdb -D "$postgres_dir/data" -U postgres -A trust \
		--no-sync --no-locale -E UTF8) >"$postgres_dir/initdb.log" 2>&1 || return
	(cd "$postgres_dir" && postgres_as postgres -D "$postgres_dir/data" -k "$postgres_dir" \
		-c listen_addresses= -c fsync=off -c shared_buffers=1MB -c max_connections=10 \
		-c autovacuum=off -c shared_memory_type=mmap -c dynamic_shared_memory_type=mmap) \
		>"$postgres_dir/server.log" 2>&1 </dev/null &
	postgres_pid=$!
	wait_for '[ "$(postgres_ask "select 1")" = 1 ]' 60
}

postgres_ask() {
	psql -X -w -q -t -A -h "$postgres_dir" -U postgres -d postgres -c "$1" \
		2>>"$postgres_dir/psql.log"
}

postgres_session() {
	psql -X -w -q -h "$postgres_dir" -U postgres -d postgres -c "$1" \
		>>"$postgres_dir/psql.log" 2>&1 &
	postgres_clients="$postgres_clients $!"
}

postgres_stop() {
	postgres_status=$?
	for postgres_client in $postgres_clients; do
		kill "$postgres_client" 2>/dev/null
		wait "$postgres_client" 2>/dev/null
	done
	postgres_clients=''
	[ -n "$postgres_pid" ] || return "$postgres_status"
	# Its clients are disconnected, and what it has allocated is freed.
	kill -INT "$postgres_pid" 2>/dev/null
	wait_for '! test_is_child "$postgres_pid" || ! alive "$postgres_pid"' 30 ||
		kill -QUIT "$postgres_pid" 2>/dev/null
	wait "$postgres_pid" 2>/dev/null
	postgres_pid=''
	return "$postgres_status"
}
