// SPDX-License-Identifier: MIT
// error: E0133
// The temporary of region! might move.
pub struct Here;
impl tach::Place for Here {
    fn site() -> &'static tach::Site {
        tach::Site::get("here").unwrap()
    }
}
pub fn misuse() -> tach::Guard<Here> {
    let guard = tach::Guard::<Here>::new();
    let _ = &*guard;
    guard
}
