// SPDX-License-Identifier: MIT
//! Feature `tracing`: each entry into a span is an entry of the region with the span's name.
use crate::region::{self, Mark};
use crate::{sys, Site};
use std::cell::RefCell;
use std::collections::HashMap;
use tracing::callsite::Identifier;
use tracing::{span::Id, Metadata, Subscriber};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// A layer for `tracing-subscriber`: each span is a region of its name, from enter to exit. Each poll of a task is one
/// entry, in the thread that polls it.
///
/// ```
/// use tracing_subscriber::prelude::*;
///
/// tach::Regions::new().events("").start()?;
/// let subscriber = tracing_subscriber::registry().with(tach::Spans::new());
/// tracing::subscriber::with_default(subscriber, || {
///     for _ in 0..3 {
///         let _entered = tracing::info_span!("parse", file = "a.txt").entered();
///     }
/// });
/// let snapshot = tach::Snapshot::take()?;
/// assert_eq!(snapshot.regions().find(|r| r.name == "parse").unwrap().calls, 3);
/// # Ok::<(), tach::Error>(())
/// ```
///
/// Its filter (`with_filter`) selects the spans that it sees; `TACH_REGIONS` or [`Regions::only`](crate::Regions::only)
/// selects the ones that are measured. The cost of `tracing` and of this layer stays in the enclosing regions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spans(());

impl Spans {
    pub fn new() -> Spans {
        Spans(())
    }
}

struct Entry {
    span: Option<Id>, // exited out of order if None
    mark: Box<Mark>,  // does not move while the list grows
}

/// The stack of one thread. Entries above `depth` are kept for reuse.
#[derive(Default)]
struct Open {
    sites: HashMap<Identifier, Option<&'static Site>>,
    entries: Vec<Entry>,
    depth: usize,
}

impl Open {
    /// Looks up the site once per place, under the library's lock.
    fn site(&mut self, metadata: &Metadata<'_>) -> *mut sys::Site {
        let site = self
            .sites
            .entry(metadata.callsite())
            .or_insert_with(|| Site::get(metadata.name()));
        site.map_or(std::ptr::null_mut(), Site::raw)
    }

    fn enter(&mut self, span: &Id, metadata: &Metadata<'_>) {
        let site = self.site(metadata);
        if self.depth == self.entries.len() {
            self.entries.push(Entry {
                span: None,
                mark: Box::new(Mark::new()),
            });
        }
        let entry = &mut self.entries[self.depth];
        self.depth += 1;
        entry.span = Some(span.clone());
        if !site.is_null() {
            unsafe { region::start(site, entry.mark.0.get()) };
        }
    }

    fn exit(&mut self, span: &Id) {
        let open = &mut self.entries[..self.depth];
        if let Some(entry) = open.iter_mut().rfind(|e| e.span.as_ref() == Some(span)) {
            unsafe { region::stop(entry.mark.0.get()) };
            entry.span = None;
        }
        while self.depth > 0 && self.entries[self.depth - 1].span.is_none() {
            self.depth -= 1;
        }
    }
}

/// A mark must not be freed while its region is open.
impl Drop for Open {
    fn drop(&mut self) {
        for entry in self.entries[..self.depth].iter().rev() {
            unsafe { region::stop(entry.mark.0.get()) };
        }
    }
}

thread_local!(static OPEN: RefCell<Open> = RefCell::default());

impl<S: Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for Spans {
    fn on_enter(&self, span: &Id, context: Context<'_, S>) {
        if let Some(metadata) = context.metadata(span) {
            // A thread that is ending has already freed its stack.
            let _ = OPEN.try_with(|open| open.borrow_mut().enter(span, metadata));
        }
    }

    fn on_exit(&self, span: &Id, _: Context<'_, S>) {
        let _ = OPEN.try_with(|open| open.borrow_mut().exit(span));
    }
}
