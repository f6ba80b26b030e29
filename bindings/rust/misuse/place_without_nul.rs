// SPDX-License-Identifier: MIT
// error: E0080
// C would read beyond the end of this name.
pub static SITE: tach::Site = tach::Site::place("name", "file\0", "function\0", 1, false);
