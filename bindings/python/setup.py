# SPDX-License-Identifier: MIT
"""Builds the extension module with an installed libtach, which pkg-config finds. pyproject.toml has all other settings."""
import pathlib
import shlex
import subprocess
import sys

from setuptools import Extension, setup


def pkg_config(what):
    try:
        found = subprocess.run(["pkg-config", what, "tach"], check=True, capture_output=True, text=True)
    except FileNotFoundError:
        sys.exit("tach: pkg-config is not installed (Debian: apt-get install pkg-config)")
    except subprocess.CalledProcessError as error:
        sys.exit(f"tach: the C library is not found: {error.stderr.strip()}\n"
                 "Install it first (make install), or set PKG_CONFIG_PATH to its lib/pkgconfig.")
    return shlex.split(found.stdout)


# A source archive is made without the library.
builds = not {"sdist", "egg_info", "dist_info", "clean"}.issuperset(a for a in sys.argv[1:] if not a.startswith("-"))
setup(
    ext_modules=[Extension(
        "tach._tach", sorted(str(path) for path in pathlib.Path("src").glob("*.c")), depends=["src/tachmodule.h"],
        define_macros=[("Py_LIMITED_API", "0x030a0000")], py_limited_api=True,
        extra_compile_args=pkg_config("--cflags") if builds else [], extra_link_args=pkg_config("--libs") if builds else [])],
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
