#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of others with a recorder inside: they do what they do without, in their output and
# their status; also with another allocator, and under valgrind.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

unset LD_PRELOAD MALLOC_ARENA_MAX
libraries=/usr/lib/$(uname -m)-linux-gnu

# same DESCRIPTION COMMAND...: its output and status, alone and with a recorder.
same() {
	about=$1
	shift
	"$@" >alone 2>alone.err </dev/null
	status=$?
	"$PMP" --heap=64K -q -f folded -o profile -- "$@" >out 2>err </dev/null
	is "$?" "$status" "$about: its status"
	is "$(cat out)" "$(cat alone)" "$about: its output"
}

# passes DESCRIPTION COMMAND...: it does so with a recorder, if it does without.
passes() {
	about=$1
	shift
	"$@" >alone 2>&1 </dev/null || { skip "$about does not pass alone"; return; }
	ok "'$PMP' --heap=64K -q -f folded -o profile -- $* >out 2>&1 </dev/null" "$about" ||
		diag "$(tail -n 5 out)"
}

has() {
	command -v "$1" >/dev/null 2>&1 || { skip "no $1"; return 1; }
}

cat >script <<'END'
a=
for i in $(seq 300); do a="$a $i"; b=$(echo "${a#* }" | wc -c); done
echo "$b"
(exit 3) || echo $?
printf '%s\n' "${a:0:50}" | sort | tr ' ' '\n' | tail -n 1
END
has bash && same bash bash script
has python3 && same python python3 -c 'import json, threading
made = []
def make():
    made.append(len(json.dumps([{str(i): [i] * 10} for i in range(20000)])))
threads = [threading.Thread(target=make) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(made))'
# Here with malloc() for all its objects, above with its own allocator.
modules=test_json
[ -z "$PMP_LONG" ] || modules="test_json test_dict test_list test_set test_array test_struct \
	test_heapq test_bisect test_functools test_thread test_queue test_mmap test_fork1 \
	test_contextlib test_copy test_generators test_weakref test_deque test_zlib test_csv"
if has python3 && python3 -c 'import test.test_json' 2>/dev/null; then
	# shellcheck disable=SC2086 # words
	passes "python's own tests of $modules" env PYTHONMALLOC=malloc python3 -m test $modules
else
	skip "python without its tests"
fi
cat >script.pl <<'END'
use strict;
use Config;
sub make {
	my %made;
	$made{$_ % 1000} .= "x$_" for 1 .. 20000;
	return length join ',', map { "$_=$made{$_}" } sort keys %made;
}
my @made = (make()) x 4;
if ($Config{useithreads}) {
	require threads;
	@made = map { $_->join } map { threads->create(\&make) } 1 .. 4;
}
print "@made\n";
my $text = join "\n", map { sprintf '%05d', $_ * 7919 % 10007 } 1 .. 20000;
my %seen;
$seen{$1}++ while $text =~ /(\d\d)$/mg;
print scalar(keys %seen), ' ', join(' ', map { "$_:$seen{$_}" } (sort keys %seen)[0 .. 5]), "\n";
$| = 1;
my $pid = open(my $child, '-|') // die;
if (!$pid) {
	print 'child ', make(), "\n";
	exit 0;
}
print <$child>;
END
has perl && same "perl, with threads and a child" perl script.pl
# Tests of this project that are about its files.
if has bash; then
	for test in 0020-namespace 0060-hygiene; do
		passes "bash with a test of this project ($test)" bash "$top_srcdir/t/$test.t"
	done
fi
if has git; then
	git init -q repository && (
		cd repository || exit
		seq 20000 >numbers && git add . &&
			git -c user.name=a -c user.email=a@example.org commit -qm a
	)
	same "git fsck" git -C repository fsck --full
	same "git log" git -C repository log --format=%s -p
fi
if has chromium; then
	same "chromium's version" chromium --version --no-sandbox
	same "a page in chromium" chromium --headless --no-sandbox --disable-gpu \
		"--user-data-dir=$tmp/chromium" --dump-dom \
		'data:text/html,<p id=a></p><script>a.textContent=[1,2,3].map(x=>x*x).join()</script>'
fi
cat >program.c <<'END'
#include <stdio.h>
int main(void) { return printf("%d\n", 42) < 0; }
END
if has clang; then
	same clang clang -O2 -S -o - program.c
fi
if has gcc; then
	same "gcc, with children" gcc -O2 -S -o - program.c
fi
cat >program.rs <<'END'
use std::collections::HashMap;
fn main() {
    let threads: Vec<_> = (0..4).map(|t| std::thread::spawn(move || {
        let mut map = HashMap::new();
        for i in 0..50000u64 { map.insert(i, vec![t; (i % 50) as usize]); }
        map.values().map(|v| v.len()).sum::<usize>()
    })).collect();
    println!("{:?}", threads.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>());
}
END
if has rustc && rustc -O -o rust program.rs 2>/dev/null; then
	same Rust ./rust
fi
cat >program.go <<'END'
package main

import "fmt"

func main() {
	all := map[int][]byte{}
	for i := 0; i < 100000; i++ {
		all[i%1000] = make([]byte, i%5000)
	}
	fmt.Println(len(all))
}
END
if has go && GOFLAGS=-mod=mod GOCACHE=$tmp/go go build -o go program.go 2>/dev/null; then
	same Go ./go
fi

# ---- other allocators ------------------------------------------------------------------------

news=$top_builddir/t/target/news
for allocator in libjemalloc.so.2 libtcmalloc.so.4 libmimalloc.so.2; do
	if [ ! -f "$libraries/$allocator" ] || [ ! -x "$news" ]; then
		skip "no $allocator"
		continue
	fi
	same "$allocator behind it" env "LD_PRELOAD=$libraries/$allocator" "$news" x 10000
	LD_PRELOAD=$libraries/$allocator same "$allocator, as it is given" \
		"$top_builddir/t/target/allocator" chain 1000
done

# ---- valgrind --------------------------------------------------------------------------------

if has valgrind; then
	passes "inside of valgrind" valgrind -q --error-exitcode=9 "$news" x 1000
fi

done_testing
