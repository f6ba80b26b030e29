// SPDX-License-Identifier: MIT
// error: E0507
// A region must not move out of its block.
pub fn misuse() -> tach::Region {
    let region = tach::region!("moved");
    *region
}
