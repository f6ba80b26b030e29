// SPDX-License-Identifier: MIT
// error: E0277
// A region must stay in its thread.
pub fn misuse() {
    let region = tach::region!("sent");
    std::thread::scope(|s| {
        s.spawn(|| region.stop());
    });
}
