package simtest

import (
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
	"time"
)

// tail is how many lines of a trace are kept for a report.
const tail = 120

// trace records what happened, one line each.
type trace struct {
	out   io.Writer // all of it; may be nil
	began time.Time
	lines []string // the last ones, in a ring
	next  int
	sum   uint64
}

func newTrace(out io.Writer) *trace {
	return &trace{out: out, began: time.Now(), lines: make([]string, tail)}
}

func (t *trace) add(line string) {
	line = strconv.FormatInt(int64(time.Since(t.began)), 10) + " " + line
	h := fnv.New64a()
	_, _ = io.WriteString(h, strconv.FormatUint(t.sum, 16)+line) // a hash never fails
	t.sum = h.Sum64()
	t.lines[t.next%tail] = line
	t.next++
	if t.out != nil {
		_, _ = io.WriteString(t.out, line+"\n") // failing to write the trace is harmless
	}
}

func (t *trace) addf(format string, args ...any) { t.add(fmt.Sprintf(format, args...)) }

// received records a message that an actor receives.
func (t *trace) received(msg any) { t.add(fmt.Sprintf("  %T", msg)) }

// last returns the newest lines.
func (t *trace) last() string {
	var b strings.Builder
	for i := max(0, t.next-tail); i < t.next; i++ {
		b.WriteString(t.lines[i%tail] + "\n")
	}
	return b.String()
}

func itoa(n int) string { return strconv.Itoa(n) }
