// SPDX-License-Identifier: MIT
//! face.rs with spans of `tracing`, which has only regions: spans region|nothing N.
use std::arch::asm;
use tracing_subscriber::prelude::*;

#[inline(never)]
fn regions(n: u64) {
    for _ in 0..n {
        let _span = tracing::info_span!("face").entered();
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
    if arguments.get(1).map(String::as_str) != Some("region") {
        nothing(n);
        return Ok(());
    }
    tach::Regions::new().events("instructions").start()?;
    let subscriber = tracing_subscriber::registry().with(tach::Spans::new());
    tracing::subscriber::with_default(subscriber, || regions(n));
    Ok(())
}
