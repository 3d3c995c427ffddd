package host

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/commands"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Every file of testdata/words is a talk with a whole host, in English and in Chinese:
// each line that people write, with the whole answer below it. They hold every command,
// right and wrong, and what the host says by itself, so that each sentence can be read
// as people get it. The lines are those of the scenarios.
func TestWords(t *testing.T) {
	files, err := filepath.Glob("testdata/words/*.txtar")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d talks, %v", len(files), err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		stdtest.Must(t, err)
		if len(strings.TrimSpace(string(archive.Comment))) < 40 {
			t.Errorf("%s does not say what it shows", file)
		}
		parts := map[string]string{}
		for _, f := range archive.Files {
			parts[f.Name] = string(f.Data)
		}
		for _, language := range []string{"en", "zh"} {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+language, func(t *testing.T) {
				if !*update {
					t.Parallel() // much of it is waiting
				}
				got := talk(t, language, parts["script"])
				if *update {
					parts[language] = got
					return
				}
				if diff := cmp.Diff(lines(parts[language]), lines(got)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
		if *update {
			out := &txtar.Archive{Comment: archive.Comment}
			for _, name := range []string{"script", "en", "zh"} {
				out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(parts[name])})
			}
			stdtest.Write(t, file, string(txtar.Format(out)))
		}
	}
}

// talk plays a script in a language and returns what was written and answered. A line
// that begins with "en " or "zh " is one of that language only.
func talk(t *testing.T, language, script string) string {
	t.Helper()
	s := newScene(t)
	shown := map[int64]int{}
	var out strings.Builder
	for i, line := range lines(script) {
		if word, rest, _ := strings.Cut(line, " "); word == "en" || word == "zh" {
			if word != language {
				continue
			}
			line = rest
		}
		verb, rest, _ := strings.Cut(line, " ")
		happens, err := s.do(verb, strings.TrimSpace(rest))
		if err != nil {
			t.Fatalf("line %d: %s: %v", i+1, line, err)
		}
		if !happens {
			continue
		}
		s.rest(line)
		faketest.Poll(t, "the answers to "+line, func() bool { // to a command also while the model is held
			return !slices.ContainsFunc(s.keys, func(key messages.ChatKey) bool {
				view, err := s.h.ports["telegram"].port.History(t.Context(), key)
				return err != nil || view.Counts.Pending > 0
			})
		})
		fmt.Fprintf(&out, "> %s\n", s.same(rest))
		for _, chat := range s.chats {
			sent := s.p.api.Sent(chat)
			for _, m := range sent[shown[chat]:] {
				fmt.Fprintf(&out, "%s\n", s.same(m.Text))
				for _, row := range m.Buttons {
					var labels []string
					for i := 0; i < len(row); i += 2 { // what a button carries is another each time
						labels = append(labels, row[i])
					}
					fmt.Fprintf(&out, "[%s]\n", strings.Join(labels, " | "))
				}
			}
			shown[chat] = len(sent)
		}
		out.WriteString("\n")
	}
	for _, err := range s.model.Faults() {
		t.Errorf("the model: %v", err)
	}
	return out.String()
}

// Sentences that no short talk brings forth, by the reason that chooses them.
func TestSentences(t *testing.T) {
	var out strings.Builder
	row := func(name, en, zh string) { fmt.Fprintf(&out, "%s\n\t%s\n\t%s\n", name, en, zh) }
	for _, reason := range []string{
		"auth", "quota", "bad_request", "not_found", "address", "too_long", "rate", "overloaded", "idle", "network", "cut", "filtered", "refused",
		"length", "empty", "reasoning_only", "unfinished", "steps", "equal_calls", "schema_failures", "parked", "too_old", "recovery",
		"budget.runTokens", "budget.usdPerChatPerDay", "budget.hostTokensPerDay", "expired", "withdrawn", "stopped", "interrupted", "declined", "ignored", "anything else",
	} {
		en, zh := notices.FailureWords(reason)
		row("failed: "+reason, en, zh)
	}
	for _, reason := range []model.Reason{
		model.ReasonAuth, model.ReasonQuota, model.ReasonNotFound, model.ReasonAddress, model.ReasonRate, model.ReasonOverloaded, model.ReasonIdle, model.ReasonNetwork, model.ReasonInternal,
	} {
		words := commands.TroubleWords(reason)
		row("model skipped: "+string(reason), words[0], words[1])
	}
	for _, reason := range []string{"rate", "network", "server", "auth", "forbidden", "not_found", "anything else"} {
		words := notices.UnsentReason(reason)
		row("not sent: "+reason, words[0], words[1])
	}
	const file = "testdata/words/sentences.golden"
	if *update {
		stdtest.Write(t, file, out.String())
		return
	}
	want := stdtest.Read(t, file)
	if diff := cmp.Diff(lines(string(want)), lines(out.String())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
