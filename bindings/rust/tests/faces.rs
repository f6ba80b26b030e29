// SPDX-License-Identifier: MIT
//! Regions, sets, readers and snapshots on the clock and on page faults. One process has one registry: tests that
//! configure it do so one after the other.
use std::panic;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use tach::{Flags, Format, Regions, Set, Site, Snapshot};

static TURN: Mutex<()> = Mutex::new(());

fn configured() -> MutexGuard<'static, ()> {
    let turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    Regions::new().events("").start().unwrap();
    turn
}

fn calls(name: &str) -> (u64, u64) {
    let snapshot = Snapshot::take().unwrap();
    let found = snapshot.regions().filter(|r| r.name == name);
    found.fold((0, 0), |sum, r| (sum.0 + r.calls, sum.1 + r.lost))
}

#[test]
fn layouts_are_the_library_s() {
    unsafe {
        assert_eq!(
            tach::sys::tach_region_mark_size(),
            std::mem::size_of::<tach::sys::RegionMark>()
        );
        assert_eq!(
            tach::sys::tach_mark_size(),
            std::mem::size_of::<tach::sys::Mark>()
        );
    }
    assert!(!tach::version().is_empty());
}

#[test]
fn a_region_ends_with_its_block_however_it_is_left() {
    let _turn = configured();
    for i in 0..4 {
        let _region = tach::region!("left");
        if i == 1 {
            continue;
        }
        if i == 3 {
            break;
        }
    }
    let caught = panic::catch_unwind(|| {
        let _region = tach::region!("left");
        panic::resume_unwind(Box::new(()));
    });
    assert!(caught.is_err());
    assert_eq!(calls("left"), (5, 0));
}

#[test]
fn stop_ends_it_once() {
    let _turn = configured();
    {
        let region = tach::region!("stopped");
        assert!(region.so_far().is_some());
        region.stop();
        region.stop();
        assert!(region.so_far().is_none());
    }
    assert_eq!(calls("stopped"), (1, 0));
}

#[test]
fn regions_nest_and_recurse() {
    fn factorial(n: u64) -> u64 {
        let _region = tach::region_fenced!("factorial");
        let _inside = tach::region!("inside");
        if n == 0 {
            1
        } else {
            n * factorial(n - 1)
        }
    }
    let _turn = configured();
    assert_eq!(factorial(10), 3628800);
    let snapshot = Snapshot::take().unwrap();
    let r = snapshot.regions().find(|r| r.name == "factorial").unwrap();
    assert_eq!((r.calls, r.outermost, r.lost), (11, 1, 0));
    assert!(r.file.ends_with("faces.rs") && r.line > 0 && r.function.contains("faces"));
    let (whole, own) = (
        snapshot.value(&r, "time").unwrap(),
        snapshot.self_value(&r, "time").unwrap(),
    );
    assert!(whole.raw >= whole.value && own.value <= whole.value + whole.error);
}

#[test]
fn threads_add_up() {
    let _turn = configured();
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for _ in 0..100 {
                    let _region = tach::region!("threads");
                }
            });
        }
    });
    let snapshot = Snapshot::take().unwrap();
    let r = snapshot.regions().find(|r| r.name == "threads").unwrap();
    assert_eq!((r.calls, r.threads), (400, 4));
}

#[test]
fn sites_by_name() {
    let _turn = configured();
    assert!(Site::get("a\0b").is_none());
    for name in ["one", "two", "one"] {
        assert_eq!(Site::get(name).unwrap().measure(|| 7), 7);
    }
    assert_eq!((calls("one").0, calls("two").0), (2, 1));
}

#[test]
fn off_and_on() {
    let _turn = configured();
    tach::disable();
    assert!(!tach::enabled());
    {
        let region = tach::region!("off");
        assert!(region.so_far().is_none());
    }
    Regions::new().events("").only("!off").start().unwrap();
    {
        let _region = tach::region!("off");
        tach::tag(7);
    }
    assert!(tach::enabled());
    assert_eq!(calls("off"), (0, 0));
}

#[test]
fn errors_say_what_and_where() {
    let error = Set::new("cycles,nosuch").err().unwrap();
    assert!(
        error.to_string().contains("nosuch") && error.code() < 0,
        "{error}"
    );
    assert!(Set::new("a\0b").is_err());
    assert!(Regions::new().events("nosuch").start().is_err());
    // Events that no machine can count at once are an error of build or open; neither panics.
    let many: Vec<String> = (0..15).map(|i| format!("a{i}=instructions")).collect();
    if let Ok(set) = Set::new(&many.join(",")) {
        if let Err(why) = set.open() {
            assert!(!why.to_string().is_empty());
        }
    }
}

#[test]
fn readers_count() {
    let set = Set::builder()
        .events("faults=page-faults")
        .metrics("double = 2 * faults; none = faults / 0")
        .build()
        .unwrap();
    assert_eq!(set.len(), 1);
    assert!(!set.is_empty() && set.missing().is_empty());
    let reader = match set.open() {
        Ok(reader) => reader,
        Err(why) => return println!("{why}"),
    };
    let (bytes, counts) = reader.measure(|| {
        let mut bytes = vec![0u8; 1 << 20];
        for page in bytes.chunks_mut(4096) {
            page[0] = 1;
        }
        bytes.len()
    });
    let faults = counts.get("faults").unwrap();
    assert!(faults > 0 && bytes == 1 << 20);
    assert_eq!(counts.metric("double").unwrap().0, 2.0 * faults as f64);
    assert!(counts.metric("none").unwrap().1.contains(Flags::DIVZERO));
    assert!(counts.flags().contains(Flags::SYSCALL) && counts.flags().to_string() == "syscall");
    assert!(counts.get("nosuch").is_none() && counts.metric("nosuch").is_none());
    let mut values = [0; 16];
    assert!(reader.read(&mut values).is_complete() && values[0] >= faults);
    let (outer, inner) = (reader.begin(), reader.begin());
    assert!(reader.end(&inner).values()[0] <= reader.end(&outer).values()[0]);
    // A set outlives its readers, whichever goes first.
    drop(set);
    assert_eq!(reader.set().names().next().unwrap(), "faults");
}

#[test]
fn reports() {
    let _turn = configured();
    {
        let _region = tach::region!("reported");
    }
    let snapshot = Snapshot::take().unwrap();
    for (format, has) in [
        (Format::Text, "reported"),
        (Format::Json, "\"tach\": 1"),
        (Format::Csv, "reported"),
        (Format::Prometheus, "# TYPE"),
        (Format::Html, "<!doctype html>"),
    ] {
        assert!(snapshot.report(format).unwrap().contains(has), "{format:?}");
    }
    assert!(snapshot.write("/nonexistent/folder/report.json").is_err());
    assert_eq!(snapshot.quantities()[0], "time");
    let _ = snapshot.missing();
}

#[test]
fn a_mark_of_another_reader_is_flagged() {
    let open = |events| Set::new(events).and_then(|set| set.open());
    if let (Ok(one), Ok(other)) = (open("page-faults"), open("page-faults,task-clock")) {
        let mark = one.begin();
        let counts = other.end(&mark);
        assert_eq!(counts.values(), [0, 0]);
        assert!(counts.flags().contains(Flags::LOST));
        assert!(one.end(&mark).flags().is_complete());
    }
}
