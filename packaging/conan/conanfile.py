# SPDX-License-Identifier: MIT
# A recipe for Conan 2, next to the sources: `conan create packaging/conan`. It uses the version of the source.
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, load


class Tach(ConanFile):
    name = "tach"
    description = "Hardware performance counters by region: threads read their own in tens of instructions"
    license = "MIT"
    homepage = "https://example.org/tach"
    topics = ("performance", "profiling", "pmu")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": True}

    def top(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self.top(), "include", "tach", "base.h"))
        parts = re.findall(r"#define TACH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        self.version = ".".join(parts)

    def export_sources(self):
        for pattern in ("GNUmakefile", "LICENSE", "arch/*", "bench/*", "bindings/*", "compat/*", "core/*", "examples/*",
                        "include/*", "man/*", "packaging/*", "tests/*", "tools/*"):
            copy(self, pattern, self.top(), self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("tach needs Linux")

    def configure(self):
        # A library in C.
        self.settings.rm_safe("compiler.libcxx")
        self.settings.rm_safe("compiler.cppstd")

    def folders(self):
        return f"PREFIX={self.package_folder} LIBDIR={self.package_folder}/lib"

    def build(self):
        self.run(f"make -j{os.cpu_count()} lib tools {self.folders()}")

    def package(self):
        self.run(f"make install {self.folders()}")
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["tach"]
        self.cpp_info.system_libs = ["m", "pthread", "dl"]
