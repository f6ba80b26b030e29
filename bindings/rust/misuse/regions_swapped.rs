// SPDX-License-Identifier: MIT
// error: E0308
// Marks must not move while their regions are open.
pub fn misuse() {
    let one = tach::region!("one");
    let two = tach::region!("two");
    std::mem::swap::<tach::Region>(one, two);
}
