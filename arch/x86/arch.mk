arch_of_x86_64 := x86
harden_x86 := -fcf-protection=return
