// SPDX-License-Identifier: GPL-2.0-or-later
//! locks KIND: as t/target/locks.c, with the locks of Rust's library. It runs until it is
//! killed or whoever has started it ends, at most for 15 minutes.

use std::mem::size_of_val;
use std::sync::{mpsc, Mutex, Once, RwLock};
use std::time::Duration;
use std::{fs, process, thread};

const LIFETIME: u64 = 900; // seconds; no test may take that long
const PATIENCE: u32 = 5_000; // naps of 1 ms, for a thread to be where it should

static MUTEX: Mutex<u64> = Mutex::new(0);
static RWLOCK: RwLock<u64> = RwLock::new(0);
static ONCE: Once = Once::new();

const PR_SET_PDEATHSIG: i32 = 1;
const SIGKILL: u64 = 9;

extern "C" {
    fn prctl(option: i32, ...) -> i32;
}

/// One way to take a lock; it calls what it is given while it has it.
type Take = fn(&dyn Fn());

fn lock_mutex(then: &dyn Fn()) {
    let _held = MUTEX.lock();
    then();
}

fn lock_read(then: &dyn Fn()) {
    let _held = RWLOCK.read();
    then();
}

fn lock_write(then: &dyn Fn()) {
    let _held = RWLOCK.write();
    then();
}

fn call_once(then: &dyn Fn()) {
    ONCE.call_once(then);
}

fn rest() {
    loop {
        thread::sleep(Duration::from_secs(LIFETIME));
    }
}

fn tid() -> u32 {
    let link = fs::read_link("/proc/thread-self").unwrap();
    link.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// A thread that takes the lock and keeps it; its tid, once it has it.
fn holds(take: Take) -> u32 {
    let (sender, receiver) = mpsc::channel();
    let main = move || take(&|| {
        sender.send(tid()).unwrap();
        rest()
    });
    thread::Builder::new().name("holder".to_string()).spawn(main).unwrap();
    receiver.recv().unwrap()
}

/// The first argument of the call that a thread is blocked in.
fn blocked_at(tid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/self/task/{tid}/syscall")).ok()?;
    let argument = text.split_whitespace().nth(1)?.trim_start_matches("0x");
    u64::from_str_radix(argument, 16).ok()
}

/// A thread that waits for the lock, once it is asleep at an address in it: tid, address.
/// In older versions those that wait for a Once sleep at an address of their own: None.
fn waits(take: Take, lock: u64, size: usize) -> Option<(u32, u64)> {
    let (sender, receiver) = mpsc::channel();
    let main = move || {
        sender.send(tid()).unwrap();
        take(&|| process::exit(2))
    };
    thread::Builder::new().name("waiter".to_string()).spawn(main).unwrap();
    let waiter = receiver.recv().unwrap();
    for _ in 0..PATIENCE {
        if let Some(word) = blocked_at(waiter) {
            if word >= lock && word < lock + size as u64 {
                return Some((waiter, word));
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
    None
}

fn truth(kind: &str, waiter: u32, holder: u32, object: u64, more: &str) {
    println!("truth {kind} waiter={waiter} holder={holder} object={object:#x} {more}");
}

fn address<T>(lock: &T) -> u64 {
    lock as *const T as u64
}

fn mutex(kind: &str) -> Option<()> {
    let holder = holds(lock_mutex);
    let (waiter, word) = waits(lock_mutex, address(&MUTEX), size_of_val(&MUTEX))?;
    truth(kind, waiter, holder, word, "wait=mutex call=futex");
    Some(())
}

fn rwlock_read(kind: &str) -> Option<()> {
    let holder = holds(lock_write);
    let (waiter, word) = waits(lock_read, address(&RWLOCK), size_of_val(&RWLOCK))?;
    truth(kind, waiter, holder, word, "wait=rwlock call=futex mode=read");
    Some(())
}

/// Writers wait at the word after that of the state.
fn rwlock_write(kind: &str) -> Option<()> {
    holds(lock_read);
    holds(lock_read);
    let (waiter, word) = waits(lock_write, address(&RWLOCK), size_of_val(&RWLOCK))?;
    truth(kind, waiter, 0, word - 4, "wait=rwlock call=futex mode=write readers=2");
    Some(())
}

fn once(kind: &str) -> Option<()> {
    let holder = holds(call_once);
    let (waiter, word) = waits(call_once, address(&ONCE), size_of_val(&ONCE))?;
    truth(kind, waiter, holder, word, "wait=once call=futex");
    Some(())
}

const KINDS: [(&str, fn(&str) -> Option<()>); 4] = [
    ("rust-mutex", mutex),
    ("rust-rwlock-read", rwlock_read),
    ("rust-rwlock-write", rwlock_write),
    ("rust-once", once),
];

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    if wanted == "--list" {
        KINDS.iter().for_each(|(name, _)| println!("{name}"));
        return;
    }
    let found = KINDS.iter().find(|(name, _)| *name == wanted);
    if found.is_none() {
        eprintln!("usage: locks KIND | --list");
        process::exit(2);
    }
    unsafe { prctl(PR_SET_PDEATHSIG, SIGKILL) };
    if found.unwrap().1(&wanted).is_none() {
        println!("skip {wanted}: the waiter does not sleep at the lock");
        process::exit(77);
    }
    println!("ready {}", process::id());
    thread::sleep(Duration::from_secs(LIFETIME));
}
