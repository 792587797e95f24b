#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pmp-formats(5): each format of --help has its section, and the examples are what pmp
# writes. A comment above an example says what it is:
#
#	.\" manual.raw			t/data/golden/manual.raw
#	.\" manual.json, on one line	the same without ends of lines and what follows them
#	.\" part of manual.svg		lines of it
#
# Blanks at the ends of lines do not count, as pages have none.
#
# pmp(1), pmp-examples(7) and README: each command that they show is run, shorter and on
# a program of ours; runners of benchmarks are stand-ins. What needs the network or a
# program that pmp does not bring is left out. 0836 has the files for cron and systemd.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

page=$top_srcdir/man/pmp-formats.5
golden=$top_srcdir/t/data/golden

# example FORMAT: the example in its section, with letters instead of requests.
example() {
	awk -v name="$1" '
		/^\.Sh / { inside = $2 == name; next }
		inside && /^\.\\" .*manual\./ { marked = 1; next }
		marked && /^\.Bd / { literal = 1; next }
		literal && /^\.Ed/ { exit }
		literal' "$page" | sed 's/^\\&//; s/\\e/\\/g; s/\\-/-/g'
}

# mark FORMAT: the comment above it.
mark() {
	awk -v name="$1" '/^\.Sh / { inside = $2 == name }
		inside && sub(/^\.\\" /, "") && /manual\./ { print; exit }' "$page"
}

trimmed() {
	sed 's/ *$//' "$1" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

joined() {
	sed 's/^ *//' | tr -d '\n'
}

"$PMP" --help | sed -n '/^Formats:/,/^$/s/^  \([a-z]*\).*/\1/p' >formats
ok "[ $(wc -l <formats) -ge 12 ]" "formats were found"
while read -r format; do
	ok "grep -qx '.Sh $format' '$page'" "$format has a section"
	example "$format" >text
	case $(mark "$format") in
	"manual.$format")
		is "$(cat text)" "$(trimmed "$golden/manual.$format")" "$format: the example is real" ;;
	"manual.$format, on one line")
		is "$(joined <text)" "$(joined <"$golden/manual.$format")" "$format: the example is real" ;;
	"part of manual.$format")
		ok "[ -s text ]" "$format: there is an example"
		is "$(grep -cvxFf "$golden/manual.$format" text)" 0 "$format: its lines are real" ;;
	*)
		# Binary ones are described by what reads them.
		like "$(sed -n "/^\.Sh $format\$/,/^\.Sh /p" "$page")" '(pprof|google-pprof) -' \
			"$format: how it is read"
		;;
	esac
done <formats

# commands FILE: those that a page shows, one a line.
commands() {
	case $1 in
	*.[1-9]) sed -n -e 's/^\.Dl //' -e 's/\\&//g' -e 's/\\-/-/g' -e 's/\\e/\\/g' -e 's/^[$#] //p' "$1" ;;
	*) sed '/^What it costs/q' "$1" | sed -n -e 's/^    #* *\(pmp .*\)/\1/p' | sed -e 's/    *.*//' ;;
	esac | grep -E '(^| )pmp (-|[a-z0-9-]*\.pb)' | grep -vE 'debuginfod|go tool'
}

# shortened: the same on $target_pid, in this folder, for a moment.
shortened() {
	sed -E -e "s/\\$\(pidof [a-z]*\)|4100|4131|PID/$target_pid/g" \
		-e "s/mariadbd\\$'/documented\$'/; s/--name mariadbd/--name documented/" \
		-e "s/--user mysql/--user $(id -u)/" -e "s|/var/[a-z]*/(pmp/)?|$tmp/|" \
		-e 's/-d [0-9]+/-d 0.3/; s/-F 1 /-F 10 /'
}

# What the commands need: a core, profiles of other times, programs, and runners that only run.
stand_ins() {
	mkdir -p bin target/release/deps
	for runner in hyperfine pytest cargo go; do
		# shellcheck disable=SC2016
		printf '#!/bin/sh\nsleep 0.3\ncase $1 in pmp*) eval "$1" ;; esac\n' >bin/$runner
	done
	for runner in program parse bench parse.test target/release/deps/parse-5d41402abc4b2a76; do
		printf '#!/bin/sh\nsleep 0.3\n' >$runner
	done
	printf 'all:\n\tsleep 0.3\n' >Makefile
	chmod +x bin/* program parse bench parse.test target/release/deps/*
	ln -s "$PMP" bin/pmp
	gdb -q -nx -batch -ex 'gcore core' -p "$target_pid" >gdb.out 2>&1 || diag "$(cat gdb.out)"
	printf '#!/bin/sh\ncat core\n' >bin/coredumpctl
	chmod +x bin/coredumpctl
	cp core core.1
	cp core core.2
	mkdir -p systemd/coredump
	zstd -q core -o systemd/coredump/core.mariadbd.1.zst
	"$PMP" -q -n 2 -o good.pb.gz -p "$target_pid"
	for saved in before after db profile mariadbd-0900 mariadbd-20261121-100000 \
		mariadbd-20261122-100000; do
		cp good.pb.gz $saved.pb.gz
	done
}

statistics='wrote [^:]*|snapshots|stacks|stops|any thread stopped|lost|rate|unnamed'
unset MAKEFLAGS MFLAGS MAKELEVEL
cp "$top_builddir/t/target/demo" documented
start_target "$tmp/documented"
stand_ins
for page in "$top_srcdir/man/pmp.1" "$top_srcdir/man/pmp-examples.7" "$top_srcdir/README"; do
	commands "$page" >list
	ok "[ $(wc -l <list) -ge 10 ]" "commands were found in ${page##*/}"
	while read -r command; do
		shortened <<-END >script
			$command
		END
		PATH="$tmp/bin:$PATH" PMP_OPTS='-q -d 0.3' timeout 60 sh ./script </dev/null >out 2>err
		is "$?,$(grep -vE "^pmp: ($statistics): " err)" "0," "runs: $command"
		file=$(sed -n "s/.*-o '*\([^ '%]*\) .*/\1/p" script)
		[ -z "$file" ] || ok "[ -s '$file' ]" "and writes $file"
	done <list
done

done_testing
