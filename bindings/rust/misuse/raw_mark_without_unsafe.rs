// SPDX-License-Identifier: MIT
// error: E0133
// The raw mark may be uninitialised.
pub fn misuse(reader: &tach::Reader) {
    reader.end_raw(&std::mem::MaybeUninit::uninit(), &mut [0; 16]);
}
