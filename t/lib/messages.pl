# SPDX-License-Identifier: GPL-2.0-or-later
# The messages in C sources: a line for each call that makes one, with its format. What is
# passed before the format is skipped by counting commas outside of parentheses and strings.
use strict;
use warnings;

my %arguments = (
	message_print => 1, message_note => 1, message_absent => 0, message_fill => 3,
	pmp_error_set => 2, pmp_error_sys => 3,
);
my $names = join '|', keys %arguments;
my $string = qr/"((?:[^"\\]|\\.)*)"/;

for my $file (@ARGV) {
	local $/;
	open my $in, '<', $file or die "$file: $!";
	my $text = <$in>;
	while ($text =~ /\b($names)\s*\(/g) {
		my $skip = $arguments{$1};
		my $depth = 0;
		my $format = '';
		while ($text =~ /\G\s*($string|[(),;]|[^"(),;\s]+)/gc) {
			my ($token, $inside) = ($1, $2);
			last if $token eq ';' || ($token eq ')' && $depth == 0);
			$depth++ if $token eq '(';
			$depth-- if $token eq ')';
			if ($token eq ',' && $depth == 0) {
				last if $skip == 0;
				$skip--;
			} elsif ($skip == 0 && defined $inside) {
				$format .= $inside;
			}
		}
		print "$format\n" if $format =~ /[a-z]/;
	}
}
