// SPDX-License-Identifier: MIT
// error: E0080
// A name that C would read beyond its end.
pub static SITE: tach::Site = tach::Site::place("name", "file\0", "function\0", 1, false);
