// SPDX-License-Identifier: MIT
//! Spans of `tracing` as regions.
#![cfg(feature = "tracing")]
use std::sync::{Mutex, MutexGuard};
use std::thread;
use tach::{Regions, Snapshot, Spans};
use tracing::{info_span, Dispatch, Span};
use tracing_subscriber::prelude::*;

static TURN: Mutex<()> = Mutex::new(());

fn configured() -> MutexGuard<'static, ()> {
    let turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    Regions::new().events("").start().unwrap();
    turn
}

fn measured(function: impl FnOnce()) {
    let subscriber = tracing_subscriber::registry().with(Spans::new());
    tracing::subscriber::with_default(subscriber, function);
}

/// Calls, outermost calls, and lost ones.
fn calls(name: &str) -> (u64, u64, u64) {
    let snapshot = Snapshot::take().unwrap();
    let found = snapshot.regions().find(|r| r.name == name);
    found.map_or((0, 0, 0), |r| (r.calls, r.outermost, r.lost))
}

#[test]
fn entries_nest_and_recurse() {
    fn factorial(n: u64) -> u64 {
        let _span = info_span!("factorial", n).entered();
        if n == 0 {
            return 1;
        }
        n * info_span!("inside").in_scope(|| factorial(n - 1))
    }
    let _turn = configured();
    measured(|| assert_eq!(factorial(10), 3628800));
    assert_eq!(calls("factorial"), (11, 1, 0));
    assert_eq!(calls("inside"), (10, 1, 0));
}

/// Like polled futures: one span, entered repeatedly, in any thread.
#[test]
fn one_span_in_several_threads() {
    let _turn = configured();
    measured(|| {
        let span = info_span!("task");
        let dispatch = tracing::dispatcher::get_default(Dispatch::clone);
        for _ in 0..3 {
            thread::scope(|s| {
                s.spawn(|| tracing::dispatcher::with_default(&dispatch, || span.in_scope(|| ())));
            });
            span.in_scope(|| ());
        }
    });
    assert_eq!(calls("task"), (6, 6, 0));
}

#[test]
fn guards_may_be_dropped_in_any_order() {
    let _turn = configured();
    measured(|| {
        for i in 0..3 {
            let (a, b, c) = (info_span!("a"), info_span!("b"), info_span!("c"));
            let (a, b) = (a.entered(), b.entered());
            drop(a);
            assert_eq!((calls("a").0, calls("b").0), (i + 1, i));
            let c = c.entered();
            drop(b);
            drop(c);
        }
    });
    for name in ["a", "b", "c"] {
        assert_eq!(calls(name), (3, 3, 0), "{name}");
    }
}

/// Marks do not move, however many there are; a name of two places is one region.
#[test]
fn many_at_once() {
    let _turn = configured();
    measured(|| {
        let mut open = Vec::new();
        for _ in 0..101 {
            open.push(info_span!("deep").entered());
        }
        while open.pop().is_some() {}
    });
    assert_eq!(calls("deep"), (101, 1, 0));
}

#[test]
fn what_is_not_measured_is_not_there() {
    let _turn = configured();
    Regions::new().events("").only("!unwanted").start().unwrap();
    measured(|| {
        info_span!("unwanted").in_scope(|| info_span!("wanted").in_scope(|| ()));
        Span::none().in_scope(|| ());
        tach::disable();
        info_span!("wanted").in_scope(|| ());
    });
    assert_eq!(calls("unwanted").0, 0);
    assert_eq!(calls("wanted").0, 1);
}

/// A thread that ends with a span open loses nothing: its marks end with it.
#[test]
fn a_thread_ends_with_a_span_open() {
    let _turn = configured();
    thread::spawn(|| {
        measured(|| std::mem::forget(info_span!("open").entered()));
    })
    .join()
    .unwrap();
    assert_eq!(calls("open"), (1, 1, 0));
}
