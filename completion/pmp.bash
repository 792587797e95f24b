# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Completion of pmp in bash. What options there are pmp itself tells (--list-options): a
# line for each with its letter, name, value, words and help.

# Completions of the word in hand that stand for processes: ids, shown with their names
# while there are several. A name is completed to its id. $2: task, for threads.
_pmp_ids() {
	local word=$1 before='' comm id name line found=()

	case $word in
	*,*) before=${word%,*}, word=${word##*,} ;;
	esac
	# shellcheck disable=SC2231 # a pattern
	for comm in /proc/[0-9]*/${2:+task/[0-9]*/}comm; do
		id=${comm%/comm} id=${id##*/}
		{ read -r name <"$comm"; } 2>/dev/null || continue
		[[ $id == "$word"* || $name == "$word"* ]] || continue
		# Kernel threads have no command line.
		{ read -r -n 1 -d '' line <"${comm%/comm}/cmdline"; } 2>/dev/null
		# It may end up in the command line: nothing of a name is to be run there.
		[[ -z $line ]] || found+=("$before$id (${name//[^[:alnum:]_.:+\/-]/_})")
	done
	[[ ${#found[@]} -ne 1 ]] || found=("${found[0]%% (*}")
	COMPREPLY=("${found[@]}")
}

# Any user may give a process any name: none is to be expanded (compgen -W would do that).
_pmp_names() {
	local comm name quoted
	local -A seen=()

	for comm in /proc/[0-9]*/comm; do
		{ IFS= read -r name <"$comm"; } 2>/dev/null || continue
		[[ -n $name && $name == "$1"* && -z ${seen["x$name"]+x} ]] || continue
		seen["x$name"]=1
		printf -v quoted %q "$name"
		COMPREPLY+=("$quoted")
	done
}

_pmp_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "$@")
}

# The value of an option: $1 its name, $2 what it is called, $3 its words, $4 so far.
_pmp_value() {
	if [[ $3 != - ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$3" -- "$4")
		return
	fi
	case $1:$2 in
	*:PID*) _pmp_ids "$4" ;;
	*:TID*) _pmp_ids "$4" task ;;
	*:FILE* | *:BASE*) _pmp_files -f -- "$4" ;;
	*:DIR*) _pmp_files -d -- "$4" ;;
	--name:*) _pmp_names "$4" ;;
	esac
}

_pmp() {
	local program=${COMP_WORDS[0]/#\~/$HOME} cur=${COMP_WORDS[COMP_CWORD]}
	local option=${COMP_WORDS[COMP_CWORD - 1]} table i letter name value words all=() equals=

	COMPREPLY=()
	# After -- it is a command's line.
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] || continue
		if declare -F _command_offset >/dev/null; then
			_command_offset $((i + 1))
		elif ((i == COMP_CWORD - 1)); then
			_pmp_files -c -- "$cur"
		else
			_pmp_files -f -- "$cur"
		fi
		return
	done
	# bash takes --stop=all for three words.
	if [[ $cur == = ]]; then
		cur='' equals=1
	elif [[ $option == = ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]} equals=1
	fi
	table=$(PMP_OPTS='' "$program" --list-options 2>/dev/null) || return
	while IFS=$'\t' read -r letter name value words _; do
		all+=("$name")
		[[ $option == "$letter" && $letter != - || $option == "$name" ]] || continue
		[[ $value == - || $value == \[* && ! $equals ]] && continue
		_pmp_value "$name" "$value" "$words" "$cur"
		return
	done <<<"$table"
	case $cur in
	-*) mapfile -t COMPREPLY < <(compgen -W "${all[*]}" -- "$cur") ;;
	[0-9]*) _pmp_ids "$cur" ;;
	*)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -X '!*.gz' -- "$cur"
			compgen -f -X '!*.pb' -- "$cur"
			compgen -f -X '!*.pprof' -- "$cur"
			compgen -d -- "$cur")
		;;
	esac
}

complete -F _pmp pmp
