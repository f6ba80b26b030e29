# SPDX-License-Identifier: MIT
# fish completion of tach. It gets commands, options, PMUs and events from the command itself, so it is never out of
# date.

function __tach_commands
	echo help
	tach --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p'
end

function __tach_options
	set -l words (commandline -opc)
	tach $words[2] --help 2>/dev/null | grep -oE -- '(^|[[:space:],([|])--?[a-zA-Z][a-zA-Z0-9-]*' | tr -d ' ,([|\t' | sort -u
end

# The list of events is long: offer only those that begin like the text after the last comma.
function __tach_events
	set -l parts (string match -r '^(.*,|)([^,]+)$' -- (commandline -ct))
	or return
	tach list "$parts[3]*" 2>/dev/null | awk -v before="$parts[2]" '/^  [^ ]/ { print before $1 }' | sort -u
end

# For `run`: the arguments from the program's name on belong to that program.
function __tach_program
	set -l words (commandline -opc)
	test "$words[2]" = run; or return 1
	set -e words[1..2]
	while set -q words[1]
		switch $words[1]
			case --
				set -e words[1]
				break
			case -e -m -o -I -p -r --events --metrics --output --format --interval --pid --repeat --ambient --trace
				set -e words[1]
			case '-*'
			case '*'
				break
		end
		set -e words[1]
	end
	set -q words[1]; and string join \n -- $words
end

function __tach_after
	set -l words (commandline -opc)
	contains -- $words[-1] $argv
end

function __tach_in
	set -l words (commandline -opc)
	set -q words[2]; and contains -- $words[2] $argv; and not __tach_program >/dev/null
end

complete -c tach -f
complete -c tach -n 'test (count (commandline -opc)) = 1; or begin; __tach_in help; and test (count (commandline -opc)) = 2; end' -a '(__tach_commands)'
complete -c tach -n 'test (count (commandline -opc)) -gt 1; and string match -q -- "-*" (commandline -ct); and not __tach_program >/dev/null' -a '(__tach_options)'
complete -c tach -n '__tach_after --format; and not __tach_in diff gate' -a 'text json csv prometheus html'
complete -c tach -n '__tach_after --format; and __tach_in diff gate' -a 'text json csv junit markdown html'
complete -c tach -n '__tach_after -p --pmu; and not __tach_in report top run' -a "(tach list --all 2>/dev/null | awk '/^  [^ ]/ { print \$1 }')"
complete -c tach -n '__tach_after -e --events; or __tach_in encode dispatch list' -a '(__tach_events)'
complete -c tach -n '__tach_in top; and __tach_after -s --sort' -a 'region calls time self threads avg p99'
complete -c tach -n 'begin; __tach_in top; and not __tach_after -s --sort -c --columns -r --region -i --interval; end; or begin; __tach_in report run; and __tach_after -p --pid; end' -a '(__fish_complete_pids)'
complete -c tach -n '__tach_in derived; and test (count (commandline -opc)) = 2' -a 'check list show eval'
complete -c tach -n '__tach_in history; and test (count (commandline -opc)) = 2' -a 'add show page'
complete -c tach -n '__tach_in run; and not __tach_after -p --pid' -a '(__fish_complete_command)'
complete -c tach -n '__tach_program >/dev/null' -a '(__fish_complete_subcommand --commandline (__tach_program))'
complete -c tach -n '__tach_in report gate history; and not __tach_after -p' -F
complete -c tach -n '__tach_after -o --output -f --file --root --tracefs --sysfs' -F
