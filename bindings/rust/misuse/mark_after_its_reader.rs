// SPDX-License-Identifier: MIT
// error: E0505
// A mark must not outlive its reader.
pub fn misuse(reader: tach::Reader, other: &tach::Reader) {
    let mark = reader.begin();
    drop(reader);
    other.end(&mark);
}
