# SPDX-License-Identifier: GPL-2.0-or-later
# Throughput or CPU time with a tool, in percent of that without. Input: round, variant,
# value; -v title= -v unit= -v digits= (of values, after the point). "none" and "none again"
# are the controls: the others are compared with their mean in the same round, the second
# with the first. Prints the median over the rounds and what lies around it in at least 95 of
# 100 cases, by the binomial distribution of ranks (below 6 rounds: the range).

function sort(list, count,    i, j, t)
{
	for (i = 2; i <= count; i++)
		for (j = i; j > 1 && list[j] < list[j - 1]; j--) {
			t = list[j]
			list[j] = list[j - 1]
			list[j - 1] = t
		}
}

# How many values may be cut off at each end.
function cut(count,    k, p, sum)
{
	p = 0.5 ^ count
	for (k = 0; k < count / 2; k++) {
		sum += p
		if (2 * sum > 0.05)
			break
		p *= (count - k) / (k + 1)
	}
	return k > 0 ? k - 1 : 0
}

BEGIN {
	FS = "\t"
}

{
	if (!($2 in known)) {
		known[$2] = 1
		names[++variants] = $2
	}
	rate[$1, $2] = $3
	if ($1 > rounds)
		rounds = $1
}

END {
	printf "%-26s %9s %9s %9s %9s\n", title, unit, "change %", "from", "to"
	for (v = 1; v <= variants; v++) {
		count = 0
		for (r = 1; r <= rounds; r++) {
			base = (rate[r, "none"] + rate[r, "none again"]) / 2
			if (names[v] ~ /^none/)
				base = rate[r, "none"]
			if (base <= 0 || rate[r, names[v]] <= 0)
				continue
			change[++count] = 100 * (rate[r, names[v]] / base - 1)
			rates[count] = rate[r, names[v]]
		}
		if (!count)
			continue
		sort(change, count)
		sort(rates, count)
		middle = int((count + 1) / 2)
		printf "%-26s %9.*f", names[v], digits, rates[middle]
		if (names[v] != "none")
			printf " %+9.1f %+9.1f %+9.1f", change[middle],
				change[1 + cut(count)], change[count - cut(count)]
		print ""
	}
}
