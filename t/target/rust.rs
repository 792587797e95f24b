// SPDX-License-Identifier: GPL-2.0-or-later
//! The chain in Rust: a thread "chain" computes in chain::r0 chain::r1 chain::r2
//! chain::r3, until standard input says otherwise (it does not, in the tests).

use std::hint::black_box;

mod chain {
    use std::hint::black_box;

    #[inline(never)]
    pub fn r0(limit: u64) -> u64 {
        let mut work = 0u64;
        while black_box(work) < limit {
            work = black_box(work.wrapping_add(1));
        }
        black_box(work)
    }

    #[inline(never)]
    pub fn r1(limit: u64) -> u64 {
        black_box(r0(black_box(limit))) + 1
    }

    #[inline(never)]
    pub fn r2<T: Into<u64>>(limit: T) -> u64 {
        black_box(r1(limit.into())) + 1
    }

    #[inline(never)]
    pub fn r3(limit: u64) -> u64 {
        black_box(r2::<u64>(limit)) + 1
    }
}

fn main() {
    let builder = std::thread::Builder::new().name("chain".to_string());
    let thread = builder.spawn(|| black_box(chain::r3(black_box(u64::MAX))));
    println!("ready {}", std::process::id());
    thread.unwrap().join().unwrap();
}
