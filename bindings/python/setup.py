# SPDX-License-Identifier: MIT
"""Builds the package against an installed libtach, found by pkg-config, or by CFLAGS and LDFLAGS."""
import shlex
import subprocess

from setuptools import Extension, setup

MODULE = "tach._tach"


def pkg_config(*what):
    try:
        return shlex.split(subprocess.run(["pkg-config", *what, "tach"], check=True, capture_output=True, text=True).stdout)
    except (OSError, subprocess.CalledProcessError):
        return []


setup(
    name="tach",
    version="0.2.0",
    description="Hardware performance counters of the calling thread, by region of code",
    license="MIT",
    packages=["tach"],
    package_data={"tach": ["py.typed", "*.pyi"]},
    python_requires=">=3.10",
    ext_modules=[Extension(
        MODULE, [f"src/{name}.c" for name in ("module", "counts", "quantities", "reader", "region", "set", "snapshot")],
        depends=["src/tachmodule.h"], define_macros=[("Py_LIMITED_API", "0x030a0000")], py_limited_api=True,
        extra_compile_args=pkg_config("--cflags"), extra_link_args=pkg_config("--libs") or ["-ltach"])],
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
    entry_points={"pytest11": ["tach = tach.pytest_plugin"]},
)
