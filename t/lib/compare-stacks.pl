#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# compare-stacks.pl GDB RAW: how many threads have the same stack, pc by pc, in
# gdb-stacks.py's output and in `pmp --raw --no-inline`? Prints
#   threads N equal N missing N complete N
# and, on stderr, each pair that differs.
use strict;
use warnings;

my ($gdb_file, $raw_file) = @ARGV;
my (%gdb, %raw, %names, $tid);

open my $g, '<', $gdb_file or die "$gdb_file: $!";
while (<$g>) {
	my ($key, $id, @pcs) = split;
	$gdb{$id} = join ' ', map { s/^0+//r } @pcs if defined $key && $key eq 'STACK';
}
open my $r, '<', $raw_file or die "$raw_file: $!";
while (<$r>) {
	if (/^Thread \d+ \(Thread 0x[0-9a-f]+ \(LWP (\d+)\)/) {
		$tid = $1;
		$raw{$tid} = [];
	} elsif (defined $tid && /^#\d+ +0x0*([0-9a-f]+|0) in (\S+)/) {
		push @{$raw{$tid}}, $1;
		$names{$tid} = $2;
	}
}
my ($equal, $missing, $complete) = (0, 0, 0);
for my $id (sort { $a <=> $b } keys %gdb) {
	if (!$raw{$id}) {
		$missing++;
		print STDERR "thread $id is not in pmp's output\n";
		next;
	}
	my $ours = join ' ', @{$raw{$id}};
	if ($ours eq $gdb{$id}) {
		$equal++;
	} else {
		print STDERR "thread $id differs\n  gdb $gdb{$id}\n  pmp $ours\n";
	}
}
for my $id (keys %raw) {
	$complete++ if ($names{$id} // '') =~ /^_*(start_thread|clone3?|GI___clone3?|start|_start|main)$/;
}
printf "threads %d equal %d missing %d complete %d\n", scalar keys %gdb, $equal, $missing, $complete;
