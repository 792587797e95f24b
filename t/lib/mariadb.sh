# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A real server to profile: an isolated mariadbd in a directory of its own, no
# network, nothing read from /etc, and sysbench to keep it busy. Sourced.
#
#   mariadb_start DIR             sets $mariadb_pid
#   mariadb_load ACTIVE IDLE SECONDS   ACTIVE busy connections, IDLE ones that only exist
#   mariadb_failed TEXT           one of these was in vain
#   mariadb_stop                  ends all of it by the pids noted; keeps $?, for traps
#
# Durability is off, so that the load is bound by CPU and locks, not by the disk.

mariadb_pid='' mariadb_dir='' mariadb_load_pids=''

mariadb_find() { # mysql tools may lie in sbin
	PATH=$PATH:/usr/sbin:/sbin
	command -v mariadbd >/dev/null && command -v sysbench >/dev/null &&
		command -v mariadb-install-db >/dev/null
}

mariadb_sysbench() {
	exec sysbench "$1" --db-driver=mysql --mysql-socket="$mariadb_dir/sock" \
		--mysql-user=root --mysql-db=sbtest --tables=2 --table-size=10000 "${@:2}"
}

mariadb_start() {
	local as opts i
	mariadb_dir=$1
	as=$(id -un)
	mkdir -p "$mariadb_dir"
	if [ "$(id -u)" = 0 ]; then
		as=mysql
		chown mysql "$mariadb_dir"
		chmod a+x "$mariadb_dir" "$(dirname "$mariadb_dir")"
	fi
	opts=(--no-defaults --user="$as" --datadir="$mariadb_dir/data")
	mariadb-install-db "${opts[@]}" --auth-root-authentication-method=normal \
		--skip-test-db >"$mariadb_dir/install.log" 2>&1 || return 1
	# Newer ones reserve 8 TiB for a larger buffer pool, all of which gcore would write.
	mariadbd "${opts[@]}" --socket="$mariadb_dir/sock" --pid-file="$mariadb_dir/pid" \
		--loose-innodb-buffer-pool-size-max=128M --skip-networking \
		--log-error="$mariadb_dir/err.log" --max-connections=1000 --thread-cache-size=0 \
		--innodb-buffer-pool-size=128M \
		--innodb-log-file-size=32M --innodb-flush-log-at-trx-commit=0 \
		--innodb-doublewrite=0 --skip-log-bin --performance-schema=OFF \
		>/dev/null 2>&1 </dev/null &
	mariadb_pid=$!
	for i in $(seq 2400); do
		mariadb --no-defaults -uroot -S "$mariadb_dir/sock" \
			-e 'create database if not exists sbtest' 2>/dev/null && break
		kill -0 "$mariadb_pid" 2>/dev/null || return 1
		[ "$i" = 2400 ] && return 1
		sleep 0.05
	done
	(mariadb_sysbench oltp_read_write prepare) >"$mariadb_dir/prepare.log" 2>&1
}

mariadb_threads() {
	# shellcheck disable=SC2012
	ls "/proc/$mariadb_pid/task" | wc -l
}

mariadb_load() {
	local want=0
	rm -f "$mariadb_dir/idle.log" "$mariadb_dir/load.log"
	if [ "$2" -gt 0 ]; then
		(mariadb_sysbench oltp_point_select --threads="$2" --rate=1 --time="$3" run) \
			>"$mariadb_dir/idle.log" 2>&1 &
		mariadb_load_pids="$mariadb_load_pids $!"
		want=$((want + 1))
	fi
	if [ "$1" -gt 0 ]; then
		(mariadb_sysbench oltp_read_write --threads="$1" --time="$3" \
			--report-interval=1 run) >"$mariadb_dir/load.log" 2>&1 &
		mariadb_load_pids="$mariadb_load_pids $!"
		want=$((want + 1))
	fi
	# Its threads have connected then. The server has others that come and go.
	for _ in $(seq 1200); do
		[ "$(cat "$mariadb_dir"/idle.log "$mariadb_dir"/load.log 2>/dev/null |
			grep -c '^Threads started')" -ge "$want" ] && return 0
		sleep 0.05
	done
	return 1
}

# mariadb_failed TEXT: an assertion that fails, and what the server and its clients say.
mariadb_failed() {
	ok false "$1"
	diag "$(tail -n 20 "$mariadb_dir"/*.log 2>&1)"
}

mariadb_unload() {
	local p
	for p in $mariadb_load_pids; do
		kill "$p" 2>/dev/null
		wait "$p" 2>/dev/null
	done
	mariadb_load_pids=''
}

mariadb_stop() {
	local status=$?
	mariadb_unload
	[ -n "$mariadb_pid" ] || return $status
	kill -CONT "$mariadb_pid" 2>/dev/null
	kill "$mariadb_pid" 2>/dev/null
	for _ in $(seq 200); do
		kill -0 "$mariadb_pid" 2>/dev/null || break
		sleep 0.05
	done
	kill -KILL "$mariadb_pid" 2>/dev/null
	wait "$mariadb_pid" 2>/dev/null
	mariadb_pid=''
	return $status
}
