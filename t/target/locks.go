// SPDX-License-Identifier: GPL-2.0-or-later

// Threads of Go that wait for the runtime's locks, and idle ones; goroutines that wait for
// locks of Go's library, which are no threads. Until it is killed, or after two minutes.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

const threads = 8
const traders = 4
const waiters = 4 // each with a thread of its own, which has nothing to do meanwhile

var mutex sync.Mutex

// Each operation on the channel takes its lock, in the runtime.
func trade(channel chan int) {
	for {
		select {
		case channel <- 1:
		case <-channel:
		}
	}
}

func wait(started *sync.WaitGroup) {
	runtime.LockOSThread()
	started.Done()
	mutex.Lock()
	mutex.Unlock()
}

func main() {
	var started sync.WaitGroup
	channel := make(chan int, traders)

	runtime.GOMAXPROCS(threads)
	mutex.Lock()
	started.Add(waiters)
	for i := 0; i < waiters; i++ {
		go wait(&started)
	}
	started.Wait()
	for i := 0; i < traders; i++ {
		go trade(channel)
	}
	fmt.Printf("ready %d\n", os.Getpid())
	time.Sleep(2 * time.Minute)
}
