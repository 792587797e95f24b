// SPDX-License-Identifier: GPL-2.0-or-later

// The chain in Go: one goroutine computes in main.g0 main.g1 main.g2 main.g3 main.main.
package main

import (
	"fmt"
	"os"
)

var work uint64

//go:noinline
func g0(limit uint64) uint64 {
	for work = 0; work < limit; work++ {
	}
	return work
}

//go:noinline
func g1(limit uint64) uint64 {
	return g0(limit) + 1
}

//go:noinline
func g2(limit uint64) uint64 {
	return g1(limit) + 1
}

//go:noinline
func g3(limit uint64) uint64 {
	return g2(limit) + 1
}

func main() {
	fmt.Printf("ready %d\n", os.Getpid())
	fmt.Println(g3(1 << 63))
}
