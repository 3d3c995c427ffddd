//go:build linux

package bubblewrap_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/bubblewrap"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/sandboxtest"
)

func BenchmarkStart(b *testing.B) { sandboxtest.Benchmark(b, bubblewrap.New(bubblewrap.Options{})) }
