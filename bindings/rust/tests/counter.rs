// SPDX-License-Identifier: MIT
//! Criterion by counts: page faults here, instructions where there is a PMU or an emulator.
#![cfg(feature = "criterion")]
use criterion::measurement::{Measurement, ValueFormatter};
use criterion::{black_box, Criterion, Throughput};
use std::time::Duration;
use tach::Counter;

fn pages(n: usize) {
    let mut bytes = vec![0u8; n * 4096];
    for page in bytes.chunks_mut(4096) {
        page[0] = black_box(1);
    }
}

#[test]
fn counts_are_the_event_s() {
    let counter = match Counter::new("faults=page-faults") {
        Ok(counter) => counter,
        Err(why) => return println!("{why}"),
    };
    let one = counter.start();
    pages(1000); // more than malloc keeps: each time, the kernel provides 4 MB
    let one = counter.end(one);
    assert!((1000..1100).contains(&one), "{one}");
    let nothing = counter.start();
    assert_eq!(counter.end(nothing), 0);
    assert_eq!(
        counter.to_f64(&counter.add(&one, &counter.zero())),
        one as f64
    );
    assert!(counter.flags().is_complete());
}

#[test]
fn figures_have_units() {
    let counter = match Counter::new("faults=page-faults") {
        Ok(counter) => counter,
        Err(why) => return println!("{why}"),
    };
    let format: &dyn ValueFormatter = counter.formatter();
    assert_eq!(format.format_value(0.5), "0.500 faults");
    assert_eq!(format.format_value(12345.0), "12.345 k faults");
    assert_eq!(format.format_value(6.7e10), "67.000 G faults");
    assert_eq!(
        format.format_throughput(&Throughput::Bytes(100), 50.0),
        "0.500 faults/byte"
    );
    assert_eq!(
        format.format_throughput(&Throughput::Elements(5), 50.0),
        "10.000 faults/element"
    );
    let mut values = [1e6, 2e6];
    assert_eq!(format.scale_values(1e6, &mut values), "M faults");
    assert_eq!(values, [1.0, 2.0]);
    assert_eq!(format.scale_for_machines(&mut values), "faults");
}

#[test]
fn what_cannot_be_counted_is_an_error() {
    assert!(Counter::new("no-such-event").is_err());
    let two = Counter::new("page-faults,task-clock").err().unwrap();
    assert_eq!(two.to_string(), "criterion measures one event");
    if let Err(why) = Counter::new("instructions") {
        assert!(!why.to_string().is_empty());
    }
}

/// A loop of known length, by criterion itself: `tach run --emulate` counts it exactly.
#[test]
fn a_benchmark() {
    let counter = match Counter::new("instructions") {
        Ok(counter) => counter,
        Err(why) => return println!("not counted: {why}"),
    };
    let mut criterion = Criterion::default()
        .without_plots()
        .sample_size(10)
        .nresamples(10)
        .warm_up_time(Duration::from_millis(1))
        .measurement_time(Duration::from_millis(10))
        .with_measurement(counter);
    criterion.bench_function("loop", |b| b.iter(|| turns(black_box(1000))));
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn turns(n: u64) {
    unsafe { std::arch::asm!("2: sub {0}, 1", "jnz 2b", inout(reg) n => _, options(nostack)) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(never)]
fn turns(n: u64) {
    (0..n).for_each(|i| drop(black_box(i)))
}
