# SPDX-License-Identifier: GPL-2.0-or-later
# A table of medians. Input: NAME, tab, key=value key=value ...; a line for each repeat.
# -v fields="key key": the columns, in this order; -v ratios=1: once more, in multiples
# of the first row.

function median(row, key,    count, sorted, i, j, t)
{
	count = counts[row, key]
	for (i = 1; i <= count; i++) {
		t = values[row, key, i]
		for (j = i; j > 1 && sorted[j - 1] > t; j--)
			sorted[j] = sorted[j - 1]
		sorted[j] = t
	}
	return count ? sorted[int((count + 1) / 2)] : ""
}

function show(value)
{
	if (value == "")
		return sprintf(" %9s", "-")
	return sprintf(value < 9.995 ? " %9.2f" : value < 99.95 ? " %9.1f" : " %9.0f", value)
}

function heading(title,    i, text)
{
	printf "%-" wide "s", title
	for (i = 1; i <= width; i++) {
		text = column[i]
		sub(/_/, " ", text)
		printf " %9s", text
	}
	print ""
}

function notes(row)
{
	return (left[row] ? "  LEFT STOPPED" : "") (lost[row] ? "  trace events lost" : "")
}

BEGIN {
	FS = "\t"
	width = split(fields, column, " ")
	wide = 26
}

{
	if (!($1 in known)) {
		known[$1] = 1
		wide = length($1) > wide ? length($1) : wide
		names[++rows] = $1
	}
	pairs = split($2, pair, " ")
	for (i = 1; i <= pairs; i++) {
		split(pair[i], part, "=")
		values[$1, part[1], ++counts[$1, part[1]]] = part[2] + 0
		if (part[2] + 0 > 0 && part[1] == "left")
			left[$1] = 1
		if (part[2] + 0 > 0 && part[1] == "lost")
			lost[$1] = 1
	}
}

END {
	heading(title)
	for (r = 1; r <= rows; r++) {
		printf "%-" wide "s", names[r]
		for (i = 1; i <= width; i++)
			printf "%s", show(median(names[r], column[i]))
		print notes(names[r])
	}
	if (!ratios || rows < 2)
		exit
	heading("  in multiples of pmp's")
	for (r = 2; r <= rows; r++) {
		printf "%-" wide "s", names[r]
		for (i = 1; i <= width; i++) {
			base = median(names[1], column[i])
			value = median(names[r], column[i])
			printf "%s", show(base > 0 && value != "" ? value / base : "")
		}
		print ""
	}
}
