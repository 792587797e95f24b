#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A command with a recorder inside does not depend on pmp: whether that is killed while the ring
# fills, or does not read any more, the command does what it does alone.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

allocator=$top_builddir/t/target/allocator
[ -x "$allocator" ] || skip_all "no $allocator"

# Far more than the ring has room for.
count=2000000
"$allocator" mixed "$count" >alone

# counts FILE: of calls; bytes depend on what lies where.
counts() {
	cut -d ' ' -f 1-5 "$1"
}

# begin: a command that is recorded, and has begun to allocate.
begin() {
	command=
	start_pmp --heap=4K --heap-only -q -f folded -o profile -- "$allocator" mixed "$count"
	wait_for "command=\$(pgrep -x -P $pmp allocator)" &&
		wait_for "grep -q pmp-heap /proc/$command/maps"
}

begin
kill -STOP "$pmp" "$(sampler_of "$pmp")"
wait_for "[ -s out ]" 60
is "$(counts out)" "$(counts alone)" "stopped, pmp does not keep its command"
kill -CONT "$(sampler_of "$pmp")" "$pmp"
wait "$pmp"
is $? 0 "when it goes on it ends as the command did"

begin
kill -KILL "$pmp"
wait "$pmp" 2>/dev/null
wait_for "[ -s out ]" 60
is "$(counts out)" "$(counts alone)" "killed, it does not either"

begin
kill -KILL "$(sampler_of "$pmp")"
wait "$pmp" 2>/dev/null
wait_for "[ -s out ]" 60
is "$(counts out)" "$(counts alone)" "nor if its sampler is"

# ---- how long the end may take --------------------------------------------------------------

if [ -x "$PMP_FAULTY" ]; then
	PMP_FAULT=heap-endless timeout 120 "$PMP_FAULTY" --heap -d 500ms -q -f folded \
		-o endless -- sleep 1
	is $? 0 "records that come for ever do not keep pmp: status 0"
	ok "[ -f endless ]" "and it writes what it has"
else
	skip "no $PMP_FAULTY"
fi

# ---- who has the memory --------------------------------------------------------------------

# What has been copied of its stacks is in it: other processes that it starts, which may be
# other users', do not get it, however they are started.
cat >children.py <<-'END'
	import os
	def memory(text):
	    return "has it" if "memfd:pmp-heap " in text + " " else "has it not"
	def own():
	    links = [os.readlink("/proc/self/fd/" + fd) + " " for fd in os.listdir("/proc/self/fd")
	             if os.path.lexists("/proc/self/fd/" + fd)]
	    return "".join(links) + open("/proc/self/maps").read()
	print("command", memory(own()), flush=True)
	if os.fork() == 0:
	    print("fork", memory(own()), flush=True)
	    os._exit(0)
	os.wait()
	look = "cat /proc/self/maps >seen; ls -l /proc/self/fd >>seen"
	os.spawnlp(os.P_WAIT, "sh", "sh", "-c", look)
	print("exec", memory(open("seen").read()), flush=True)
	os.system(look)
	print("system", memory(open("seen").read()), flush=True)
END
"$PMP" --heap -q -f memory -o profile -- python3 children.py >out 2>err
is "$(cat out)" "command has it
fork has it not
exec has it not
system has it not" "only the command has the memory"
is "$(cat err)" "" "nobody complains of that"

# A command that has closed all descriptors has nothing to hand on: a loader of what its C
# library starts would complain, or wait for a pipe that has the number by now.
cat >closes.c <<-'END'
	#include <stdio.h>
	#include <stdlib.h>
	#include <fcntl.h>
	#include <unistd.h>
	#include <sys/stat.h>
	int main(void)
	{
		char line[100] = "";
		FILE *file;

		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		if (system("echo system"))
			return 1;
		mkfifo("fifo", 0600);
		dup2(open("fifo", O_RDONLY | O_NONBLOCK), 901);
		file = popen("echo popen", "r");
		if (!file || !fgets(line, sizeof(line), file))
			return 2;
		pclose(file);
		return fputs(line, stdout) == EOF;
	}
END
${CC:-cc} -O0 -o closes closes.c
timeout 20 "$PMP" --heap -q -f memory -o profile -- ./closes >out 2>err
is "$? $(cat out)" "0 system
popen" "what has closed its descriptors starts others"
is "$(cat err)" "" "which do not complain of that"

# With --children they have it, and may write anything into it.
cat >forge.py <<-'END'
	import mmap, struct, subprocess
	memory = mmap.mmap(900, 4096)
	size, = struct.unpack_from("Q", memory, 8)
	worst = 0
	for ahead in range(57000, 62000, 1000):
	    program = None
	    struct.pack_into("QQ", memory, 16, size - 4096, 4096)
	    struct.pack_into("I", memory, 44, 1 << 20)
	    while program is None or program.poll() is None:
	        head, = struct.unpack_from("Q", memory, 128)
	        struct.pack_into("Q", memory, 192, head + ahead)
	        program = program or subprocess.Popen(["./deep"], close_fds=False)
	    worst = min(worst, program.returncode)
	print(worst)
END
cat >deep.c <<-'END'
	#include <stdlib.h>
	#include <string.h>
	int main(void)
	{
		char room[60000];

		for (int i = 0; i < 100; i++) {
			memset(room, i, sizeof(room));
			free(malloc(100 + room[i]));
		}
		return 0;
	}
END
${CC:-cc} -O0 -o deep deep.c
"$PMP" --heap=exact --children -q -f memory -o profile -- python3 forge.py >out 2>err
is "$(tail -n 1 out)" 0 "a forged header does no harm to other programs"

# ---- what calls take after that ------------------------------------------------------------

instructions=70 # that a recorder may add to malloc() and free() of a block
few=20000

# callgrind COUNT: the words of a command that counts what so many pairs take
callgrind() {
	echo "valgrind --tool=callgrind --callgrind-out-file=/dev/null $allocator pairs $1"
}

# collected FILE: instructions, as callgrind says at the end
collected() {
	sed -n 's/.*Collected : //p' "$1"
}

# orphan COUNT: the same of a command whose pmp is killed before it begins
orphan() {
	rm -f go && mkfifo go
	start_pmp --heap --heap-only -q -f folded -o profile -- \
		sh -c "echo ready; read -r _ <go; exec $(callgrind "$1")"
	wait_for "grep -q ready out"
	kill -KILL "$(sampler_of "$pmp")" "$pmp"
	wait "$pmp" 2>/dev/null
	echo >go
	wait_for "[ -n \"\$(collected err)\" ]" 60
	collected err
}

if command -v valgrind >/dev/null; then
	for count in $few $((2 * few)); do
		# shellcheck disable=SC2091 # a command and its words
		$(callgrind "$count") >/dev/null 2>alone.err
		collected alone.err
		orphan "$count"
	done >collected
	more=$(awk -v pairs="$few" '{ n[NR] = $1 }
		END { print int(((n[4] - n[2]) - (n[3] - n[1])) / pairs) }' collected)
	ok "[ $(wc -l <collected) = 4 ] && [ $more -gt 0 ] && [ $more -le $instructions ]" \
		"malloc() and free() take $more instructions more when pmp is gone, at most $instructions"
else
	skip "no valgrind"
fi

done_testing
