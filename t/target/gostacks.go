// SPDX-License-Identifier: GPL-2.0-or-later

// Goroutines in all kinds of stacks: one computes in functions that have been inlined, with
// a closure; one has called the runtime, which waits for the first on a thread's own stack,
// as that cannot be preempted (GODEBUG=asyncpreemptoff=1); others wait in a system call and
// for a lock of the runtime. Nothing changes any more once all are there.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"syscall"
	"time"
)

type number struct{ value uint64 }

var sum uint64

func (n *number) add(value uint64) { n.value += value }

func twice(n *number, value uint64) {
	n.add(value)
	n.add(value)
}

//go:noinline
func compute(n *number) {
	for {
		twice(n, sum)
	}
}

// The sort calls back; there it stays.
//
//go:noinline
func sorted(n *number) {
	values := []int{3, 1, 2}
	sort.Slice(values, func(i, j int) bool {
		fmt.Printf("ready %d\n", os.Getpid())
		compute(n)
		return values[i] < values[j]
	})
}

//go:noinline
func receive(descriptor int) {
	var bytes [1]byte

	syscall.Read(descriptor, bytes[:])
}

//go:noinline
func collect() {
	runtime.GC()
}

func main() {
	var pipe [2]int

	syscall.Pipe(pipe[:])
	go receive(pipe[0])
	go func() {
		time.Sleep(100 * time.Millisecond)
		collect()
	}()
	sorted(&number{})
}
