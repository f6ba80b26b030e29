// SPDX-License-Identifier: MIT
// error: E0599
// A mark must come from begin().
pub fn misuse(reader: &tach::Reader) {
    let mark = tach::Mark::new();
    reader.end(&mark);
}
