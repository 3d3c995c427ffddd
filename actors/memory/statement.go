package memory

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// maxName bounds the name of a speaker, in characters.
const maxName = 64

// statement is what the model may extract from a chat of several people: whole sentences that one
// of them wrote in the turn that it names. The host compares the words with the turn, so that
// neither the model nor a member can attribute words to another member; a text that reads as an
// order to the assistant is refused.
func (w work) statement(said offer, zone *time.Location) (memories.Fact, bool) {
	f := memories.Fact{Text: memories.FactText(said.Fact)}
	if f.Text == "" || len(f.Text) > maxFact || said.By == "" || len(said.From) == 0 || readsAsOrder(said.Fact) {
		return f, false
	}
	for _, n := range said.From[:min(len(said.From), 5)] {
		if n < 1 || n > len(w.turns) {
			return f, false
		}
		t := w.turns[n-1]
		if t.Role != uimessage.RoleUser || t.Meta.UserID != said.By || t.Meta.Source == uimessage.SourceTask || t.Meta.Forwarded() {
			return f, false
		}
		if len(f.Sources) > 0 || !wrote(journal.Text(t.Message), f.Text) {
			continue
		}
		f.Sources, f.At = []string{t.ID}, time.UnixMilli(t.Meta.TS).In(zone)
		f.Said = memories.Speaker{ID: t.Meta.UserID, Name: speakerName(t.Meta.Username)}
	}
	return f, len(f.Sources) > 0
}

// speakerName is the name of a speaker in one line. It is left out if it is too long or reads as an
// order; the id still identifies the speaker.
func speakerName(name string) string {
	plain := memories.FactText(name)
	if utf8.RuneCountInString(plain) > maxName || readsAsOrder(name) {
		return ""
	}
	return plain
}

// wrote reports whether a text contains the words as one or more whole sentences. Half a sentence
// may mean the opposite.
func wrote(text, words string) bool {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, memories.FactText(line))
	}
	whole := strings.Join(lines, "\n")
	flat := strings.ReplaceAll(whole, "\n", " ")
	for from := 0; ; {
		i := strings.Index(flat[from:], words)
		if i < 0 {
			return false
		}
		i += from
		if begins(whole[:i]) && ends(words, whole[i+len(words):]) {
			return true
		}
		_, size := utf8.DecodeRuneInString(flat[i:])
		from = i + size
	}
}

// begins reports whether a sentence may start after a text.
func begins(before string) bool {
	trimmed := strings.TrimRight(before, " ")
	if trimmed == "" || strings.HasSuffix(trimmed, "\n") {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(trimmed)
	return closing(last) && (trimmed != before || last >= utf8.RuneSelf)
}

// ends reports whether words end a sentence, given what follows them.
func ends(words, after string) bool {
	next, _ := utf8.DecodeRuneInString(after)
	if after == "" || next == '\n' {
		return true
	}
	if next == '?' || next == '？' {
		return false // without its sign a question would be a statement
	}
	if closing(next) {
		return next >= utf8.RuneSelf || len(after) == 1 || after[1] == ' ' || after[1] == '\n'
	}
	last, _ := utf8.DecodeLastRuneInString(words)
	return closing(last) && (unicode.IsSpace(next) || last >= utf8.RuneSelf)
}

// closing reports whether a sign ends a sentence.
func closing(r rune) bool { return strings.ContainsRune(".!?;。！？；…", r) }
