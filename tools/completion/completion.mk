# bash completion, where bash-completion looks for that of a command.
COMPLETIONSDIR ?= $(PREFIX)/share/bash-completion/completions
install_files += tools/completion/tach=$$COMPLETIONSDIR/tach
