// SPDX-License-Identifier: MIT
// error: E0451
// Only a reader can create a mark.
pub fn misuse(reader: &tach::Reader) {
    let mark = tach::Mark {
        raw: unsafe { std::mem::zeroed() },
        at: std::time::Instant::now(),
        of: reader,
    };
    reader.end(&mark);
}
