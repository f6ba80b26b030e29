// SPDX-License-Identifier: MIT
// error: E0507
// Nor be moved out of their block.
pub fn misuse() -> tach::Region {
    let region = tach::region!("moved");
    *region
}
