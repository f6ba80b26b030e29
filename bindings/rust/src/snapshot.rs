// SPDX-License-Identifier: MIT
use crate::error::{text, Error};
use crate::{sys, Flags};
use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// The sums of all regions at one moment.
///
/// ```
/// tach::Regions::new().events("").start()?;
/// for _ in 0..3 {
///     let _region = tach::region!("thrice");
/// }
/// let snapshot = tach::Snapshot::take()?;
/// let region = snapshot.regions().find(|r| r.name == "thrice").unwrap();
/// assert_eq!(region.calls, 3);
/// println!("{} ns\n{}", snapshot.value(&region, "time").unwrap().value, snapshot.report(tach::Format::Text)?);
/// # Ok::<(), tach::Error>(())
/// ```
pub struct Snapshot(*mut sys::Snapshot);

// A snapshot does not change.
unsafe impl Send for Snapshot {}
unsafe impl Sync for Snapshot {}

impl Drop for Snapshot {
    fn drop(&mut self) {
        unsafe { sys::tach_snapshot_free(self.0) }
    }
}

/// A region of a [`Snapshot`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RegionInfo {
    number: c_int,
    pub name: String,
    pub file: String,
    pub function: String,
    pub line: u32,
    pub entries: u64,
    /// Entries that were measured and completed.
    pub calls: u64,
    /// Calls that were not inside the same region.
    pub outermost: u64,
    pub threads: u32,
    /// Entries that were not stopped.
    pub lost: u64,
}

/// One quantity of one region, with its provenance.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Value {
    /// The value without the cost of measuring it.
    pub value: f64,
    /// The value that was counted, with this cost.
    pub raw: f64,
    pub overhead: f64,
    /// Bound of the error of `value`.
    pub error: f64,
    pub flags: Flags,
}

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    Csv,
    Prometheus,
    Html,
}

unsafe extern "C" fn append(context: *mut c_void, piece: *const c_char, length: usize) -> c_int {
    (*context.cast::<Vec<u8>>())
        .extend_from_slice(std::slice::from_raw_parts(piece.cast(), length));
    0
}

impl Snapshot {
    pub fn take() -> Result<Snapshot, Error> {
        let (mut out, mut told) = (ptr::null_mut(), Error::told());
        let code = unsafe { sys::tach_snapshot_take(&mut out, &mut told) };
        Error::check(code, &told)?;
        Ok(Snapshot(out))
    }
    /// The regions, by descending time.
    pub fn regions(&self) -> impl Iterator<Item = RegionInfo> + '_ {
        let n = unsafe { sys::tach_snapshot_nregions(self.0) };
        (0..n).map(move |number| unsafe {
            let mut info: sys::RegionInfo = std::mem::zeroed();
            info.size = std::mem::size_of::<sys::RegionInfo>() as u32;
            sys::tach_snapshot_region(self.0, number, &mut info);
            RegionInfo {
                number,
                name: text(info.name),
                file: text(info.file),
                function: text(info.function),
                line: info.line,
                entries: info.entries,
                calls: info.calls,
                outermost: info.outermost,
                threads: info.threads,
                lost: info.lost,
            }
        })
    }
    /// "time", then the members of the set, then its metrics.
    pub fn quantities(&self) -> Vec<String> {
        unsafe {
            let members = (0..sys::tach_snapshot_nquantities(self.0))
                .map(|i| text(sys::tach_snapshot_quantity(self.0, i)));
            let metrics = (0..sys::tach_snapshot_nmetrics(self.0))
                .map(|i| text(sys::tach_snapshot_metric(self.0, i)));
            members.chain(metrics).collect()
        }
    }
    /// A region's value with nested regions. Returns None if there is no such quantity.
    pub fn value(&self, region: &RegionInfo, quantity: &str) -> Option<Value> {
        self.part(region, quantity, 0)
    }
    /// A region's value without nested regions.
    pub fn self_value(&self, region: &RegionInfo, quantity: &str) -> Option<Value> {
        self.part(region, quantity, 1)
    }
    fn part(&self, region: &RegionInfo, quantity: &str, part: c_int) -> Option<Value> {
        let i = self.quantities().iter().position(|q| q == quantity)? as c_int;
        let mut v = sys::Value::default();
        let code = unsafe {
            let members = sys::tach_snapshot_nquantities(self.0);
            if i < members {
                sys::tach_snapshot_value(self.0, region.number, i, part, &mut v)
            } else {
                sys::tach_snapshot_derived(self.0, region.number, i - members, part, &mut v)
            }
        };
        (code == 0).then(|| Value {
            value: v.value,
            raw: v.raw,
            overhead: v.overhead,
            error: v.error,
            flags: Flags(v.flags),
        })
    }
    /// The parts that are missing and why, or "".
    pub fn missing(&self) -> String {
        unsafe { text(sys::tach_snapshot_missing(self.0)) }
    }
    pub fn report(&self, format: Format) -> Result<String, Error> {
        let options = sys::ReportOptions {
            size: std::mem::size_of::<sys::ReportOptions>() as u32,
            format: format as c_int,
            color: 0,
            width: 0,
            ascii: 0,
        };
        let (mut out, mut told) = (Vec::new(), Error::told());
        let context = ptr::addr_of_mut!(out).cast();
        let code = unsafe { sys::tach_report_write(self.0, &options, append, context, &mut told) };
        Error::check(code, &told)?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
    /// Writes to a file, in the format of its suffix.
    pub fn write(&self, file: impl AsRef<Path>) -> Result<(), Error> {
        let file = CString::new(file.as_ref().as_os_str().as_bytes())
            .map_err(|_| Error::plain(-22, "a NUL character in a file's name"))?;
        let mut told = Error::told();
        let code = unsafe { sys::tach_report_file(self.0, ptr::null(), file.as_ptr(), &mut told) };
        Error::check(code, &told)
    }
}
