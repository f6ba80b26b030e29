// SPDX-License-Identifier: MIT
// error: none
// Correct use compiles.
#![forbid(unsafe_code)]
pub fn right_use(reader: &tach::Reader) -> tach::Counts {
    let region = tach::region!("right");
    let _inside = tach::region_fenced!("inside");
    let mark = reader.begin();
    region.stop();
    reader.end(&mark)
}
