package reply

import (
	"strconv"
	"strings"
)

// Attempt is a line that starts like a decision about one request, by its number.
type Attempt struct {
	Approves bool
	N        int
	Rest     string // what follows the number
}

// Attempted reads a line that starts like a decision, for example "deny 1, too risky". It decides
// nothing: if [ParseNumbered] finds a line unclear, it helps to explain how to write the decision.
func Attempted(text string) (a Attempt, ok bool) {
	if !legible(text) {
		return a, false
	}
	l := newLine(text)
	at := -1
	for _, verb := range []string{"approve", "allow", "批准", "同意", "允许", "deny", "reject", "refuse", "拒绝"} {
		if end := l.word(0, verb); end > 0 {
			at, a.Approves = end, strings.Contains("approve allow 批准 同意 允许", verb)
			break
		}
	}
	if at < 0 {
		return a, false
	}
	for _, word := range []string{"request", "请求", "第", "#"} {
		if end := l.word(l.skip(at), word); end > 0 {
			at = end
		}
	}
	at = l.skip(at)
	end := at
	for '0' <= l.at(end) && l.at(end) <= '9' {
		end++
	}
	n, err := strconv.ParseUint(string(l.norm[at:end]), 10, 31)
	if err != nil || n == 0 || isLatin(l.at(end)) {
		return a, false
	}
	a.N = int(n) // 31 bits
	a.Rest = strings.Trim(string(l.raw[end:]), " ,，.。:：;；、个条项号-—")
	return a, true
}
