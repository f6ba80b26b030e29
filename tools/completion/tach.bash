# SPDX-License-Identifier: MIT
# bash completion of tach. It gets commands, options, PMUs and events from the command itself, so it is never out of
# date.

_tach_options() {
	"$1" "$2" --help 2>/dev/null | grep -oE -- '(^|[[:space:],([|])--?[a-zA-Z][a-zA-Z0-9-]*' | tr -d ' ,([|\t' | sort -u
}

# The list of events is long: offer only those that begin like the text after the last comma.
_tach_events() {
	local word=$2 before=
	[[ $word == *,* ]] && before=${word%,*}, word=${word##*,}
	[[ -n $word ]] || return
	"$1" list "$word*" 2>/dev/null | awk -v before="$before" '/^  [^ ]/ { print before $1 }' | sort -u
}

# Offers the processes that the user may inspect: their own, or all for root.
_tach_processes() {
	local folder
	for folder in /proc/[1-9]*; do
		[[ -O $folder || $EUID == 0 ]] && echo "${folder#/proc/}"
	done
}

_tach() {
	local tach=$1 word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]:-} i
	# Bash splits "--format=csv" into three words.
	[[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD-2]}
	[[ $word == = ]] && word=
	COMPREPLY=()
	compopt +o default 2>/dev/null
	if ((COMP_CWORD == 1)) || [[ $command == help && $COMP_CWORD == 2 ]]; then
		mapfile -t COMPREPLY < <(compgen -W "help $("$tach" --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')" -- "$word")
		return
	fi
	if [[ $command == run ]]; then
		# Words after the program's name belong to that program.
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--) break;;
			-e | -m | -o | -I | -p | -r | --events | --metrics | --output | --format | --interval | --pid | --repeat | --ambient | --trace)
				[[ ${COMP_WORDS[i+1]} == = ]] && ((i++)); ((i++));;
			-*) [[ ${COMP_WORDS[i+1]} == = ]] && ((i += 2));;
			*) compopt -o default 2>/dev/null; return;;
			esac
		done
	fi
	if [[ ($command == top && $word != -*) || ($command =~ ^(report|run)$ && $previous =~ ^(-p|--pid)$) ]] &&
	   [[ ! $previous =~ ^(-[iscr]|--interval|--sort|--columns|--region)$ ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_tach_processes)" -- "$word")
		return
	fi
	# Bash splits "--format=csv" into the option, "=" and the value.
	[[ $word == = ]] && word=
	[[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD-2]}
	case $previous in
	--format) [[ $command =~ ^(diff|gate)$ ]] && mapfile -t COMPREPLY < <(compgen -W 'text json csv junit markdown html' -- "$word") && return;;&
	--format) mapfile -t COMPREPLY < <(compgen -W 'text json csv prometheus html' -- "$word"); return;;
	-p | --pmu) mapfile -t COMPREPLY < <(compgen -W "$("$tach" list --all 2>/dev/null | awk '/^  [^ ]/ { print $1 }')" -- "$word"); return;;
	-o | --output | -f | --file | --root | --tracefs | --sysfs) compopt -o default 2>/dev/null; return;;
	-s | --sort) mapfile -t COMPREPLY < <(compgen -W 'region calls time self threads avg p99' -- "$word"); return;;
	-e | --events) mapfile -t COMPREPLY < <(_tach_events "$tach" "$word"); compopt -o nospace 2>/dev/null; return;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_tach_options "$tach" "$command")" -- "$word")
	elif [[ $command == derived && $COMP_CWORD == 2 ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'check list show eval' -- "$word")
	elif [[ $command == history && $COMP_CWORD == 2 ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'add show page' -- "$word")
	elif [[ $command == encode || $command == dispatch || $command == list ]]; then
		mapfile -t COMPREPLY < <(_tach_events "$tach" "$word")
	else
		compopt -o default 2>/dev/null
		[[ $command == run && $previous != -- ]] && mapfile -t COMPREPLY < <(compgen -c -- "$word")
	fi
}
complete -F _tach tach
