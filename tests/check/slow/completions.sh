#!/usr/bin/env bash
# Completion in zsh and fish, as in a terminal (bash: tests/unit/tools/options.sh).
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tools/need zsh fish || { echo "skip completions: zsh or fish is not installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/zsh" "$work/bin"
# Use the command of this build, without reports of sanitizers between the words.
ln -s "$PWD/$B/tach" "$work/bin/tach"
export PATH=$work/bin:$PATH HOME=$work/home TACH_PMU=skl TERM=dumb
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME
cp tools/completion/tach.zsh "$work/zsh/_tach"

# Prints the completion after these words. The following text is typed immediately: the shell reads it after
# completion.
cat >"$work/tab.zsh" <<'TAB'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= PS2= RPS1=; unsetopt prompt_sp prompt_cr beep; LISTMAX=100000; fpath=($1 \$fpath)"
zpty -w shell "autoload -Uz compinit; compinit -u -D; compdef _tach tach; zstyle ':completion:*' menu no; zstyle ':completion:*' insert-tab false; PS1='RE%{%}ADY'"
zpty -r shell out '*READY*' # the line editor is there
zpty -w -n shell "$2"$'\t\t'
zpty -w shell $'\C-u'"print DO''NE"
zpty -r shell out '*DONE*'
print -r -- "$out"
TAB
in_zsh() { zsh -f "$work/tab.zsh" "$work/zsh" "$1" 2>&1 | tr -d '\r'; }
in_fish() { fish --no-config -c 'source tools/completion/tach.fish; complete -C $argv[1]' "$1" 2>&1; }

failed=0
# LINE, a word that completion must offer, one that it must not offer.
brings() {
	local shell said bad
	for shell in zsh fish; do
		said=$("in_$shell" "$1") bad=
		grep -qE -- "(^|[^[:alnum:]_-])$2" <<<"$said" || bad="$2 is missing"
		! grep -qE -- "(^|[^[:alnum:]_-])$3([^[:alnum:]_-]|$)" <<<"$said" || bad="$3 is there"
		if [ -z "$bad" ]; then echo "ok completions $shell: $1"; continue; fi
		sed 's/^/# /' <<<"$said" | head -n 20
		echo "not ok completions $shell: $1 ($bad)"
		failed=1
	done
}
brings 'tach do' doctor encode
brings 'tach help di' dispatch doctor
brings 'tach run --to' --topdown --json
brings 'tach encode INST_RET' INST_RETIRED CPU_CLK_UNHALTED
brings 'tach run -e cycles,INST_RET' INST_RETIRED CPU_CLK_UNHALTED
brings 'tach report --format=x --format pro' prometheus html
brings 'tach encode -p hs' hsw skx
brings 'tach top -s t' time calls
brings 'tach diff --format j' junit html
brings 'tach derived ch' check show
brings 'tach history a' add check
brings 'tach run -- hea' head doctor
exit $failed
