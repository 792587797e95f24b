// SPDX-License-Identifier: GPL-2.0-or-later

// A goroutine that has called C, which sleeps.
package main

// #include <stdio.h>
// #include <unistd.h>
// static void nap(void) { printf("ready %d\n", (int)getpid()); fflush(stdout); pause(); }
import "C"

//go:noinline
func call() {
	C.nap()
}

func main() {
	call()
}
