// SPDX-License-Identifier: MIT
//! face read|pair|region|nothing N: does that N times, from Rust, for bench/faces to compare.
//! face count: prints a line READ PAIR REGION, counted by the processor itself (tests/clients/faces.sh).
use std::arch::asm;
use std::mem::MaybeUninit;

fn reader() -> tach::Reader {
    tach::Set::new("instructions")
        .and_then(|set| set.open())
        .expect("bench/fakeperf.so")
}

#[inline(never)]
fn reads(reader: &tach::Reader, n: u64) {
    let mut values = [0; 16];
    for _ in 0..n {
        reader.read(&mut values);
        unsafe { asm!("/* {} */", in(reg) values.as_ptr(), options(nostack)) };
    }
}

#[inline(never)]
fn pairs(reader: &tach::Reader, n: u64) {
    let (mut mark, mut delta) = (MaybeUninit::uninit(), [0; 16]);
    for _ in 0..n {
        reader.begin_raw(&mut mark);
        unsafe { reader.end_raw(&mark, &mut delta) };
        unsafe { asm!("/* {} */", in(reg) delta.as_ptr(), options(nostack)) };
    }
}

#[inline(never)]
fn regions(n: u64) {
    for _ in 0..n {
        let _region = tach::region!("face");
        unsafe { asm!("", options(nostack)) };
    }
}

#[inline(never)]
fn nothing(n: u64) {
    for _ in 0..n {
        unsafe { asm!("", options(nostack)) };
    }
}

/// Instructions per iteration: the minimum of some tries with 1,000 extra iterations.
fn counted(meter: &tach::Reader, turns: impl Fn(u64)) -> f64 {
    let least = |n| {
        let (mut mark, mut delta) = (MaybeUninit::uninit(), [0; 16]);
        let tries = (0..20).map(|_| {
            meter.begin_raw(&mut mark);
            turns(n);
            unsafe { meter.end_raw(&mark, &mut delta) };
            delta[0]
        });
        tries.min().unwrap_or(0)
    };
    (least(2000) - least(1000)) as f64 / 1000.0
}

fn count() -> Result<(), tach::Error> {
    tach::Regions::new().events("instructions").start()?;
    let (meter, of) = (reader(), reader());
    let empty = counted(&meter, nothing);
    let [read, pair, region] = [
        counted(&meter, |n| reads(&of, n)),
        counted(&meter, |n| pairs(&of, n)),
        counted(&meter, regions),
    ]
    .map(|c| c - empty);
    println!("{read:.1}\t{pair:.1}\t{region:.1}");
    Ok(())
}

fn main() -> Result<(), tach::Error> {
    let arguments: Vec<String> = std::env::args().collect();
    let n = arguments.get(2).and_then(|n| n.parse().ok()).unwrap_or(0);
    match arguments.get(1).map(String::as_str) {
        Some("read") => reads(&reader(), n),
        Some("pair") => pairs(&reader(), n),
        Some("region") => {
            tach::Regions::new().events("instructions").start()?;
            regions(n)
        }
        Some("count") => count()?,
        _ => nothing(n),
    }
    Ok(())
}
