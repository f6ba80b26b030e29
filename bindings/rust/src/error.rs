// SPDX-License-Identifier: MIT
use crate::sys;
use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::{c_char, c_int};

/// An error of the library: one sentence, with a remedy if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: i32,
    line: u32,
    column: u32,
    text: String,
}

impl Error {
    /// One of `enum tach_code`, or a negated errno.
    pub fn code(&self) -> i32 {
        self.code
    }
    /// The column of the error in a malformed string, from 1. 0: unknown.
    pub fn column(&self) -> u32 {
        self.column
    }
    /// The line of the error in a malformed file or text, from 1. 0: unknown.
    pub fn line(&self) -> u32 {
        self.line
    }
    pub(crate) fn told() -> sys::Error {
        sys::Error {
            size: std::mem::size_of::<sys::Error>() as u32,
            code: 0,
            line: 0,
            column: 0,
            text: [0; 256],
        }
    }
    pub(crate) fn check(code: c_int, told: &sys::Error) -> Result<(), Error> {
        if code >= 0 {
            return Ok(());
        }
        let mut text = unsafe { text(told.text.as_ptr()) };
        if text.is_empty() {
            text = unsafe { text_of(code) };
        }
        Err(Error {
            code,
            line: told.line.max(0) as u32,
            column: told.column.max(0) as u32,
            text,
        })
    }
    pub(crate) fn plain(code: c_int, text: &str) -> Error {
        Error {
            code,
            line: 0,
            column: 0,
            text: text.into(),
        }
    }
}

unsafe fn text_of(code: c_int) -> String {
    text(sys::tach_strerror(code))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

/// # Safety
/// `at` is NULL, or a C string that lives until this function returns.
pub(crate) unsafe fn text(at: *const c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    CStr::from_ptr(at).to_string_lossy().into_owned()
}

pub(crate) fn c_string(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::plain(-22, "a NUL character in a string"))
}

pub(crate) fn optional(text: &Option<String>) -> Result<Option<CString>, Error> {
    text.as_deref().map(c_string).transpose()
}

pub(crate) fn pointer(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(std::ptr::null(), |t| t.as_ptr())
}
