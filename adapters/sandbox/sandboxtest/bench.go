//go:build linux

package sandboxtest

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

// Benchmark is what a program costs that does nothing, from its start to its end.
func Benchmark(b *testing.B, s sandbox.Sandbox) {
	b.Helper()
	dir := b.TempDir()
	spec := sandbox.Spec{Argv: []string{"/bin/true"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Writable: []string{dir}}
	for b.Loop() {
		p, err := s.Start(b.Context(), spec)
		if err != nil {
			b.Fatal(err)
		}
		if exit, err := p.Wait(); err != nil || exit.Code != 0 {
			b.Fatalf("it ended with %+v, %v", exit, err)
		}
	}
}
