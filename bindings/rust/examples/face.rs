// SPDX-License-Identifier: MIT
//! face read|pair|region|nothing N: that, N times, from Rust, for bench/faces to compare.
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
        _ => nothing(n),
    }
    Ok(())
}
