#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What threads wait for in programs that bring locks of their own: Go, Java, Node.js, Rust,
# parking_lot and PostgreSQL. Kinds have names, no holder is pretended, and what the bytes of a lock say
# is what the names say as well (t/bench/blind). 0715 does that with a busy mariadbd.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/locks.sh
. "$top_srcdir/t/lib/locks.sh"
# shellcheck source=t/lib/postgres.sh
. "$top_srcdir/t/lib/postgres.sh"

trap 'postgres_stop; test_cleanup' EXIT

need perl

blind=$top_builddir/t/bench/blind
[ -x "$blind" ] || skip_all "no $blind"

# kinds: of all waits in found.json, each once, with commas between.
kinds() {
	grep -o '"wait":{"kind":"[^"]*"' found.json | sed 's/.*:"\(.*\)"/\1/' | sort -u |
		paste -sd ,
}

# kind_of THREAD: what it waits for in all of found.json, and whom, if one is shown.
kind_of() {
	perl -ne 'while (/"name":"'"$1"'"[^{}]*"wait":\{([^{}]*)\}/g) {
		my $wait = $1;
		my ($kind) = $wait =~ /"kind":"([^"]*)"/;
		$kind .= ", to write" if $wait =~ /"write":true/;
		$kind .= ", held by $1" if $wait =~ /"holder":(\d+)/;
		print "$kind\n" if $kind;
	}' found.json | sort -u
}

# agree TEXT CAPTURES: the target's waits, by bytes and by names; 1 or more of them.
agree() {
	"$blind" "$target_pid" "$2" 20 >sums 2>&1
	test_result $? "$1: names contradict no lock" || diag "$(tail -n 20 sums)"
	like "$(cat sums)" '^captures [1-9].* waits [1-9]' "$1: of waits that there are"
	diag "$1: $(tail -n 1 sums)"
}

# sees TEXT KIND...: snapshots, in found.json, until threads have been found in each of these
# kinds of wait.
sees() {
	text=$1
	shift
	: >found.json
	for _ in $(seq 60); do
		"$PMP" -f json -q -n 20 -i 5ms -p "$target_pid" >>found.json 2>err || break
		missing=
		for kind; do
			grep -qF "\"kind\":\"$kind\"" found.json || missing="$missing $kind"
		done
		[ -n "$missing" ] || break
	done
	is "${missing-no snapshot}" "" "$text: threads that wait" || diag "$(kinds)" "$(cat err)"
}

# in_wait TEXT THREAD:KIND...: each of these threads comes to wait for that.
in_wait() {
	text=$1
	shift
	for pair; do
		wait_for '"$PMP" -f json -q -n 3 -i 5ms -p "$target_pid" >found.json 2>err &&
			[ "$(kind_of "${pair%%:*}")" = "${pair#*:}" ]'
		is "$(kind_of "${pair%%:*}")" "${pair#*:}" "$text: the thread ${pair%%:*}"
	done
}

check_go() {
	command -v go >/dev/null || { skip "no go"; return; }
	GOCACHE=$tmp/go-cache GOFLAGS=-p=2 GO111MODULE=off go build -o go-locks \
		"$live_target/locks.go" 2>err || { diag "$(cat err)"; ok false "go build"; return; }
	chmod -R u+w go-cache
	start_target ./go-locks
	sees "Go" "Go runtime lock" "Go note"
	is "$(kinds)" "Go note,Go runtime lock" "Go: for locks of the runtime and for work, only"
	is "$(grep -c '"holder"' found.json)" 0 "Go: no thread is shown as a holder"
	is "$(grep -c '"deadlocks"' found.json)" 0 "and no deadlock"
	is "$(grep -c '"place":"on the stack' found.json)" 0 "Go: what is in its heap is on no stack"
	wait_for '"$PMP" --locks -q -p "$target_pid" >out 2>err && grep -q runtime.lock2 out' 60
	like "$(cat out)" '^HOLDER UNKNOWN ([0-9]+ )?Go runtime locks?( |$)' "Go: -f locks says so"
	like "$(cat out)" '^  ([0-9]+ )?Go notes?( |$)' "and who is idle"
	"$PMP" -f json -q -n 20 -i 5ms --no-symbols -p "$target_pid" >found.json
	is "$(kinds) $(grep -c '"holder"' found.json)" "futex 0" \
		"Go: without names they are futexes, and nothing is pretended either"
	agree "Go" 100
}

check_java() {
	command -v javac >/dev/null && command -v java >/dev/null || { skip "no javac"; return; }
	javac -J-XX:-UsePerfData -J-Xmx256m -d . "$live_target/Locks.java" 2>err || {
		diag "$(cat err)"
		ok false "javac"
		return
	}
	start_target "$(command -v java)" -XX:-UsePerfData -XX:+UseSerialGC -Xmx64m -cp . Locks
	in_wait "Java" "enters:Java monitor" "parks:Java park" "waits:Java wait"
	is "$(grep -c '"deadlocks"' found.json)" 0 "Java: no deadlock"
	"$PMP" --locks -q -p "$target_pid" >out
	like "$(cat out)" '^HOLDER UNKNOWN Java monitor: jstack knows$' "Java: what to ask is said"
	is "$(grep -A1 '^HOLDER UNKNOWN Java monitor' out | grep -Ec '^ +1 .* enters .*ObjectMonitor::enter')" \
		1 "and who waits"
	like "$(cat out)" '^  ([0-9]+ )?Java parks?$' "Java: that parks is among other waits"
	"$PMP" --locks -q --no-demangle -p "$target_pid" >out
	like "$(cat out)" '^HOLDER UNKNOWN Java monitor: jstack knows$' \
		"Java: so it is with names as they are stored"
	agree "Java" 100
}

check_node() {
	command -v node >/dev/null || { skip "no node"; return; }
	start_target "$(command -v node)" -e '
		const crypto = require("crypto");
		const more = () => crypto.pbkdf2("a", "b", 1000, 64, "sha512", more);
		for (let i = 0; i < 8; i++) more();
		console.log("ready " + process.pid);
		setTimeout(process.exit, 120000);'
	sees "Node.js" condition
	is "$(grep -c '"deadlocks"' found.json)" 0 "Node.js: no deadlock"
	agree "Node.js" 100
}

check_rust() {
	locks_build rust || {
		[ -n "$locks_missing" ] && skip "$locks_missing" || ok false "rustc builds"
		return
	}
	locks_start ./locks-rust
	while read -r kind; do
		target_pid=$(sed -n 's/^ready //p' "$locks_said/$kind")
		[ -n "$target_pid" ] || continue
		agree "Rust, $kind" 20
	done <locks.kinds
	# shellcheck disable=SC2086
	kill -KILL $locks_pids
}

# crate NAME EDITION [ARG...]: compile a library that the distribution has as source.
crate() {
	crate_name=$1 crate_edition=$2
	shift 2
	crate_folder=/usr/share/cargo/registry/$(printf '%s' "$crate_name" | sed 's/cfg_if/cfg-if/')
	crate_source=$(find "$crate_folder"-[0-9]*/src/lib.rs | tail -n 1)
	rustc --crate-type rlib --crate-name "$crate_name" --edition "$crate_edition" \
		--cap-lints allow -g -L dependency=crates --out-dir crates "$@" "$crate_source" 2>>err
}

# parked KIND: the addresses that threads wait for.
parked() {
	grep -o "\"kind\":\"parking_lot $1\"[^}]*" found.json | sed -n 's/.*"object":"\(0x[0-9a-f]*\)".*/\1/p' | sort -u
}

check_parking_lot() {
	command -v rustc >/dev/null || { skip "no rustc"; return; }
	ls /usr/share/cargo/registry/parking_lot-* >/dev/null 2>&1 || {
		skip "no librust-parking-lot-dev"
		return
	}
	: >err
	crate libc 2015 --cfg libc_priv_mod_use --cfg libc_union --cfg libc_align \
		--cfg libc_core_cvoid --cfg libc_packedN --cfg libc_cfg_target_vendor \
		--cfg libc_const_size_of --cfg libc_non_exhaustive --cfg libc_long_array \
		--cfg libc_ptr_addr_of --cfg libc_underscore_const_names --cfg libc_const_extern_fn
	crate cfg_if 2018
	crate scopeguard 2018
	crate smallvec 2018
	crate lock_api 2018 --extern scopeguard=crates/libscopeguard.rlib --cfg has_const_fn_trait_bound
	crate parking_lot_core 2018 --extern libc=crates/liblibc.rlib --extern cfg_if=crates/libcfg_if.rlib --extern smallvec=crates/libsmallvec.rlib
	crate parking_lot 2018 --extern lock_api=crates/liblock_api.rlib --extern parking_lot_core=crates/libparking_lot_core.rlib
	rustc -O -g --edition 2018 -L dependency=crates --extern parking_lot=crates/libparking_lot.rlib -o parking \
		"$live_target/parking.rs" 2>>err || { diag "$(head -n 30 err)"; ok false "rustc"; return; }
	start_target ./parking
	in_wait "parking_lot" "locks:parking_lot mutex" "reads:parking_lot rwlock" \
		"writes:parking_lot rwlock, to write" "waits:parking_lot condvar"
	is "$(grep -c '"holder"' found.json)" 0 "parking_lot: no thread is shown as a holder"
	is "$(parked mutex)" "$(sed -n 's/^mutex //p' "$target_out")" "parking_lot: the address of a mutex"
	is "$(parked rwlock)" "$(sed -n 's/^rwlock //p' "$target_out")" "parking_lot: and of a rwlock"
	agree "parking_lot" 50
}

check_postgres() {
	postgres_find || { skip "no initdb, postgres or psql"; return; }
	postgres_start "$tmp/postgres" || {
		ok false "postgres runs"
		diag "$(tail -n 20 "$tmp"/postgres/*.log 2>&1)"
		return
	}
	postgres_ask 'create table t (k int primary key, v int); insert into t values (1, 0)'
	postgres_session 'update t set v = 1 where k = 1; select pg_sleep(120)'
	wait_for '[ "$(postgres_ask "select count(*) from pg_stat_activity
		where wait_event = '\''PgSleep'\''")" = 1 ]' 30
	postgres_session 'update t set v = 2 where k = 1'
	waits="select pid from pg_stat_activity where wait_event_type = 'Lock'"
	wait_for '[ -n "$(postgres_ask "$waits")" ]' 30
	waiter=$(postgres_ask "$waits")
	"$PMP" --locks -q -p "$waiter" >out 2>err || diag "$(cat err)"
	like "$(cat out)" '^postgres \[[0-9]+\]: 1 thread, 1 waits for locks, the holder of 0 is known$' \
		"PostgreSQL: who waits for a row waits for a lock"
	like "$(cat out)" '^HOLDER UNKNOWN wait \(heavyweight lock\): pg_blocking_pids\(\) knows$' \
		"its holder is not known, and what to ask is"
	like "$(cat out)" '^ +1 .* postgres .*<ProcSleep<' "and its stack is shown"
	is "$(postgres_ask "select pg_blocking_pids($waiter)")" \
		"{$(postgres_ask "select pid from pg_stat_activity where wait_event = 'PgSleep'")}" \
		"PostgreSQL: that knows it indeed"
	"$PMP" -f json -q -n 1 -p "$waiter" >found.json
	like "$(cat found.json)" '"wait":\{"kind":"wait","meaning":"heavyweight lock","ask":"pg_blocking_pids\(\)","lock":true,"sure":"unknown"' \
		"PostgreSQL: JSON has the same"
	postgres_stop
}

run_checks "$@"
