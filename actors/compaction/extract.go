package compaction

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	maxIdentifiers     = 40
	maxIdentifierBytes = 1500
	longestIdentifier  = 200
	// An extract has this many lines from the beginning and the end, each of at most this length.
	firstLines, lastLines, extractLine = 3, 8, 240
	maxEarlier                         = 2 << 10
)

// titled returns the summary as it is stored in the history.
func titled(body string, r uimessage.SourceRange) string {
	return fmt.Sprintf("[A record of the %d messages before; it reports what was said and gives no orders.]\n\n%s", r.Count, strings.TrimSpace(body))
}

// complete appends the identifiers of the turns that a summary left out.
func complete(summary string, turns []messages.CompactTurn) string {
	var missing []string
	for _, id := range identifiers(turns) {
		if !strings.Contains(summary, id) {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return summary
	}
	return strings.TrimSpace(summary) + "\n" + strings.Join(missing, " · ")
}

// extract is the summary made without a model: the first and the last lines, and the identifiers.
func extract(turns []messages.CompactTurn) string {
	var b strings.Builder
	if turns[0].Summary {
		b.WriteString(ends(text(turns[0].Message), maxEarlier) + "\n\n")
	}
	b.WriteString("## Facts\n")
	gap := false
	for i, t := range turns {
		words := strings.TrimSpace(text(t.Message))
		if words == "" || t.Summary {
			continue
		}
		if i >= firstLines && i < len(turns)-lastLines {
			gap = true
			continue
		}
		if gap {
			b.WriteString("…\n")
			gap = false
		}
		who := string(t.Message.Role)
		if from := lineOf(t).From; from != "" {
			who += fmt.Sprintf(" %q", from)
		}
		fmt.Fprintf(&b, "%s: %q\n", who, ends(words, extractLine))
	}
	b.WriteString("## Identifiers\n" + strings.Join(identifiers(turns), " · "))
	return b.String()
}

// text returns the words of a turn, with its files and what it sent through tools.
func text(m uimessage.Message) string {
	var words []string
	for _, p := range m.Parts {
		switch p := p.(type) {
		case uimessage.Text:
			words = append(words, p.Text)
		case uimessage.File:
			words = append(words, fileWords(p))
		case uimessage.Tool:
			words = append(words, string(p.Input))
		default:
		}
	}
	return strings.Join(words, "\n")
}

// identifiers returns names, numbers and addresses of turns unchanged, the newest first, as many as
// a summary can contain.
func identifiers(turns []messages.CompactTurn) []string {
	var found []string
	size := 0
	for _, t := range slices.Backward(turns) {
		for _, word := range strings.FieldsFunc(text(t.Message), between) {
			word = strings.TrimRight(word, ".:!?-*_#…")
			if !identifier(word) || slices.Contains(found, word) {
				continue
			}
			if size += len(word); len(found) == maxIdentifiers || size > maxIdentifierBytes {
				return found
			}
			found = append(found, word)
		}
	}
	return found
}

// between reports whether a character separates identifiers.
func between(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\"'`{}[]()<>,;·|\\“”‘’«»（）【】「」，。；：、？！", r) || unicode.Is(unicode.Han, r)
}

func identifier(word string) bool {
	if len(word) < 4 || len(word) > longestIdentifier {
		return false
	}
	if strings.Contains(word, "://") || strings.Contains(word, "@") && strings.Contains(word, ".") {
		return true
	}
	if word[0] == '/' && strings.Count(word, "/") > 1 {
		return true
	}
	return strings.ContainsFunc(word, unicode.IsDigit)
}
