# SPDX-License-Identifier: GPL-2.0-or-later
# C without comments, line for line; strings are kept. With -v faults=0 also without
# planted faults (base/fault.h): a line with PMP_FAULT and the one after it, which it
# guards, or its block in braces.

function blank_out(line,    out, i, c, two)
{
	out = ""
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		two = substr(line, i, 2)
		if (comment) {
			if (two == "*/") {
				comment = 0
				i++
			}
		} else if (quote != "") {
			out = out c
			if (c == "\\")
				out = out substr(line, ++i, 1)
			else if (c == quote)
				quote = ""
		} else if (two == "/*") {
			comment = 1
			i++
		} else if (two == "//") {
			break
		} else {
			if (c == "\"" || c == "'")
				quote = c
			out = out c
		}
	}
	quote = ""
	return out
}

FNR == 1 { comment = depth = guarded = 0 }
{
	line = blank_out($0)
	if (faults == "0") {
		if (depth > 0) {
			depth += gsub(/{/, "{", line) - gsub(/}/, "}", line)
			line = ""
		} else if (line ~ /PMP_FAULT\(/) {
			depth = gsub(/{/, "{", line) - gsub(/}/, "}", line)
			guarded = depth <= 0 && line !~ /;[ \t]*$/
			line = ""
		} else if (guarded) {
			guarded = line !~ /;[ \t]*$/
			line = ""
		}
	}
	print FILENAME ":" FNR ":" line
}
