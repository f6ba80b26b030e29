arch_of_aarch64 := arm64
harden_arm64 := -mbranch-protection=pac-ret
# The linker's workaround for an erratum of Cortex-A53 (843419) sends a load through two branches if it is at the end
# of a page: two instructions more than the source has.
exact_arm64 := -mno-fix-cortex-a53-843419
