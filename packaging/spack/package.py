# SPDX-License-Identifier: MIT
# A recipe for Spack. Put it into a repository of yours as packages/tach/package.py (spack repo create); `spack checksum
# tach` adds the checksum of the archive that `make release` made, `spack dev-build tach@0.2.0` builds
# a checkout.
from spack.package import *


class Tach(MakefilePackage):
    """Hardware performance counters by region: threads read their own in tens of instructions."""

    homepage = "https://example.org/tach"
    url = "https://example.org/tach/tach-0.2.0.tar.xz"

    license("MIT")

    version("0.2.0")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("liburcu")

    requires("platform=linux")
    requires("target=x86_64:", "target=aarch64:", "target=riscv64:", policy="one_of")

    def edit(self, spec, prefix):
        pass

    @property
    def folders(self):
        return [
            f"PREFIX={self.prefix}",
            f"LIBDIR={self.prefix.lib}",
            f"INCLUDEDIR={self.prefix.include}",
            f"MANDIR={self.prefix.share.man}",
        ]

    def build(self, spec, prefix):
        make("all", *self.folders)

    def install(self, spec, prefix):
        make("install", *self.folders)

    @run_after("install")
    def check_install(self):
        Executable(self.prefix.bin.tach)("--version")
