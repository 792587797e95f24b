#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# lock-truth.pl glibc|musl|rust FILE...: is it true what t/target/locks and its kin have
# printed into these files, one for each process? Asked are the kernel and the memory of
# the processes, which still run. Prints a line for each file:
#
#	KIND<tab>ok | skip REASON | what is wrong
use strict;
use warnings;
no warnings 'portable';

my $library = shift @ARGV;
my $machine = `uname -m`;
chomp $machine;

# Calls, by number: of x86-64, of all newer architectures.
my %calls = (
	read => [0, 63], write => [1, 64], recvfrom => [45, 207], clone => [56, 220],
	vfork => [58, -1], wait4 => [61, 260], semop => [65, 193], fcntl => [72, 25],
	flock => [73, 32], futex => [202, 98], semtimedop => [220, 192],
	ppoll => [271, 73], pselect6 => [270, 72], epoll_pwait => [281, 22],
	nanosleep => [35, 101], rt_sigtimedwait => [128, 137], msgrcv => [70, 188],
	mq_timedreceive => [243, 183],
);
my $column = $machine eq 'x86_64' ? 0 : 1;
my ($WAIT, $LOCK_PI, $WAIT_BITSET, $LOCK_PI2) = (0, 6, 9, 13);
my $TID = 0x3fffffff;
my $tid_offset = $machine eq 'x86_64' ? 720 : 208; # in glibc's struct pthread

# Kinds with more than one waiter, and how many threads are in a deadlock.
my %waiters = (
	barrier => 3, chain => 3, victims => 5, deadlock => 2, 'deadlock-timed' => 2,
	'deadlock-rwlock' => 3, 'deadlock-join' => 2, 'deadlock-joins' => 3,
	'rwlock-second-writer' => 2, 'rwlock-reader-next' => 2,
);
my %cycles = (
	self => 1, deadlock => 2, 'deadlock-timed' => 2, 'deadlock-rwlock' => 3,
	'deadlock-join' => 2, 'deadlock-joins' => 3, victims => 2,
);

# What the name of a kind says of the lines.
my %waits = (
	mutex => 'mutex', rwlock => 'rwlock', condition => 'condition|mutex',
	barrier => 'barrier', once => 'once', join => 'join', semaphore => 'semaphore',
	stdio => 'stdio', self => 'mutex', ended => 'mutex', before => 'mutex',
	deadlock => 'mutex|rwlock|join', chain => 'mutex', victims => 'mutex',
	flock => 'file', fcntl => 'file', ofd => 'file', pipe => 'pipe', unix => 'socket',
	tcp => 'socket', wait => 'child', vfork => 'vfork', semop => 'semop',
	semtimedop => 'semop', event => 'event|timer|signal|sleep|io', poll => 'poll|event',
	queue => 'queue', cxx => 'rwlock|guard|once|mutex', rust => 'mutex|rwlock|once',
);

my ($pid, $mem, @wrong);

# Both in scalar context, as a match that fails is nothing at all in a list.
sub must($$) {
	my ($true, $what) = @_;
	push @wrong, $what unless $true;
	return $true;
}

sub slurp {
	my ($path) = @_;
	open(my $file, '<', $path) or return '';
	local $/;
	my $text = <$file>;
	return defined $text ? $text : '';
}

# Memory of the process.
sub number {
	my ($address, $size) = @_;
	my $bytes;
	sysseek($mem, $address, 0) && (sysread($mem, $bytes, $size) // 0) == $size or return -1;
	return unpack($size == 4 ? 'L' : 'Q', $bytes);
}

sub u32 { return number($_[0], 4) }
sub u64 { return number($_[0], 8) }

sub parent_of {
	return slurp("/proc/$_[0]/status") =~ /^PPid:\s*(\d+)/m ? $1 : 0;
}

sub state_of {
	return slurp("/proc/$_[0]/task/$_[1]/stat") =~ /.*\) (\S)/s ? $1 : '-';
}

sub offset_in {
	my ($line, $what, @offsets) = @_;
	my $offset = $line->{args}[0] - $line->{object};
	must((grep { $_ == $offset } @offsets), "$what waits at offset $offset");
}

# ---- kinds of waits, as their memory shows them --------------------------------------

sub check_mutex {
	my ($line, $kind) = @_;
	my ($object, $holder) = @$line{qw(object holder)};
	my $word = u32($line->{args}[0]);
	my $pi = $kind =~ /^mutex-pi/;
	my $op = $line->{args}[1] & 0x7f;
	if ($pi) {
		must($op == ($kind eq 'mutex-pi-clock' ? $LOCK_PI2 : $LOCK_PI), "operation $op");
		must(($word & $TID) == $holder, 'the word of the PI mutex');
	}
	if ($library eq 'rust') {
		offset_in($line, 'a mutex', 0);
	} elsif ($library eq 'musl') {
		offset_in($line, 'a mutex', 4);
		my $type = u32($object) & 15;
		must(($word & $TID) == ($type || $pi ? $holder : 16), 'the word of the mutex');
	} else {
		offset_in($line, 'a mutex', 0);
		must(u32($object + 8) == $holder, 'the owner of the mutex');
	}
}

sub check_rwlock {
	my ($line) = @_;
	my ($object, $holder, $readers) = @$line{qw(object holder readers)};
	my $word = u32($object);
	my $write = $line->{mode} eq 'write';
	if ($library eq 'glibc') {
		offset_in($line, 'a rwlock', $write ? (8, 12) : (0, 8));
		must($holder ? ($word & 3) == 3 && u32($object + 24) == $holder
			: ($word & 3) != 3 && $word >> 3 == $readers, "the word of the rwlock, $word");
		return;
	}
	my $mask = $library eq 'musl' ? 0x7fffffff : $TID;
	offset_in($line, 'a rwlock', $library eq 'rust' && $write ? 4 : 0);
	must(($word & $mask) == ($holder ? $mask : $readers), "the word of the rwlock, $word");
}

sub check_condition {
	my ($line) = @_;
	my $mutex = hex($line->{mutex});
	offset_in($line, 'a condition', 32, 36, 40, 44) if $library eq 'glibc';
	must(u32($mutex + ($library eq 'musl' ? 4 : 0)) == 0, 'the mutex of the condition');
}

sub check_barrier {
	my ($line) = @_;
	must($line->{arrived} == 3 && $line->{of} == 4, 'how many arrived');
	return if $library ne 'glibc';
	my $object = $line->{object};
	offset_in($line, 'a barrier', 4);
	must(u32($object) - u32($object + 4) == 3 && u32($object + 8) == 4, 'the barrier');
}

sub check_word {
	my ($line) = @_;
	offset_in($line, $line->{wait}, 0);
}

sub check_join {
	my ($line) = @_;
	my $word = $line->{args}[0];
	if ($library eq 'glibc') {
		must(u32($line->{object} + $tid_offset) == $line->{holder}, 'the tid in the thread');
	} else {
		must(u32($word - 8) == $line->{holder}, 'the tid in the thread');
	}
}

sub check_stdio {
	my ($line) = @_;
	my $word = $line->{args}[0];
	offset_in($line, 'a FILE', 0);
	must($line->{holder} == ($library eq 'glibc' ? u32(u64($word + 8) + $tid_offset)
		: u32($word) & $TID), 'the owner of the FILE');
}

# ---- and as the kernel shows them -----------------------------------------------------

sub check_file {
	my ($line, $kind) = @_;
	my ($object, $holder, $fd) = (@$line{qw(object holder)}, $line->{args}[0]);
	my @stat = stat("/proc/$pid/fd/$fd");
	must(@stat && $stat[1] == $object, 'the inode');
	my $type = { flock => 'FLOCK', fcntl => 'POSIX', ofd => 'OFDLCK' }->{$kind};
	my $owner = $kind eq 'ofd' ? -1 : $holder;
	my $locks = slurp('/proc/locks');
	must($locks =~ /^\d+: $type +ADVISORY +WRITE $owner \S+:$object /m, 'the lock');
	must($locks =~ /^\d+: -> $type +ADVISORY +WRITE \S+ \S+:$object /m, 'the wait');
	must(join('', map { slurp($_) } glob("/proc/$holder/fdinfo/*")) =~ /^lock:.*:$object /m,
		'a descriptor with the lock');
}

sub check_stream {
	my ($line) = @_;
	my ($object, $holder, $fd) = (@$line{qw(object holder)}, $line->{args}[0]);
	my $ours = readlink("/proc/$pid/fd/$fd") // '';
	my $theirs = readlink("/proc/$holder/fd/$line->{fd}") // '';
	must($ours eq "$line->{wait}:[$object]", "the descriptor: $ours");
	must(1 == (grep { (readlink($_) // '') eq $ours } glob("/proc/$pid/fd/*")), 'both ends');
	must($line->{wait} eq 'pipe' ? $theirs eq $ours
		: $theirs =~ /^socket/ && $theirs ne $ours, "the other end: $theirs");
	must(parent_of($holder) == $pid, 'the child');
}

sub check_child {
	my ($line) = @_;
	my @children = $line->{any} ? split(/,/, $line->{any}) : $line->{holder};
	must(parent_of($_) == $pid, "child $_") for @children;
	must($line->{object} == ($line->{wait} eq 'child' ? $line->{holder} : 0), 'the object');
	my $which = unpack('l', pack('L', $line->{args}[0] & 0xffffffff));
	must($which == ($line->{any} ? -1 : $line->{holder}), "which child: $which")
		if $line->{wait} eq 'child';
}

sub check_semop {
	my ($line) = @_;
	my ($id, $GETPID) = ($line->{object}, 11);
	must($line->{args}[0] == $id, 'the set of semaphores');
	must((semctl($id, $line->{number}, $GETPID, 0) // -1) == $line->{holder}, 'who took it');
}

# Nobody is waited for: is the descriptor, the queue or the time what the line says?
sub check_event {
	my ($line) = @_;
	my ($type, $fd) = ($line->{type}, $line->{own});
	my $link = defined $fd ? readlink("/proc/$pid/fd/$fd") // '-' : '';
	my $object = $type =~ /^(device|mq)$/ ? (stat("/proc/$pid/fd/$fd"))[1] : 0;
	if ($type eq 'msg') {
		$object = $line->{args}[0];
		must(slurp('/proc/sysvipc/msg') =~ /^ *-?\d+ +$object /m, 'the queue');
	}
	must($line->{holder} == 0 && $line->{object} == $object, 'the object');
	my %links = (device => qr{^/dev/pts/}, mq => qr{^/pmp-locks}, epoll => qr{\[eventpoll\]});
	must($link =~ ($links{$type} // qr{^anon_inode:\[?$type\]?$}), "the descriptor: $link")
		if defined $fd;
	must(defined $fd || $type =~ /^(poll|signal|sleep|msg)$/, 'no descriptor');
	my $of = { poll => 'descriptors', epoll => 'descriptors', sleep => 'sleep_ns' }->{$type};
	return if !$of || !defined $line->{$of};
	my $is = $type eq 'poll' ? $line->{args}[1]
		: $type eq 'epoll' ? () = slurp("/proc/$pid/fdinfo/$fd") =~ /^tfd:/mg
		: u64($line->{args}[0]) * 1e9 + u64($line->{args}[0] + 8);
	must($line->{$of} == $is, "$of: $is");
}

my %checks = (
	mutex => \&check_mutex, rwlock => \&check_rwlock, condition => \&check_condition,
	barrier => \&check_barrier, once => \&check_word, guard => \&check_word,
	semaphore => \&check_word, join => \&check_join, stdio => \&check_stdio,
	file => \&check_file, pipe => \&check_stream, socket => \&check_stream,
	child => \&check_child, vfork => \&check_child, semop => \&check_semop,
	map { $_ => \&check_event } qw(poll event timer signal queue sleep io),
);

# ---- all of them ------------------------------------------------------------------------

# Is the waiter asleep in the call that the line says?
sub check_waiter {
	my ($line) = @_;
	my $tid = $line->{waiter};
	my ($call, @args) = split(' ', slurp("/proc/$pid/task/$tid/syscall"));
	must(state_of($pid, $tid) eq ($line->{wait} eq 'vfork' ? 'D' : 'S'), "$tid is not asleep");
	my $number = $calls{$line->{call}} ? $calls{$line->{call}}[$column] : -1;
	must(defined $call && @args >= 6 && $call eq $number,
		"$tid is in call " . ($call // '-')) or return 0;
	$line->{args} = [map { hex } @args];
	if ($call == $calls{futex}[$column]) {
		my $op = $args[1] ? hex($args[1]) & 0x7f : 0;
		must((grep { $_ == $op } $WAIT, $WAIT_BITSET, $LOCK_PI, $LOCK_PI2), "operation $op");
		must(!!$line->{timed} == !!hex($args[3]), 'the timeout');
	}
	return 1;
}

# Is the holder what the line says?
sub check_holder {
	my ($line) = @_;
	my ($holder, $is) = ($line->{holder}, $line->{is} // '');
	return if !$holder || $line->{wait} =~ /^(file|pipe|socket|child|vfork|semop)$/;
	my $process = $line->{process} // $pid;
	must(($is eq 'self') == ($holder == $line->{waiter}), 'self');
	must(($is eq 'ended') == (state_of($process, $holder) eq '-'), "is holder $holder there");
	must($process != $pid, 'another process') if $is =~ /^(process|before-fork)$/;
	must(parent_of($pid) == $process, 'the parent') if $is eq 'before-fork';
	must(parent_of($process) == $pid, 'the child') if $is eq 'process';
}

sub check_cycle {
	my ($cycle, $lines, $size) = @_;
	my @threads = split(/,/, $cycle);
	my %next = map { $_->{waiter} => $_->{holder} } @$lines;
	must(@threads == $size, 'how many are in the deadlock');
	for my $i (0 .. $#threads) {
		must(($next{$threads[$i]} // 0) == $threads[($i + 1) % @threads], "the cycle at $threads[$i]");
	}
}

sub check_kind {
	my ($kind, $lines, $cycles) = @_;
	my $waits = $waits{($kind =~ /^(\w+)/)[0]} // 'unknown';
	open($mem, '<:raw', "/proc/$pid/mem") or must(0, "/proc/$pid/mem: $!");
	must(@$lines == ($waiters{$kind} // 1), @$lines . ' waiters');
	for my $line (@$lines) {
		must($line->{wait} =~ /^($waits)$/, "wait=$line->{wait}");
		check_holder($line);
		$checks{$line->{wait}}->($line, $kind) if check_waiter($line);
	}
	must(@$cycles == ($cycles{$kind} ? 1 : 0), @$cycles . ' deadlocks');
	check_cycle($_, $lines, $cycles{$kind}) for @$cycles;
}

# One file.
for my $path (@ARGV) {
	my ($kind, @lines, @cycles) = ($path =~ m{([^/]*)$});
	my $skipped;
	($pid, @wrong) = (0);
	for (split(/\n/, slurp($path))) {
		$pid = $1 if /^ready (\d+)$/;
		$skipped = $1 if /^skip \Q$kind\E: (.*)/;
		push @cycles, $1 if /^truth \Q$kind\E deadlock=([\d,]+)( timed=1)?$/;
		next unless /^truth \Q$kind\E (waiter=\d+ holder=\d+ object=0x[0-9a-f]+ wait=\w+ call=\w+.*)$/;
		my %line = map { split(/=/, $_, 2) } split(/ /, $1);
		$line{object} = hex($line{object});
		push @lines, \%line;
	}
	if (!$skipped) {
		must($pid, 'not ready');
		check_kind($kind, \@lines, \@cycles) if $pid;
	}
	print "$kind\t", $skipped ? "skip $skipped" : @wrong ? join('; ', @wrong) : 'ok', "\n";
}
