#compdef tach
# SPDX-License-Identifier: MIT
# zsh completion of tach. It gets commands, options, PMUs and events from the command itself, so it is never out of
# date.

_tach_options() {
	compadd -- ${(u)${(f)"$(_call_program options $tach $command --help 2>/dev/null | grep -oE -- '(^|[[:space:],([|])--?[a-zA-Z][a-zA-Z0-9-]*' | tr -d ' ,([|\t')"}}
}

# The list of events is long: offer only those that begin like the text after the last comma.
_tach_events() {
	compset -P '*,'
	[[ -n $PREFIX ]] && compadd -S '' -- ${(u)${(f)"$(_call_program events $tach list ${(q)PREFIX}'\*' 2>/dev/null | awk '/^  [^ ]/ { print $1 }')"}}
}

_tach() {
	local tach=$words[1] command=$words[2] previous=$words[CURRENT-1] i
	if (( CURRENT == 2 )) || [[ $command == help && $CURRENT == 3 ]]; then
		compadd help $(_call_program commands $tach --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')
		return
	fi
	if [[ $command == run ]]; then
		# Words after the program's name belong to that program.
		for (( i = 3; i < CURRENT; i++ )); do
			case $words[i] in
			--) shift i words; (( CURRENT -= i )); _normal; return;;
			-e | -m | -o | -I | -p | -r | --events | --metrics | --output | --format | --interval | --pid | --repeat | --ambient | --trace) (( i++ ));;
			-*) ;;
			*) shift $((i - 1)) words; (( CURRENT -= i - 1 )); _normal; return;;
			esac
		done
	fi
	if [[ ($command == top && $PREFIX != -*) || ($command == (report|run) && $previous == (-p|--pid)) ]] &&
	   [[ ! $previous =~ '^(-[iscr]|--interval|--sort|--columns|--region)$' ]]; then
		_pids
		return
	fi
	case $previous in
	--format) [[ $command == (diff|gate) ]] && compadd text json csv junit markdown html || compadd text json csv prometheus html; return;;
	-s | --sort) compadd region calls time self threads avg p99; return;;
	-p | --pmu) compadd -- $(_call_program pmus $tach list --all 2>/dev/null | awk '/^  [^ ]/ { print $1 }'); return;;
	-o | --output | -f | --file | --root | --tracefs | --sysfs) _files; return;;
	-e | --events) _tach_events; return;;
	esac
	if [[ $PREFIX == -* ]]; then
		_tach_options
	elif [[ $command == derived && $CURRENT == 3 ]]; then
		compadd check list show eval
	elif [[ $command == history && $CURRENT == 3 ]]; then
		compadd add show page
	elif [[ $command == (encode|dispatch|list) ]]; then
		_tach_events
	elif [[ $command == run ]]; then
		_command_names -e
	else
		_files
	fi
}

_tach "$@"
