# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion of pmp in fish. What options there are pmp itself tells (--list-options): a
# line for each with its letter, name, value, words and help.

# Ids of processes with their names; with "task" those of threads.
function __pmp_ids
    set -l before (string match -r '^.*,' -- (string replace -r '^--[^=]*=|^-[a-z]' '' -- (commandline -ct)))
    set -l comms
    # Kernel threads have no command line.
    for file in (grep -slz . /proc/*/cmdline | string match -r '^/proc/[0-9]+/.*')
        set -l process (string replace -r 'cmdline$' '' -- $file)
        if test -z "$argv[1]"
            set -a comms $process"comm"
        else
            set -a comms $process"task/"*/comm
        end
    end
    # One command for all of them: there may be thousands.
    string join0 -- $comms | xargs -0r grep -sH '' |
        string replace -r '^.*/([0-9]+)/comm:(.*)$' "$before\$1\t\$2"
end

function __pmp_names
    cat (string match -r '^/proc/[0-9]+/comm' -- /proc/*/comm) 2>/dev/null | sort -u
end

function __pmp_in_command
    contains -- -- (commandline -opc)
end

function __pmp_command
    set -l words (commandline -opc)
    set -l dashes (contains -i -- -- $words)
    complete -C (string join ' ' -- $words[(math $dashes + 1)..] (commandline -ct))
end

function __pmp_operands
    if string match -qr '^[0-9]' -- (commandline -ct)
        __pmp_ids
    else
        set -l word (commandline -ct)
        for file in $word*.gz $word*.pb $word*.pprof $word*/
            echo $file
        end
    end
end

complete -c pmp -f
complete -c pmp -n __pmp_in_command -a '(__pmp_command)'
complete -c pmp -n 'not __pmp_in_command' -a '(__pmp_operands)'

set -l tab \t
command -q pmp; and PMP_OPTS= command pmp --list-options | while read -d $tab -l letter name value words help
    set -l option -l (string sub -s 3 -- $name)
    test $letter = -; or set -a option -s (string sub -s 2 -- $letter)
    if test $value = -
        set -a option -f
    else if string match -q '[*' -- $value
        # Only after =.
        set -a option -f -a $words
    else if test $words != -
        set -a option -x -a $words
    else
        switch $name:$value
            case '*:PID*'
                set -a option -x -a '(__pmp_ids)'
            case '*:TID*'
                set -a option -x -a '(__pmp_ids task)'
            case '*:FILE*' '*:BASE*'
                set -a option -r -F
            case '*:DIR*'
                set -a option -x -a '(__fish_complete_directories)'
            case '--name:*'
                set -a option -x -a '(__pmp_names)'
            case '*'
                set -a option -x
        end
    end
    complete -c pmp -n 'not __pmp_in_command' $option -d $help
end
