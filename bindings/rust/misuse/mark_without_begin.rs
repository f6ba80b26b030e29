// SPDX-License-Identifier: MIT
// error: E0599
// A mark that no reader began.
pub fn misuse(reader: &tach::Reader) {
    let mark = tach::Mark::new();
    reader.end(&mark);
}
