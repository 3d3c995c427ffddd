package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

const (
	// maxEdits bounds the search for the shortest diff. If texts differ in more lines, everything from the first to
	// the last difference is shown as replaced.
	maxEdits = 600
	// near is the number of equal lines shown around a difference.
	near = 3
)

// hunkLine is a line of a diff: ' ' in both texts, '-' only in the old one, '+' only in the new one.
type hunkLine struct {
	sign byte
	text string
}

// unified is the unified diff of two texts, without its header.
func unified(before, after string) string {
	lines := difference(linesOf(before), linesOf(after))
	var out strings.Builder
	oldAt, newAt := 1, 1
	for i := 0; i < len(lines); {
		if lines[i].sign == ' ' {
			i, oldAt, newAt = i+1, oldAt+1, newAt+1
			continue
		}
		start := max(0, i-near)
		end, equal := i, 0
		for end < len(lines) && equal <= 2*near {
			if equal++; lines[end].sign != ' ' {
				equal = 0
			}
			end++
		}
		if over := equal - near; over > 0 {
			end -= over
		}
		oldAt, newAt = oldAt-(i-start), newAt-(i-start)
		oldAt, newAt = hunk(&out, lines[start:end], oldAt, newAt)
		i = end
	}
	return out.String()
}

func hunk(out *strings.Builder, lines []hunkLine, oldAt, newAt int) (oldNext, newNext int) {
	oldCount, newCount := 0, 0
	for _, l := range lines {
		if l.sign != '+' {
			oldCount++
		}
		if l.sign != '-' {
			newCount++
		}
	}
	first := func(at, count int) int {
		if count == 0 {
			return at - 1
		}
		return at
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", first(oldAt, oldCount), oldCount, first(newAt, newCount), newCount)
	for _, l := range lines {
		out.WriteByte(l.sign)
		out.WriteString(l.text)
		if !strings.HasSuffix(l.text, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
	return oldAt + oldCount, newAt + newCount
}

func linesOf(s string) []string {
	out := strings.SplitAfter(s, "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// difference is the edit script from one text to the other, including equal lines.
func difference(a, b []string) []hunkLine {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := make([]hunkLine, 0, len(a)+len(b)-head-tail)
	add := func(sign byte, lines []string) {
		for _, l := range lines {
			out = append(out, hunkLine{sign, l})
		}
	}
	add(' ', a[:head])
	midA, midB := a[head:len(a)-tail], b[head:len(b)-tail]
	if mid, ok := shortest(midA, midB); ok {
		out = append(out, mid...)
	} else {
		add('-', midA)
		add('+', midB)
	}
	add(' ', a[len(a)-tail:])
	return out
}

// shortest finds the shortest edit script (E. Myers, 1986). It returns false if that is too long.
func shortest(a, b []string) ([]hunkLine, bool) {
	n, m := len(a), len(b)
	most := min(n+m, maxEdits)
	// reach[k+most+1] is the furthest position in a on the diagonal k (x - y).
	reach := make([]int, 2*most+3)
	var trace [][]int
	for d := 0; d <= most; d++ {
		trace = append(trace, append([]int(nil), reach[most+1-d:most+2+d]...)) // the state of -d..d after step d-1
		for k := -d; k <= d; k += 2 {
			x := next(reach, most+1, k, d)
			y := x - k
			for x < n && y < m && a[x] == b[y] {
				x, y = x+1, y+1
			}
			reach[most+1+k] = x
			if x >= n && y >= m {
				return back(a, b, trace), true
			}
		}
	}
	return nil, false
}

// next is the start position on the diagonal k with one more edit.
func next(reach []int, zero, k, d int) int {
	if k == -d || k != d && reach[zero+k-1] < reach[zero+k+1] {
		return reach[zero+k+1]
	}
	return reach[zero+k-1] + 1
}

// back follows the trace from its end.
func back(a, b []string, trace [][]int) []hunkLine {
	var out []hunkLine
	x, y := len(a), len(b)
	for d, reach := range slices.Backward(trace) {
		k := x - y
		var fromX, fromY int
		if d > 0 {
			down := k == -d || k != d && reach[d+k-1] < reach[d+k+1]
			if down {
				fromX = reach[d+k+1]
				fromY = fromX - (k + 1)
			} else {
				fromX = reach[d+k-1]
				fromY = fromX - (k - 1)
			}
		}
		for x > fromX && y > fromY {
			x, y = x-1, y-1
			out = append(out, hunkLine{' ', a[x]})
		}
		switch {
		case d == 0:
		case x > fromX:
			x--
			out = append(out, hunkLine{'-', a[x]})
		default:
			y--
			out = append(out, hunkLine{'+', b[y]})
		}
	}
	slices.Reverse(out)
	return out
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
