# Packages that tests/journeys/lib.sh needs.
slow_packages += tmux pkg-config python3-venv python3-pip python3-dev python3-setuptools python3-wheel
