// SPDX-License-Identifier: MIT
//! Hardware performance counters of the calling thread, by region of code: the Rust interface of libtach.
//!
//! ```
//! fn sum() -> u64 {
//!     let _region = tach::region!("sum");
//!     (1..=1_000_000).sum()
//! }
//!
//! // TACH_ENABLE=1, TACH_EVENTS, TACH_OUTPUT=- do the same without code in the program.
//! if let Err(why) = tach::Regions::new().events("instructions,cycles").start() {
//!     println!("only time: {why}"); // no PMU here: the program continues
//!     tach::Regions::new().events("").start()?;
//! }
//! sum();
//! print!("{}", tach::Snapshot::take()?.report(tach::Format::Text)?);
//! # Ok::<(), tach::Error>(())
//! ```
//!
//! A region costs the same number of instructions as C's macros. Readers call functions of the library, because its
//! inline code is C. A missing PMU causes no panic: an event that cannot be counted gives an [`Error`] with the reason,
//! or sets [`Flags`].
//!
//! Feature `vendored`: the C library is built with the crate and linked statically. `tracing`: spans are regions
//! (`Spans`). `criterion`: benchmarks measured by counts (`Counter`).

#[cfg(feature = "criterion")]
mod counter;
mod error;
mod flags;
mod region;
mod set;
mod snapshot;
#[cfg(feature = "tracing")]
mod spans;
#[doc(hidden)]
pub mod sys;

#[cfg(feature = "criterion")]
pub use crate::counter::{Counter, Started};
pub use crate::error::Error;
pub use crate::flags::Flags;
pub use crate::region::{disable, enabled, tag, Guard, Place, Region, Regions, Site};
pub use crate::set::{Counts, Mark, RawMark, Reader, Set, SetBuilder};
pub use crate::snapshot::{Format, RegionInfo, Snapshot, Value};
#[cfg(feature = "tracing")]
pub use crate::spans::Spans;

/// The version of the library that is loaded.
pub fn version() -> String {
    unsafe { error::text(sys::tach_version()) }
}
