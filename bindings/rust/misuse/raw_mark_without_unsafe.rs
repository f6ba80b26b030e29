// SPDX-License-Identifier: MIT
// error: E0133
// A raw mark that nothing filled.
pub fn misuse(reader: &tach::Reader) {
    reader.end_raw(&std::mem::MaybeUninit::uninit(), &mut [0; 16]);
}
