// SPDX-License-Identifier: GPL-2.0-or-later

// A panic that the runtime has made of a signal: the first instruction of deref() reads
// address 0. The deferred function goes on on top of it, and computes.
package main

import "os"

//go:noinline
func deref(address *int) int { return *address }

//go:noinline
func middle(address *int) int { return deref(address) + 1 }

var sum uint64

//go:noinline
func handle() {
	recover()
	os.Stdout.WriteString("ready\n")
	for {
		sum++
	}
}

func main() {
	defer handle()
	middle(nil)
}
