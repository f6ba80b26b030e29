// SPDX-License-Identifier: MIT
// error: E0515|E0716
// A region ends with its block.
pub fn misuse() -> &'static tach::Region {
    tach::region!("escapes")
}
