# Shell completions, installed into the folders that the shells search.
COMPLETIONSDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
install uninstall: export COMPLETIONSDIR := $(COMPLETIONSDIR)
install uninstall: export ZSHDIR := $(ZSHDIR)
install uninstall: export FISHDIR := $(FISHDIR)
install_files += tools/completion/tach.bash=$$COMPLETIONSDIR/tach tools/completion/tach.zsh=$$ZSHDIR/_tach \
	tools/completion/tach.fish=$$FISHDIR/tach.fish
# Packages for their test (tests/check/slow/completions.sh).
slow_packages += zsh fish
