//go:build linux

package sandboxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

// Benchmark measures whole runs of programs: one that does nothing, a script, and one that opens a thousand files.
// With pins there is a guard.
func Benchmark(b *testing.B, s sandbox.Sandbox) {
	b.Helper()
	dir := b.TempDir()
	script := filepath.Join(dir, "run")
	many := []string{"cat"}
	for i := range 1000 {
		name := fmt.Sprintf("f%d", i)
		many = append(many, name)
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, of := range []struct {
		name, text string
		argv       []string
	}{
		{"nothing", "", []string{"/bin/true"}},
		{"script", "#!/bin/sh\n", []string{script}},
		{"opens", strings.Join(many, " "), []string{"/bin/sh", script}},
	} {
		if err := os.WriteFile(script, []byte(of.text), 0o700); err != nil { //nolint:gosec // it is run
			b.Fatal(err)
		}
		spec := sandbox.Spec{Argv: of.argv, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Writable: []string{dir}}
		b.Run(of.name, func(b *testing.B) { benchmark(b, s, spec) })
		if of.text != "" {
			spec.Pinned = []sandbox.Pin{{Path: script, Data: []byte(of.text)}}
			b.Run(of.name+" pinned", func(b *testing.B) { benchmark(b, s, spec) })
		}
	}
}

func benchmark(b *testing.B, s sandbox.Sandbox, spec sandbox.Spec) {
	b.Helper()
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
