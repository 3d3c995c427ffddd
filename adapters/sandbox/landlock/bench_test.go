//go:build linux

package landlock_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/landlock"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/sandboxtest"
)

func BenchmarkStart(b *testing.B) { sandboxtest.Benchmark(b, landlock.New(landlock.Options{})) }
