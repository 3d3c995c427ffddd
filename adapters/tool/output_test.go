package tool_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// brief is a tool's output as the model reads it.
func brief(t interface{ Fatalf(string, ...any) }, raw json.RawMessage) (text string, short shortened) {
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			t.Fatalf("%v", err)
		}
		return text, short
	}
	if err := json.Unmarshal(raw, &short); err != nil {
		t.Fatalf("%v", err)
	}
	return "", short
}

// However the output is split: the JSON is within the limit, head and tail are those of the whole
// output, and output that fits is complete.
func TestRL9OutputKeepsHeadAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1024, 5000).Draw(t, "limit")
		most := int64(rapid.IntRange(1, 40_000).Draw(t, "most"))
		var whole, kept bytes.Buffer
		stops := 0
		o := tool.NewOutput(tool.OutputOptions{Limit: limit, Most: most, Stop: func() { stops++ }, Whole: &kept})
		unit := rapid.SampledFrom([]string{"a", "line\n", "字", "😀", "\x00\x01", "é\u2028\"", "\xff"}).Draw(t, "unit")
		for range rapid.IntRange(0, 12).Draw(t, "writes") {
			piece := []byte(strings.Repeat(unit, rapid.IntRange(0, 3000).Draw(t, "size")))
			piece = piece[:rapid.IntRange(0, len(piece)).Draw(t, "cut")]
			n, err := o.Write(piece)
			whole.Write(piece[:n])
			if (err == nil) != (n == len(piece)) || err != nil && !errors.Is(err, tool.ErrTooMuch) {
				t.Fatalf("took %d of %d with %v", n, len(piece), err)
			}
		}
		total, stopped := o.Total()
		if total != int64(whole.Len()) || total > most || (stops == 1) != stopped || !bytes.Equal(kept.Bytes(), whole.Bytes()) {
			t.Fatalf("%d bytes, wrote %d, kept %d; stopped %t, %d times", total, whole.Len(), kept.Len(), stopped, stops)
		}
		raw := o.JSON("results/x")
		if !json.Valid(raw) || !utf8.Valid(raw) || len(raw) > limit {
			t.Fatalf("%d bytes, at most %d: %.80q", len(raw), limit, raw)
		}
		text, short := brief(t, raw)
		printed := asText(whole.Bytes())
		if !short.Truncated {
			if text != printed || stopped {
				t.Fatalf("%q is not the whole %q", text, printed)
			}
			return
		}
		if short.Bytes != int(total) || short.Whole != "results/x" || !strings.HasPrefix(printed, short.Head) || !strings.HasSuffix(printed, short.Tail) {
			t.Fatalf("head %.40q and tail %.40q of %d bytes", short.Head, short.Tail, short.Bytes)
		}
		if total > int64(3*limit) && len(raw) < limit*8/10 {
			t.Fatalf("%d bytes are shown of %d that may be", len(raw), limit)
		}
	})
}

// asText returns bytes as they are after a round trip through a JSON string.
func asText(b []byte) string {
	var text string
	encoded, _ := json.Marshal(string(b)) // strings encode
	_ = json.Unmarshal(encoded, &text)    // what was encoded decodes
	return text
}

func TestRL9OutputSaysThatTheRestIsLost(t *testing.T) {
	o := tool.NewOutput(tool.OutputOptions{Whole: failingWriter{}})
	_, _ = fmt.Fprint(o, strings.Repeat("x", 30_000))
	_, short := brief(t, o.JSON("results/x"))
	if short.Whole != "" || !strings.Contains(short.Note, "could not be stored") {
		t.Errorf("got %+v", short.Note)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk is full") }

// A gigabyte of output needs no allocation after the first few.
func TestRL9GigabyteInBoundedMemory(t *testing.T) {
	size := 1 << 26
	if os.Getenv("SOAK") != "" {
		size = 1 << 30
	}
	o := tool.NewOutput(tool.OutputOptions{Most: 1 << 40})
	piece := bytes.Repeat([]byte("y\n"), 16<<10)
	if _, err := o.Write(piece); err != nil {
		t.Fatal(err)
	}
	written := len(piece)
	if allocs := testing.AllocsPerRun(size/len(piece), func() {
		n, _ := o.Write(piece)
		written += n
	}); allocs > 0 {
		t.Errorf("%v allocations a write", allocs)
	}
	_, short := brief(t, o.JSON(""))
	if short.Bytes != written || written < size || !strings.HasPrefix(short.Head, "y\ny\n") || !strings.HasSuffix(short.Tail, "y\ny\n") {
		t.Errorf("%d bytes written, %+v", written, short)
	}
}

// A real process that prints endlessly is stopped by closing its pipe.
func TestRL9ProcessThatPrintsForEver(t *testing.T) {
	yes, err := exec.LookPath("yes")
	if err != nil {
		t.Skip("no yes on this machine")
	}
	most := int64(16 << 20)
	if os.Getenv("SOAK") != "" {
		most = 1 << 30
	}
	before := resident(t)
	o := tool.NewOutput(tool.OutputOptions{Most: most})
	cmd := exec.CommandContext(t.Context(), yes)
	cmd.Stdout, cmd.Stderr = o, o
	err = cmd.Run()
	total, stopped := o.Total()
	if err == nil || !stopped || total != most {
		t.Errorf("ended with %v after %d bytes, stopped %t", err, total, stopped)
	}
	_, short := brief(t, o.JSON(""))
	if !strings.HasPrefix(short.Head, "y\ny\n") || !strings.Contains(short.Note, "stopped after") {
		t.Errorf("the model reads %+v", short)
	}
	if grown := resident(t) - before; os.Getenv("SOAK") != "" {
		t.Logf("%d MiB printed, resident memory grew by %d KiB", total>>20, grown>>10)
		if grown > 32<<20 {
			t.Errorf("resident memory grew by %d MiB", grown>>20)
		}
	}
}

// resident returns the process's resident memory in bytes, or 0 where it cannot be read.
func resident(t *testing.T) int64 {
	t.Helper()
	runtime.GC()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		limit    int
		want     string
	}{
		{"fits", "abc", 3, "abc"},
		{"head and tail", "0123456789" + strings.Repeat("x", 50) + "9876543210", 40, "01234567890123456789"},
		{"no room", "0123456789", 4, "0123"},
		{"not UTF-8", "a\xffb", 10, "a\uFFFDb"},
	} {
		got := tool.Shorten(tt.in, tt.limit)
		if tt.name == "head and tail" {
			if len(got) > tt.limit || !strings.HasPrefix(got, "0123456789") || !strings.HasSuffix(got, "543210") || !strings.Contains(got, "70 bytes") {
				t.Errorf("%s: got %q", tt.name, got)
			}
			continue
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := tool.Shorten(strings.Repeat("字", 1000), 100); len(got) > 100 || !utf8.ValidString(got) {
		t.Errorf("cut to %d bytes: %q", len(got), got)
	}
}
