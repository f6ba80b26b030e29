// SPDX-License-Identifier: MIT
//! The C library: its symbols, and the structs whose layout is its ABI.
use std::os::raw::{c_char, c_int, c_void};

pub const COUNTERS_MAX: usize = 16;
pub const SITE_NEW: u64 = 0xffff_ffff;
pub const ERR_STATE: c_int = -5018;
pub const MULTIPLEX: u32 = 1;
pub const OPTIONAL: u32 = 2;
pub const INTERRUPTS: u32 = 4;
pub const CORRECT: u32 = 8;

pub type Begin = unsafe extern "C" fn(*mut Site, *mut RegionMark);
pub type End = unsafe extern "C" fn(*mut RegionMark);

#[repr(C)]
pub struct Site {
    pub begin: Begin,
    pub id: u64,
    pub line: u32,
    pub fenced: u32,
    pub name: *const c_char,
    pub file: *const c_char,
    pub function: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Mark {
    pub lock: u32,
    pub flags: u32,
    pub reader: *const Reader,
    pub clock: u64,
    pub enabled: u64,
    pub running: u64,
    pub value: [u64; COUNTERS_MAX],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RegionRest {
    private: [u64; 4],
    counters: Mark,
}

#[repr(C)]
pub struct RegionMark {
    pub end: Option<End>,
    pub rest: std::mem::MaybeUninit<RegionRest>,
}

macro_rules! opaque {
    ($($name:ident),*) => { $(
        #[repr(C)]
        pub struct $name {
            private: [u8; 0],
        }
    )* };
}
opaque!(Set, Reader, Snapshot);

#[repr(C)]
pub struct Error {
    pub size: u32,
    pub code: i32,
    pub line: i32,
    pub column: i32,
    pub text: [c_char; 256],
}

#[repr(C)]
pub struct SetOptions {
    pub size: u32,
    pub events: *const c_char,
    pub metrics: *const c_char,
    pub attrs: *const c_void,
    pub nattrs: c_int,
    pub pmu: c_int,
    pub privilege: u32,
    pub flags: u32,
}

#[repr(C)]
pub struct RegionsOptions {
    pub size: u32,
    pub set: *mut Set,
    pub events: *const c_char,
    pub metrics: *const c_char,
    pub only: *const c_char,
    pub sparse: u32,
    pub warmup: u32,
    pub histograms: u32,
    pub interrupts: u32,
    pub worst: *const c_char,
}

#[repr(C)]
pub struct RegionInfo {
    pub size: u32,
    pub name: *const c_char,
    pub file: *const c_char,
    pub function: *const c_char,
    pub line: u32,
    pub fenced: c_int,
    pub entries: u64,
    pub calls: u64,
    pub outermost: u64,
    pub skipped: u64,
    pub excluded: u64,
    pub nested: u64,
    pub provenance: [u64; 6],
    pub threads: u32,
    pub lost: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Value {
    pub value: f64,
    pub raw: f64,
    pub overhead: f64,
    pub error: f64,
    pub flags: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct ReportOptions {
    pub size: u32,
    pub format: c_int,
    pub color: c_int,
    pub width: c_int,
    pub ascii: c_int,
}

pub type Sink = unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> c_int;

extern "C" {
    pub fn tach__region_begin(site: *mut Site, mark: *mut RegionMark);
    pub fn tach__region_begin_fenced(site: *mut Site, mark: *mut RegionMark);
    pub fn tach_region_mark_size() -> usize;
    pub fn tach_mark_size() -> usize;
    pub fn tach_site_get(name: *const c_char) -> *mut Site;
    pub fn tach_region_read(
        mark: *const RegionMark,
        values: *mut u64,
        n: c_int,
        flags: *mut u32,
        generation: *mut u32,
    ) -> c_int;
    pub fn tach_regions_configure(opt: *const RegionsOptions, err: *mut Error) -> c_int;
    pub fn tach_regions_disable();
    pub fn tach_regions_enabled() -> c_int;
    pub fn tach_tag(tag: u64);
    pub fn tach_version() -> *const c_char;
    pub fn tach_strerror(code: c_int) -> *const c_char;

    pub fn tach_set_create(opt: *const SetOptions, out: *mut *mut Set, err: *mut Error) -> c_int;
    pub fn tach_set_free(set: *mut Set);
    pub fn tach_set_count(set: *const Set) -> c_int;
    pub fn tach_set_name(set: *const Set, member: c_int) -> *const c_char;
    pub fn tach_set_qualified(set: *const Set, member: c_int) -> *const c_char;
    pub fn tach_set_missing(set: *const Set) -> *const c_char;
    pub fn tach_set_correct(set: *const Set, deltas: *mut u64, flags: *mut u32);
    pub fn tach_set_nmetrics(set: *const Set) -> c_int;
    pub fn tach_set_metric_name(set: *const Set, metric: c_int) -> *const c_char;
    pub fn tach_set_eval(
        set: *const Set,
        metric: c_int,
        deltas: *const u64,
        flags: *const u32,
        elapsed_ns: f64,
        out_flags: *mut u32,
    ) -> f64;

    pub fn tach_reader_open(set: *const Set, out: *mut *mut Reader, err: *mut Error) -> c_int;
    pub fn tach_reader_close(reader: *mut Reader);
    pub fn tach_reader_missing(reader: *const Reader) -> *const c_char;
    pub fn tach_reader_begin(reader: *mut Reader, mark: *mut Mark);
    pub fn tach_reader_end(reader: *mut Reader, mark: *const Mark, delta: *mut u64) -> u32;
    pub fn tach_reader_read(reader: *mut Reader, value: *mut u64) -> u32;
    pub fn tach_reader_flags(reader: *const Reader, member: u32, flags: u32) -> u32;

    pub fn tach_snapshot_take(out: *mut *mut Snapshot, err: *mut Error) -> c_int;
    pub fn tach_snapshot_free(snapshot: *mut Snapshot);
    pub fn tach_snapshot_nregions(snapshot: *const Snapshot) -> c_int;
    pub fn tach_snapshot_region(
        snapshot: *const Snapshot,
        region: c_int,
        info: *mut RegionInfo,
    ) -> c_int;
    pub fn tach_snapshot_nquantities(snapshot: *const Snapshot) -> c_int;
    pub fn tach_snapshot_quantity(snapshot: *const Snapshot, quantity: c_int) -> *const c_char;
    pub fn tach_snapshot_nmetrics(snapshot: *const Snapshot) -> c_int;
    pub fn tach_snapshot_metric(snapshot: *const Snapshot, metric: c_int) -> *const c_char;
    pub fn tach_snapshot_value(
        snapshot: *const Snapshot,
        region: c_int,
        quantity: c_int,
        part: c_int,
        value: *mut Value,
    ) -> c_int;
    pub fn tach_snapshot_derived(
        snapshot: *const Snapshot,
        region: c_int,
        metric: c_int,
        part: c_int,
        value: *mut Value,
    ) -> c_int;
    pub fn tach_snapshot_missing(snapshot: *const Snapshot) -> *const c_char;
    pub fn tach_report_write(
        snapshot: *const Snapshot,
        opt: *const ReportOptions,
        sink: Sink,
        context: *mut c_void,
        err: *mut Error,
    ) -> c_int;
    pub fn tach_report_file(
        snapshot: *const Snapshot,
        opt: *const ReportOptions,
        file: *const c_char,
        err: *mut Error,
    ) -> c_int;
}
