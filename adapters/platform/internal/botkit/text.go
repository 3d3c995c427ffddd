package botkit

import (
	"crypto/rand"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxName is the maximum length of the name of a person or chat, in runes.
	MaxName = 128
	// MaxFileName is the maximum length of a file name, in runes.
	MaxFileName = 100
)

// Tidy turns a name that somebody chose into one line of at most n runes.
func Tidy(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		s = string(r[:n])
	}
	return s
}

// FileName returns the last element of a file name given by a sender; a path or URL is not a name.
func FileName(s string) string {
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		s = s[i+1:]
	}
	if s = Tidy(s, MaxFileName); strings.Trim(s, ". ") == "" {
		return ""
	}
	return s
}

// Placeholder stands for something that is not text, for example [document a.pdf].
func Placeholder(words ...string) string {
	kept := words[:0:0]
	for _, w := range words {
		if w = strings.NewReplacer("[", "(", "]", ")").Replace(w); w != "" {
			kept = append(kept, w)
		}
	}
	return "[" + strings.Join(kept, " ") + "]"
}

// Head cuts a text to at most n bytes, between characters.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Says reports whether a description contains one of some words, which are in lower case.
func Says(description string, words ...string) bool {
	description = strings.ToLower(description)
	for _, w := range words {
		if strings.Contains(description, w) {
			return true
		}
	}
	return false
}

// sentenceEnds are the marks that people put behind a command as behind a sentence.
const sentenceEnds = ".!?。！？…"

// ParseCommand parses "/name@bot args". The slash may be the full-width one of Chinese keyboards, and the end of a
// sentence may follow the name.
func ParseCommand(text string) (name, bot, args string, ok bool) {
	word, ok := strings.CutPrefix(text, "/")
	if !ok {
		word, ok = strings.CutPrefix(text, "／")
	}
	if !ok {
		return "", "", "", false
	}
	if i := strings.IndexFunc(word, unicode.IsSpace); i >= 0 {
		word, args = word[:i], strings.TrimSpace(word[i:])
	}
	word = strings.TrimRight(word, sentenceEnds)
	name, bot, at := strings.Cut(word, "@")
	if name == "" || len(name) > 32 || at && bot == "" || strings.ContainsFunc(name, notInName) || strings.ContainsFunc(bot, notInName) {
		return "", "", "", false
	}
	name = strings.ToLower(name)
	if name == "stop" {
		args = strings.ToLower(args)
	}
	return name, bot, args, true
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
}

// RequestID returns a short random id.
func RequestID() string { return strings.ToLower(rand.Text()[:12]) }
