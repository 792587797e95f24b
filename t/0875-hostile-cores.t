#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Core files of t/fuzz/cores.py, which are made to do harm. And what that finds if pmp does
# what it must not.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
need python3
[ "$(uname -m)" = x86_64 ] || skip_all "not x86-64"
cores=$top_srcdir/t/fuzz/cores.py

# kinds KIND...: are without fault; each has its line
kinds() {
	python3 "$cores" "$PMP" "$@" >out 2>&1
	is $? 0 "hostile cores"
	is "$(grep WRONG out)" "" "none does harm"
	diag "$(cat out)"
}

check_all() { kinds; }
# With the fault that this check is there to find, neither format ends by itself.
check_deep() {
	! a_fault_is_judged || export PMP_CORES_PATIENCE=20
	kinds same_threads
}

# So many that some are left out: all are of one thread, so that it takes no time.
check_many() {
	PYTHONPATH=$top_srcdir/t/fuzz python3 -B -c '
import cores
data = cores.build(cores.thread(cores.PID) * ((1 << 19) + 2))
open("many", "wb").write(data)'
	"$PMP" many >out 2>err
	is $? 0 "a core of more threads than pmp reads"
	is "$(grep -c '^Thread' out)" 1 "shows those that it has read"
	like "$(cat err)" '^pmp: many has too many threads: 1 are shown, 2 are not$' \
		"and says how many it has not"
	rm many
}

# does COMMAND PROBLEM [PATIENCE]: a pmp that does this, before it does what it is for.
does() {
	printf '#!/bin/sh\n%s\nexec "%s" "$@"\n' "$1" "$PMP" >faulty
	chmod +x faulty
	PMP_CORES_PATIENCE=${3:-100} python3 "$cores" "$tmp/faulty" no_section >out 2>&1
	isnt $? 0 "is seen: $1"
	like "$(cat out)" "WRONG $2" "as what it is: $1"
}

# In huge pages where there are any: small ones take some machines seconds.
cat >eat.py <<'END'
import mmap
memory = mmap.mmap(-1, 1100 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_HUGEPAGE)
for page in range(0, len(memory), mmap.PAGESIZE):
    memory[page] = 1
END

# shellcheck disable=SC2016 # for the script
check_faults() {
	does 'kill -SEGV $$' 'status -11'
	does 'sleep 6' 'hangs' 5
	does 'python3 "${0%/*}/eat.py"' 'takes memory'
	does 'printf "\033" >&2' 'prints control bytes'
	does 'echo was ended by signal 9 >&2' 'loses a process'
	does 'exit 2' 'says nothing'
}

run_checks "$@"
