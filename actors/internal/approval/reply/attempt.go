package reply

import (
	"strconv"
	"strings"
)

// Attempt is a line that begins like a decision about one request, given by its number.
type Attempt struct {
	Approves bool
	N        int
	Rest     string // what follows the number
}

// Attempted parses a line that begins like a decision, for example "deny 1, too risky". It decides nothing: when
// [ParseNumbered] returns Unclear, it helps to explain how to write the decision.
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

// maxLeaning is the longest line that can lean towards a decision, in characters.
const maxLeaning = 60

// Leans reports whether a line reads like a yes or a no, alone (whole) or with more words, such as "ok, both" or "no,
// not now". It decides nothing: when [ParseNumbered] returns Unclear, it helps to explain how to decide.
func Leans(text string) (leans, whole bool) {
	if !legible(text) {
		return false, false
	}
	l := newLine(text)
	line := strings.TrimRight(spoken(l), " .!~")
	if l.len() > maxLeaning {
		return false, false
	}
	for _, ph := range phrases() {
		rest, begins := strings.CutPrefix(line, ph.text)
		switch {
		case !begins:
		case rest == "":
			return true, true
		case strings.ContainsAny(rest[:1], " ,.:;!"), strings.HasPrefix(rest, "、"):
			leans = true
		}
	}
	return leans, false
}
