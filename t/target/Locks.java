// SPDX-License-Identifier: GPL-2.0-or-later

import java.util.concurrent.locks.ReentrantLock;

/**
 * Three threads that wait: for the monitor and for the lock that main has, and to be
 * notified. Until it is killed, or after two minutes.
 */
public class Locks {
	static final Object monitor = new Object();
	static final Object event = new Object();
	static final ReentrantLock lock = new ReentrantLock();

	static void enter() {
		synchronized (monitor) {
			monitor.notify();
		}
	}

	static void park() {
		lock.lock();
		lock.unlock();
	}

	static void await() {
		synchronized (event) {
			try {
				event.wait();
			} catch (InterruptedException e) {
				return;
			}
		}
	}

	static void start(String name, Runnable what) {
		Thread thread = new Thread(what, name);

		thread.setDaemon(true);
		thread.start();
	}

	public static void main(String[] args) throws InterruptedException {
		lock.lock();
		synchronized (monitor) {
			start("enters", Locks::enter);
			start("parks", Locks::park);
			start("waits", Locks::await);
			System.out.println("ready " + ProcessHandle.current().pid());
			Thread.sleep(120000);
		}
	}
}
