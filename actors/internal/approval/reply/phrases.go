package reply

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// phrase is a complete reply.
type phrase struct {
	text string
	kind Kind
	one  bool // only for a single command
	bare bool // it does not mention all of them
}

// phrases are the closed lists, in the spelling of line.norm.
func phrases() []phrase {
	var out []phrase
	add := func(kind Kind, one, bare bool, lists ...string) {
		for _, list := range lists {
			for text := range strings.SplitSeq(list, ",") {
				out = append(out, phrase{text: text, kind: kind, one: one, bare: bare})
			}
		}
	}
	add(ApproveAll, true, true,
		"同意,同意了,我同意,可以,可以的,行,好,好的,没问题,批准,允许,准了,通过,确认,确认执行,同意执行,可以执行,执行吧",
		"yes,y,yep,yeah,ok,okay,sure,approve,approved,i approve,allow,allow it,lgtm,go ahead,do it,proceed",
		"confirm,confirmed,sounds good",
		"👍,✅,👌",
	)
	add(ApproveAll, false, false,
		"全部同意,都同意,全都同意,全同意,全部批准,全部允许,全部通过,都可以,都行,都批准,都允许",
		"approve all,approve everything,approve them all,allow all,yes to all,all approved",
	)
	add(DenyAll, false, true,
		"不同意,我不同意,拒绝,不行,不可以,不要,不,不批准,不允许,不准,否,别执行,不要执行,不能执行,取消",
		"no,n,nope,deny,denied,reject,rejected,refuse,don't,do not,don't run it,do not run it,disapprove",
		"not approved,not allowed,cancel,stop,no thanks",
		"👎,❌,🚫",
	)
	add(DenyAll, false, false,
		"全部拒绝,都拒绝,全都拒绝,全拒绝,都不同意,全部不同意,都不行,都不可以,都不要,都不批准",
		"deny all,deny everything,reject all,refuse all,no to all,none of them",
	)
	return out
}

// phrase parses a line that is a phrase of the lists, or a refusal and its reason.
func (p parser) phrase(l line) []Meaning {
	text := spoken(l)
	var out []Meaning
	add := func(kind Kind, bare bool) { out = append(out, Meaning{Reply: Reply{Kind: kind}, Bare: bare}) }
	list := phrases()
	for _, ph := range list {
		switch {
		case text == ph.text && ph.one && len(p.pending) > 1:
			add(Unclear, false)
		case text == ph.text:
			add(ph.kind, ph.bare)
		case ph.kind == DenyAll && strings.HasPrefix(text, ph.text):
			if why, ok := reason(text[len(ph.text):]); ok && hedged(why, list) {
				add(Unclear, false)
			} else if ok {
				add(DenyAll, ph.bare)
			}
		}
	}
	return out
}

// spoken is a line in the spelling of the lists: blanks collapsed, emoji without skin tones and
// variation selectors.
func spoken(l line) string {
	const emoji = "👍✅👌👎❌🚫"
	var b strings.Builder
	var last rune
	for _, r := range l.norm {
		if (r == ' ' && last == ' ') || (modifies(r) && strings.ContainsRune(emoji, last)) {
			continue
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// modifies reports whether a rune changes the look of the emoji before it.
func modifies(r rune) bool {
	return r == '\uFE0E' || r == '\uFE0F' || '\U0001F3FB' <= r && r <= '\U0001F3FF'
}

// reason is the text after the word that introduces a reason, separated by a blank or a mark.
func reason(rest string) (string, bool) {
	trimmed := strings.TrimLeft(rest, " ")
	if trimmed != "" && strings.Contains(",.:;", trimmed[:1]) {
		trimmed = strings.TrimLeft(trimmed[1:], " ")
	}
	if trimmed == rest {
		return "", false
	}
	for _, word := range []string{"因为", "原因", "理由", "because", "since", "reason"} {
		why, ok := strings.CutPrefix(trimmed, word)
		if ok && (!isLatin(rune(word[0])) || why == "" || !isLatin(rune(why[0]))) {
			return why, true
		}
	}
	return "", false
}

// hedged reports whether a reason contradicts what it explains, or may: it contains another phrase,
// or a conditional word.
func hedged(why string, list []phrase) bool {
	return slices.ContainsFunc(list, func(ph phrase) bool { return mentions(why, ph.text, 3, 2) }) ||
		slices.ContainsFunc(
			[]string{"但", "不过", "可是", "除了", "除非", "如果", "but", "however", "except", "unless", "if"},
			func(word string) bool { return mentions(why, word, 1, 1) },
		)
}

// mentions reports whether a text contains a phrase: an English one of at least so many letters as
// words, a Chinese one of at least so many characters anywhere, an emoji always.
func mentions(text, phrase string, letters, characters int) bool {
	if !isLatin(rune(phrase[0])) {
		first, _ := utf8.DecodeRuneInString(phrase)
		short := unicode.Is(unicode.Han, first) && utf8.RuneCountInString(phrase) < characters
		return !short && strings.Contains(text, phrase)
	}
	n := 0
	for _, r := range phrase {
		if isLatin(r) {
			n++
		}
	}
	if n < letters {
		return false
	}
	for i := 0; i+len(phrase) <= len(text); i++ {
		end := i + len(phrase)
		if text[i:end] == phrase && (i == 0 || !isLatin(rune(text[i-1]))) && (end == len(text) || !isLatin(rune(text[end]))) {
			return true
		}
	}
	return false
}
