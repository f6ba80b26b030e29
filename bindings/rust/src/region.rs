// SPDX-License-Identifier: MIT
//! Regions. The edges do in Rust what `tach/region.h` does inline: a store, a test, and a call
//! through the site, a test and a call through the mark. A mark must not move while its region is
//! open, so the guard is a temporary of the block that contains [`region!`](crate::region). The
//! program gets a shared reference to the guard, which can neither move nor swap it.
use crate::error::{c_string, optional, pointer, Error};
use crate::{sys, Flags};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr;

/// A place in the program, or a region by its name: [`Site::get`].
#[repr(transparent)]
pub struct Site(UnsafeCell<sys::Site>);

// The library changes the site atomically, from any thread.
unsafe impl Sync for Site {}

const fn ends_with_nul(text: &str) -> bool {
    let bytes = text.as_bytes();
    !bytes.is_empty() && bytes[bytes.len() - 1] == 0
}

impl Site {
    /// For [`region!`](crate::region): strings must end with a NUL, otherwise compilation fails.
    #[doc(hidden)]
    pub const fn place(
        name: &'static str,
        file: &'static str,
        function: &'static str,
        line: u32,
        fenced: bool,
    ) -> Site {
        assert!(ends_with_nul(name) && ends_with_nul(file) && ends_with_nul(function));
        Site(UnsafeCell::new(sys::Site {
            begin: if fenced {
                sys::tach__region_begin_fenced
            } else {
                sys::tach__region_begin
            },
            id: sys::SITE_NEW,
            line,
            fenced: fenced as u32,
            name: name.as_ptr().cast(),
            file: file.as_ptr().cast(),
            function: function.as_ptr().cast(),
        }))
    }

    /// Finds or makes the region of that name. Takes a lock: keep the result.
    /// Returns None if the name contains a NUL, or if there are more than 30,000 regions.
    pub fn get(name: &str) -> Option<&'static Site> {
        let name = c_string(name).ok()?;
        // The library owns the site and never frees it. Its layout is declared here.
        unsafe { sys::tach_site_get(name.as_ptr()).cast::<Site>().as_ref() }
    }

    #[cfg(feature = "tracing")]
    pub(crate) fn raw(&'static self) -> *mut sys::Site {
        self.0.get()
    }

    /// One entry into the region; it ends when the function returns or panics.
    ///
    /// ```
    /// let site = tach::Site::get("sum").unwrap();
    /// assert_eq!(site.measure(|| (1..=100).sum::<u32>()), 5050);
    /// ```
    #[inline(always)]
    pub fn measure<R>(&'static self, function: impl FnOnce() -> R) -> R {
        let mark = Mark::new();
        let stop = Stop(mark.0.get());

        unsafe { start(self.0.get(), stop.0) };
        function()
    }
}

/// A mark: it must not move until its region has ended.
pub(crate) struct Mark(pub(crate) UnsafeCell<sys::RegionMark>);

impl Mark {
    #[inline(always)]
    pub(crate) fn new() -> Mark {
        Mark(UnsafeCell::new(sys::RegionMark {
            end: None,
            rest: MaybeUninit::uninit(),
        }))
    }
}

struct Stop(*mut sys::RegionMark);

impl Drop for Stop {
    #[inline(always)]
    fn drop(&mut self) {
        unsafe { stop(self.0) }
    }
}

/// Volatile: compilers must not merge the test with others, because calibration counts it.
///
/// # Safety
/// `site` belongs to this program or to the library. `mark.end` is None, and the mark does not move.
#[inline(always)]
pub(crate) unsafe fn start(site: *mut sys::Site, mark: *mut sys::RegionMark) {
    if ptr::read_volatile(ptr::addr_of!((*site).id)) != 0 {
        ((*site).begin)(site, mark);
    }
}

/// On x86-64, the same instructions as C's STOP: calibration measures them.
///
/// # Safety
/// `Mark::new` made the mark, which must not have moved since its start.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn stop(mark: *mut sys::RegionMark) {
    std::arch::asm!(
        "cmp qword ptr [rdi], 0",
        "je 2f",
        "call qword ptr [rdi]",
        "2:",
        inout("rdi") mark => _,
        clobber_abi("C"),
    );
}

/// # Safety
/// `Mark::new` made the mark, which must not have moved since its start.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) unsafe fn stop(mark: *mut sys::RegionMark) {
    if let Some(end) = ptr::read_volatile(ptr::addr_of!((*mark).end)) {
        end(mark);
    }
}

/// For [`region!`](crate::region): the site, known to the compiler.
#[doc(hidden)]
pub trait Place {
    fn site() -> &'static Site;
}

/// An open region, to the end of the block. It belongs to the thread that began it: it can be
/// neither sent nor shared.
pub struct Region {
    mark: Mark,
    thread: PhantomData<*mut ()>,
}

impl Region {
    /// Ends the region before the end of the block.
    #[inline(always)]
    pub fn stop(&self) {
        unsafe { stop(self.mark.0.get()) }
    }

    /// The counts so far, with nested regions and the measurement's own cost: time in ticks of the
    /// region clock, then the members of the set. Returns None if the region is not measured.
    ///
    /// ```
    /// tach::Regions::new().events("").start()?;
    /// let region = tach::region!("so far");
    /// let (values, flags) = region.so_far().unwrap();
    /// assert!(values.len() == 1 && flags.is_exact());
    /// # Ok::<(), tach::Error>(())
    /// ```
    pub fn so_far(&self) -> Option<(Vec<u64>, Flags)> {
        let mut values = [0u64; 1 + sys::COUNTERS_MAX];
        let (mut flags, mut generation) = (0, 0);
        let n = unsafe {
            sys::tach_region_read(
                self.mark.0.get(),
                values.as_mut_ptr(),
                values.len() as i32,
                &mut flags,
                &mut generation,
            )
        };
        (n > 0).then(|| (values[..n as usize].to_vec(), Flags(flags)))
    }
}

/// The temporary that [`region!`](crate::region) borrows from. Dereferencing begins the region.
#[doc(hidden)]
pub struct Guard<P: Place> {
    region: Region,
    place: PhantomData<P>,
}

impl<P: Place> Guard<P> {
    /// # Safety
    /// Dereference it once; after that do not move or forget it.
    #[inline(always)]
    pub unsafe fn new() -> Self {
        Guard {
            region: Region {
                mark: Mark::new(),
                thread: PhantomData,
            },
            place: PhantomData,
        }
    }
}

impl<P: Place> Deref for Guard<P> {
    type Target = Region;
    #[inline(always)]
    fn deref(&self) -> &Region {
        unsafe { start(P::site().0.get(), self.region.mark.0.get()) };
        &self.region
    }
}

impl<P: Place> Drop for Guard<P> {
    #[inline(always)]
    fn drop(&mut self) {
        self.region.stop();
    }
}

#[doc(hidden)]
#[macro_export]
macro_rules! __region {
    ($name:expr, $fenced:expr) => {{
        struct Here;
        impl $crate::Place for Here {
            #[inline(always)]
            fn site() -> &'static $crate::Site {
                static SITE: $crate::Site = $crate::Site::place(
                    concat!($name, "\0"),
                    concat!(file!(), "\0"),
                    concat!(module_path!(), "\0"),
                    line!(),
                    $fenced,
                );
                &SITE
            }
        }
        // The temporary stays in the block, and only this reference can access it.
        &*unsafe { $crate::Guard::<Here>::new() }
    }};
}

/// A region from here to the end of the block, or to `stop()`.
///
/// ```
/// fn parse(text: &str) -> usize {
///     let _region = tach::region!("parse");
///     text.split(' ').count()
/// }
/// assert_eq!(parse("two words"), 2);
/// ```
///
/// The name is a literal. Use it in a `let`: without one the region ends at once. The region cannot leave the block
/// or the thread:
///
/// ```compile_fail
/// fn open() -> &'static tach::Region {
///     tach::region!("escapes")
/// }
/// ```
///
/// ```compile_fail
/// let region = tach::region!("sent");
/// std::thread::scope(|s| { s.spawn(|| region.stop()); });
/// ```
#[macro_export]
macro_rules! region {
    ($name:expr) => {
        $crate::__region!($name, false)
    };
}

/// Like `region!`, but both edges are fenced: each waits for earlier instructions, and later instructions wait for it.
///
/// ```
/// let region = tach::region_fenced!("multiply");
/// let product = 6 * 7;
/// region.stop();
/// assert_eq!(product, 42);
/// ```
#[macro_export]
macro_rules! region_fenced {
    ($name:expr) => {
        $crate::__region!($name, true)
    };
}

/// Settings of regions. The environment provides every setting that is missing here (`TACH_EVENTS`, ...).
///
/// ```
/// tach::Regions::new().events("").only("parse*").start()?;
/// assert!(tach::enabled());
/// # Ok::<(), tach::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Regions {
    events: Option<String>,
    metrics: Option<String>,
    only: Option<String>,
    worst: Option<String>,
    sparse: u32,
    warmup: u32,
    histograms: bool,
    interrupts: u32,
}

impl Regions {
    pub fn new() -> Self {
        Self::default()
    }
    /// Events, separated by commas; "": only time.
    pub fn events(mut self, events: &str) -> Self {
        self.events = Some(events.into());
        self
    }
    /// Metrics over the events, "ipc = instructions / cycles", separated by semicolons.
    pub fn metrics(mut self, metrics: &str) -> Self {
        self.metrics = Some(metrics.into());
        self
    }
    /// Globs of names, separated by commas; `!` before one excludes.
    pub fn only(mut self, globs: &str) -> Self {
        self.only = Some(globs.into());
        self
    }
    /// Number of worst entries to keep for each region: "8", "8:cycles".
    pub fn worst(mut self, worst: &str) -> Self {
        self.worst = Some(worst.into());
        self
    }
    /// Measure one entry in this many, at random.
    pub fn sparse(mut self, one_in: u32) -> Self {
        self.sparse = one_in;
        self
    }
    /// Leave out the first entries of a region in each thread.
    pub fn warmup(mut self, entries: u32) -> Self {
        self.warmup = entries;
        self
    }
    pub fn histograms(mut self) -> Self {
        self.histograms = true;
        self
    }
    /// Count interrupts, and subtract them from instructions.
    pub fn correct_interrupts(mut self) -> Self {
        self.interrupts = sys::CORRECT;
        self
    }
    /// Switches regions on, or to these options; sums start at zero again. After an error regions are
    /// unchanged. A missing PMU is such an error; the program can continue.
    pub fn start(&self) -> Result<(), Error> {
        let (events, metrics) = (optional(&self.events)?, optional(&self.metrics)?);
        let (only, worst) = (optional(&self.only)?, optional(&self.worst)?);
        let options = sys::RegionsOptions {
            size: std::mem::size_of::<sys::RegionsOptions>() as u32,
            set: ptr::null_mut(),
            events: pointer(&events),
            metrics: pointer(&metrics),
            only: pointer(&only),
            sparse: self.sparse,
            warmup: self.warmup,
            histograms: self.histograms as u32,
            interrupts: self.interrupts,
            worst: pointer(&worst),
        };
        let mut told = Error::told();
        let code = unsafe { sys::tach_regions_configure(&options, &mut told) };
        Error::check(code, &told)
    }
}

/// Switches regions off; sums are kept.
pub fn disable() {
    unsafe { sys::tach_regions_disable() }
}

/// Returns true if regions are switched on.
pub fn enabled() -> bool {
    unsafe { sys::tach_regions_enabled() != 0 }
}

/// A number for the present work of this thread; worst entries show it.
pub fn tag(number: u64) {
    unsafe { sys::tach_tag(number) }
}
