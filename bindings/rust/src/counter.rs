// SPDX-License-Identifier: MIT
//! Feature `criterion`: benchmarks by counts.
use crate::set::{RawMark, Reader, Set};
use crate::{Error, Flags};
use criterion::measurement::{Measurement, ValueFormatter};
use criterion::Throughput;
use std::cell::Cell;
use std::mem::MaybeUninit;

/// Number of empty pairs; their minimum is the cost of a measurement.
const TRIES: usize = 64;
const PREFIXES: [(f64, &str); 4] = [(1.0, ""), (1e3, "k "), (1e6, "M "), (1e9, "G ")];

/// Replaces time in criterion: counts one event of the thread that runs the benchmarks.
///
/// ```
/// use criterion::Criterion;
///
/// fn sums<M: criterion::measurement::Measurement + 'static>(criterion: &mut Criterion<M>) {
///     criterion.bench_function("sum", |b| b.iter(|| (1..=100u64).fold(0, |a, i| a ^ i)));
/// }
///
/// # let criterion = || Criterion::default().without_plots().sample_size(10).nresamples(10)
/// #     .measurement_time(std::time::Duration::from_millis(10)).warm_up_time(std::time::Duration::from_millis(1))
/// #     .output_directory(std::env::temp_dir().join(format!("tach-doctest-{}", std::process::id())).as_ref());
/// # let _: fn() -> Criterion = Criterion::default;
/// match tach::Counter::new("instructions") {
///     Ok(counter) => sums(&mut criterion().with_measurement(counter)),
///     Err(why) => {
///         eprintln!("{why}; measured by time"); // no PMU here: the benchmarks still run
///         sums(&mut criterion());
///     }
/// }
/// ```
///
/// The cost of an empty measurement is subtracted. If a count is not complete (lost, scaled), criterion prints [`Flags`]
/// after its figures: the flags of everything that this counter has counted so far.
pub struct Counter {
    reader: Reader,
    cost: u64,
    flags: Cell<u32>,
    units: [&'static str; 4],
    bytes: &'static str,
    elements: &'static str,
}

impl Counter {
    /// One event, in the form of `TACH_EVENTS`. If it cannot be counted here, the error gives the
    /// reason.
    pub fn new(event: &str) -> Result<Counter, Error> {
        let set = Set::new(event)?;
        if set.len() != 1 {
            return Err(Error::plain(-22, "criterion measures one event"));
        }
        let name = set.names().next().unwrap_or_default();
        let mut counter = Counter {
            reader: set.open()?,
            cost: 0,
            flags: Cell::new(0),
            units: PREFIXES.map(|(_, prefix)| leak(format!("{prefix}{name}"))),
            bytes: leak(format!("{name}/byte")),
            elements: leak(format!("{name}/element")),
        };
        counter.cost = (0..TRIES)
            .map(|_| counter.end(counter.start()))
            .min()
            .unwrap_or(0);
        Ok(counter)
    }
    /// The provenance of everything that this counter has counted so far.
    pub fn flags(&self) -> Flags {
        Flags(self.flags.get())
    }
    fn doubt(&self) -> String {
        let flags = self.flags();
        if flags.is_complete() && !flags.contains(Flags::SCALED) {
            return String::new();
        }
        format!(" ({flags})")
    }
}

/// Criterion needs units with static lifetime: six leaked strings for each counter.
fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// The start of a measurement of a [`Counter`], which only `start` can create:
///
/// ```compile_fail
/// use criterion::measurement::Measurement;
/// fn never_started(counter: &tach::Counter) -> u64 {
///     counter.end(std::mem::MaybeUninit::uninit())
/// }
/// ```
pub struct Started(MaybeUninit<RawMark>);

impl Measurement for Counter {
    type Intermediate = Started;
    type Value = u64;

    #[inline]
    fn start(&self) -> Self::Intermediate {
        let mut mark = MaybeUninit::uninit();
        self.reader.begin_raw(&mut mark);
        Started(mark)
    }
    #[inline]
    fn end(&self, mark: Self::Intermediate) -> u64 {
        let mut delta = [0; 16];
        // The start of this or another counter filled the mark. Each counter has one event.
        let flags = unsafe { self.reader.end_raw(&mark.0, &mut delta) };
        self.flags.set(self.flags.get() | flags.0);
        delta[0].saturating_sub(self.cost)
    }
    fn add(&self, a: &u64, b: &u64) -> u64 {
        a + b
    }
    fn zero(&self) -> u64 {
        0
    }
    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for Counter {
    fn format_value(&self, value: f64) -> String {
        let mut values = [value];
        let unit = self.scale_values(value, &mut values);
        format!("{:.3} {unit}{}", values[0], self.doubt())
    }
    fn format_throughput(&self, throughput: &Throughput, value: f64) -> String {
        let mut values = [value];
        let unit = self.scale_throughputs(value, throughput, &mut values);
        format!("{:.3} {unit}{}", values[0], self.doubt())
    }
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        let i = PREFIXES.iter().rposition(|p| typical >= p.0).unwrap_or(0);
        for value in values {
            *value /= PREFIXES[i].0;
        }
        self.units[i]
    }
    /// Counts per byte or element, because more of them is worse.
    fn scale_throughputs(&self, _: f64, per: &Throughput, values: &mut [f64]) -> &'static str {
        let (n, unit) = match per {
            Throughput::Bytes(n) => (n, self.bytes),
            Throughput::Elements(n) => (n, self.elements),
        };
        for value in values {
            *value /= *n as f64;
        }
        unit
    }
    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        self.units[0]
    }
}
