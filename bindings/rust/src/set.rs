// SPDX-License-Identifier: MIT
use crate::error::{optional, pointer, text, Error};
use crate::{sys, Flags};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Owned(*mut sys::Set);

// Immutable after creation; the last owner frees it.
unsafe impl Send for Owned {}
unsafe impl Sync for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        unsafe { sys::tach_set_free(self.0) }
    }
}

/// Events to count and metrics over them: immutable, shared by threads.
///
/// ```
/// let set = tach::Set::builder().events("faults=page-faults").metrics("double = 2 * faults").build()?;
/// assert_eq!(set.names().collect::<Vec<_>>(), ["faults"]);
/// assert!(tach::Set::new("no-such-event").err().unwrap().to_string().contains("no-such-event"));
/// # Ok::<(), tach::Error>(())
/// ```
#[derive(Clone)]
pub struct Set(Arc<Owned>);

/// Makes a [`Set`].
#[derive(Clone, Debug, Default)]
pub struct SetBuilder {
    events: Option<String>,
    metrics: Option<String>,
    flags: u32,
}

impl SetBuilder {
    /// Events, separated by commas; `label=event` names one.
    pub fn events(mut self, events: &str) -> Self {
        self.events = Some(events.into());
        self
    }
    /// Metrics over the events, separated by semicolons.
    pub fn metrics(mut self, metrics: &str) -> Self {
        self.metrics = Some(metrics.into());
        self
    }
    /// The kernel may multiplex: then values are scaled and flagged.
    pub fn multiplex(mut self) -> Self {
        self.flags |= sys::MULTIPLEX;
        self
    }
    /// Leaves out events that this machine cannot count; `missing` gives the reason.
    pub fn optional(mut self) -> Self {
        self.flags |= sys::OPTIONAL;
        self
    }
    /// Adds the member `interrupts` if it can be counted.
    pub fn interrupts(mut self) -> Self {
        self.flags |= sys::INTERRUPTS;
        self
    }
    /// Subtracts interrupts from retired instructions.
    pub fn correct(mut self) -> Self {
        self.flags |= sys::CORRECT;
        self
    }
    pub fn build(&self) -> Result<Set, Error> {
        let (events, metrics) = (optional(&self.events)?, optional(&self.metrics)?);
        let options = sys::SetOptions {
            size: std::mem::size_of::<sys::SetOptions>() as u32,
            events: pointer(&events),
            metrics: pointer(&metrics),
            attrs: ptr::null(),
            nattrs: 0,
            pmu: -1,
            privilege: 0,
            flags: self.flags,
        };
        let (mut set, mut told) = (ptr::null_mut(), Error::told());
        let code = unsafe { sys::tach_set_create(&options, &mut set, &mut told) };
        Error::check(code, &told)?;
        Ok(Set(Arc::new(Owned(set))))
    }
}

impl Set {
    pub fn new(events: &str) -> Result<Set, Error> {
        Set::builder().events(events).build()
    }
    pub fn builder() -> SetBuilder {
        SetBuilder::default()
    }
    fn raw(&self) -> *const sys::Set {
        self.0 .0
    }
    /// The number of members.
    pub fn len(&self) -> usize {
        unsafe { sys::tach_set_count(self.raw()) as usize }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The members' labels. A member without a label has its event's original spelling.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.len()).map(move |i| unsafe { text(sys::tach_set_name(self.raw(), i as i32)) })
    }
    /// The members' names, with all parts that the event strings left out.
    pub fn qualified(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.len()).map(move |i| unsafe { text(sys::tach_set_qualified(self.raw(), i as i32)) })
    }
    /// Names of the metrics.
    pub fn metrics(&self) -> impl Iterator<Item = String> + '_ {
        let n = unsafe { sys::tach_set_nmetrics(self.raw()) };
        (0..n).map(move |i| unsafe { text(sys::tach_set_metric_name(self.raw(), i)) })
    }
    /// The parts that were left out and why, or "".
    pub fn missing(&self) -> String {
        unsafe { text(sys::tach_set_missing(self.raw())) }
    }
    /// Opens the set for the calling thread.
    pub fn open(&self) -> Result<Reader, Error> {
        let (mut reader, mut told) = (ptr::null_mut(), Error::told());
        let code = unsafe { sys::tach_reader_open(self.raw(), &mut reader, &mut told) };
        Error::check(code, &told)?;
        Ok(Reader {
            raw: reader,
            set: self.clone(),
        })
    }
}

/// A set that is open in one thread. It cannot be sent to another:
///
/// ```compile_fail
/// let reader = tach::Set::new("page-faults").unwrap().open().unwrap();
/// std::thread::spawn(move || drop(reader));
/// ```
///
/// If an event cannot be counted here, `open` returns an error with the reason:
///
/// ```
/// match tach::Set::new("instructions").and_then(|set| set.open()) {
///     Ok(reader) => {
///         let (sum, counts) = reader.measure(|| (1..=1000u64).sum::<u64>());
///         println!("{sum}: {} instructions ({})", counts.get("instructions").unwrap(), counts.flags());
///     }
///     Err(why) => println!("{why}"),
/// }
/// ```
pub struct Reader {
    raw: *mut sys::Reader,
    set: Set,
}

/// The start of a measurement. [`Reader::begin`] makes it, and it cannot outlive the reader.
pub struct Mark<'a> {
    raw: sys::Mark,
    at: Instant,
    of: &'a Reader,
}

impl Reader {
    pub fn set(&self) -> &Set {
        &self.set
    }
    /// The reason why members are read by system calls, or "".
    pub fn missing(&self) -> String {
        unsafe { text(sys::tach_reader_missing(self.raw)) }
    }
    /// Starts a measurement. Several marks may be open, nested or not.
    #[inline]
    pub fn begin(&self) -> Mark<'_> {
        let mut mark = Mark {
            // The library writes one value for each counter.
            raw: unsafe { MaybeUninit::zeroed().assume_init() },
            at: Instant::now(),
            of: self,
        };

        unsafe { sys::tach_reader_begin(self.raw, &mut mark.raw) };
        mark
    }
    /// Ends the measurement. A mark of another reader gives zeros with [`Flags::LOST`].
    #[inline]
    pub fn end(&self, mark: &Mark<'_>) -> Counts {
        let mut values = [0; sys::COUNTERS_MAX];
        let flags = if std::ptr::eq(mark.of, self) {
            unsafe { sys::tach_reader_end(self.raw, &mark.raw, values.as_mut_ptr()) }
        } else {
            Flags::LOST.0
        };
        self.counts(values, flags, mark.at.elapsed())
    }
    /// Measures one call of the function.
    #[inline]
    pub fn measure<R>(&self, function: impl FnOnce() -> R) -> (R, Counts) {
        let mark = self.begin();
        let result = function();
        (result, self.end(&mark))
    }
    /// Writes the counts since the reader was opened, in the order of the set, and returns flags.
    #[inline]
    pub fn read(&self, values: &mut [u64; 16]) -> Flags {
        Flags(unsafe { sys::tach_reader_read(self.raw, values.as_mut_ptr()) })
    }
    /// Starts a measurement with the shortest code. The mark has 17 words, without clock and names.
    #[inline]
    pub fn begin_raw(&self, mark: &mut MaybeUninit<RawMark>) {
        unsafe { sys::tach_reader_begin(self.raw, mark.as_mut_ptr().cast()) }
    }
    /// Ends the measurement that [`Reader::begin_raw`] started.
    ///
    /// # Safety
    /// `begin_raw` of this reader has filled the mark.
    #[inline]
    pub unsafe fn end_raw(&self, mark: &MaybeUninit<RawMark>, delta: &mut [u64; 16]) -> Flags {
        Flags(sys::tach_reader_end(
            self.raw,
            mark.as_ptr().cast(),
            delta.as_mut_ptr(),
        ))
    }
    fn counts(&self, mut values: [u64; sys::COUNTERS_MAX], all: u32, time: Duration) -> Counts {
        let mut flags = [0; sys::COUNTERS_MAX];

        for (i, f) in flags.iter_mut().enumerate().take(self.set.len()) {
            *f = unsafe { sys::tach_reader_flags(self.raw, i as u32, all) };
        }
        unsafe { sys::tach_set_correct(self.set.raw(), values.as_mut_ptr(), flags.as_mut_ptr()) };
        Counts {
            set: self.set.clone(),
            values,
            flags,
            time,
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        unsafe { sys::tach_reader_close(self.raw) }
    }
}

/// Room for a mark of [`Reader::begin_raw`].
#[repr(transparent)]
pub struct RawMark(#[allow(dead_code)] sys::Mark);

/// The counts between two points, with their provenance.
#[derive(Clone)]
pub struct Counts {
    set: Set,
    values: [u64; sys::COUNTERS_MAX],
    flags: [u32; sys::COUNTERS_MAX],
    time: Duration,
}

impl Counts {
    /// The counts, in the order of the set's members.
    pub fn values(&self) -> &[u64] {
        &self.values[..self.set.len()]
    }
    /// One member's count. Returns None if the name is unknown, or the member did not count all the time.
    pub fn get(&self, name: &str) -> Option<u64> {
        let i = self.set.names().position(|n| n == name)?;
        Flags(self.flags[i]).is_complete().then(|| self.values[i])
    }
    /// The provenance of one member.
    pub fn flags_of(&self, name: &str) -> Option<Flags> {
        Some(Flags(self.flags[self.set.names().position(|n| n == name)?]))
    }
    /// The combined provenance of all members.
    pub fn flags(&self) -> Flags {
        Flags(self.flags.iter().fold(0, |all, f| all | f))
    }
    /// A metric's value, and the provenance of its operands. The value is NaN after a division by zero.
    pub fn metric(&self, name: &str) -> Option<(f64, Flags)> {
        let i = self.set.metrics().position(|n| n == name)?;
        let mut flags = 0;
        let value = unsafe {
            sys::tach_set_eval(
                self.set.raw(),
                i as i32,
                self.values.as_ptr(),
                self.flags.as_ptr(),
                self.time.as_nanos() as f64,
                &mut flags,
            )
        };
        Some((value, Flags(flags)))
    }
    pub fn time(&self) -> Duration {
        self.time
    }
}
