arch_of_aarch64 := arm64
harden_arm64 := -mbranch-protection=pac-ret
