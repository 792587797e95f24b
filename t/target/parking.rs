// SPDX-License-Identifier: GPL-2.0-or-later

// Threads that wait for locks of parking_lot, which main has, and for a condition. Until it
// is killed, or after two minutes.

use parking_lot::{Condvar, Mutex, RwLock};
use std::{process, thread, time::Duration};

fn start(name: &str, wait: impl FnOnce() + Send + 'static) {
    thread::Builder::new()
        .name(name.to_string())
        .spawn(wait)
        .unwrap();
}

fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn main() {
    let mutex = leaked(Mutex::new(0));
    let rwlock = leaked(RwLock::new(0));
    let own = leaked(Mutex::new(0));
    let condvar = leaked(Condvar::new());
    let _held = mutex.lock();
    let _written = rwlock.write();

    start("locks", move || *mutex.lock() += 1);
    start("reads", move || drop(rwlock.read()));
    start("writes", move || *rwlock.write() += 1);
    start("waits", move || condvar.wait(&mut own.lock()));
    println!("mutex {:p}", unsafe { mutex.raw() });
    println!("rwlock {:p}", unsafe { rwlock.raw() });
    println!("ready {}", process::id());
    thread::sleep(Duration::from_secs(120));
}
