// SPDX-License-Identifier: MIT
use std::fmt;

/// How a value was obtained. Without flags, the value is exact and uninterrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u32);

const NAMES: [&str; 13] = [
    "rescheduled",
    "incomplete",
    "syscall",
    "scaled",
    "mixed",
    "lost",
    "clock-estimate",
    "divzero",
    "stale",
    "small",
    "corrected",
    "emulated",
    "shared",
];

impl Flags {
    pub const RESCHEDULED: Flags = Flags(0x0001);
    pub const INCOMPLETE: Flags = Flags(0x0002);
    pub const SYSCALL: Flags = Flags(0x0004);
    pub const SCALED: Flags = Flags(0x0008);
    pub const MIXED: Flags = Flags(0x0010);
    pub const LOST: Flags = Flags(0x0020);
    pub const CLOCK: Flags = Flags(0x0040);
    pub const DIVZERO: Flags = Flags(0x0080);
    pub const STALE: Flags = Flags(0x0100);
    pub const SMALL: Flags = Flags(0x0200);
    pub const CORRECTED: Flags = Flags(0x0400);
    pub const EMULATED: Flags = Flags(0x0800);
    pub const SHARED: Flags = Flags(0x1000);

    /// Returns true if all of these flags are set.
    pub fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Returns true if no flag is set: the value is exact and uninterrupted.
    pub fn is_exact(self) -> bool {
        self.0 == 0
    }
    /// Returns true if the event counted all the time: the value is neither lost nor incomplete.
    pub fn is_complete(self) -> bool {
        self.0 & (Flags::LOST.0 | Flags::INCOMPLETE.0) == 0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact() {
            return f.write_str("exact");
        }
        let mut comma = "";
        for (bit, name) in NAMES.iter().enumerate() {
            if self.0 >> bit & 1 != 0 {
                write!(f, "{comma}{name}")?;
                comma = ", ";
            }
        }
        Ok(())
    }
}
