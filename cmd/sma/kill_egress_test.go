package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// TestIO6KillsAroundSends kills the process around its sends: before the platform has the message, while it receives
// it, and after that but before the host gets the response. Every answer arrives. A kill causes at most one copy, and
// the ledger says of such a message that there may be two.
func TestIO6KillsAroundSends(t *testing.T) {
	var sum tally
	inWorlds(t, worlds(2, 3), few(8, 300), func(t *testing.T, path string, random *rand.Rand, kills int) {
		t.Helper()
		w := newKillWorld(t, path, 1, "direct", modeltest.NewFunc(acknowledge), random)
		unknown := 0
		for n := range kills {
			at := phase(random.IntN(int(phases)))
			if at != arrived {
				unknown++
			}
			// Every other kill waits for the newest answer: a run that is killed three
			// times is given up.
			newest := ""
			if n%2 == 0 {
				newest = w.next(1)
			}
			c := trap{at: at, wants: sends(newest)}
			if at == answered {
				c.delay = time.Duration(random.Int64N(int64(3 * time.Millisecond)))
			}
			w.say(1, "please "+w.next(1))
			w.killAt(t, c, nil)
			sum.add("at_"+at.String(), 1)
		}
		w.checkEgress(t, w.rest(t)[1], unknown, &sum)
		sum.add("kills", w.kills)
	})
	sum.report(t, "IO6")
}

func sends(part string) func(string, map[string]any, []byte) bool {
	return func(method string, params map[string]any, _ []byte) bool {
		text, _ := params["text"].(string)
		return method == "sendMessage" && strings.Contains(text, part)
	}
}

// checkEgress compares what people see with the answers. unknown is the number of kills that may have left a message of
// which it is unknown whether it was sent.
func (w *killWorld) checkEgress(t *testing.T, b book, unknown int, sum *tally) {
	t.Helper()
	b.balanced(t, "the chat", len(w.said[1]))
	sum.add("acknowledged", len(w.said[1]))
	w.checkAnswered(t, w.checkCopies(t, b, unknown, sum), sum)
}

// checkCopies returns the texts that people see, in order. Each has a receipt in the
// ledger, a second copy follows the first one and is marked, and there are not more
// copies than kills that may have left one.
func (w *killWorld) checkCopies(t *testing.T, b book, unknown int, sum *tally) []string {
	t.Helper()
	maybe := map[string]bool{} // receipts
	for _, e := range b.Ledger {
		for _, id := range e.Receipt {
			maybe[id] = e.Maybe
		}
	}
	var texts []string
	ids := map[string][]string{}
	for _, s := range w.api.Sent(1) {
		if len(ids[s.Text]) == 0 {
			texts = append(texts, s.Text)
		} else if texts[len(texts)-1] != s.Text {
			t.Errorf("a copy of %q came after another message", s.Text)
		}
		ids[s.Text] = append(ids[s.Text], strconv.FormatInt(s.ID, 10))
	}
	excused := 0
	for _, text := range texts {
		copies := ids[text]
		known := slices.IndexFunc(copies, func(id string) bool { _, ok := maybe[id]; return ok })
		switch {
		case known < 0:
			t.Errorf("%q was sent, and no receipt in the ledger says so", text)
		case len(copies) > 1 && !maybe[copies[known]]:
			t.Errorf("%q was sent %d times and is not marked", text, len(copies))
			sum.add("doubled", len(copies)-1)
		default:
			excused += len(copies) - 1
		}
	}
	sum.add("excused", excused)
	if excused > unknown {
		t.Errorf("%d copies after %d kills around a send", excused, unknown)
	}
	return texts
}

// checkAnswered finds unanswered messages. A notice of the host answers all messages that were open when it was
// written.
func (w *killWorld) checkAnswered(t *testing.T, texts []string, sum *tally) {
	t.Helper()
	got := map[string]bool{}
	for _, text := range texts {
		found := token.FindAllString(text, -1)
		if len(found) == 0 {
			sum.add("notices", 1)
			t.Errorf("the host gave something up: %q", text)
		}
		for _, id := range found {
			got[id] = true
		}
	}
	missing := 0
	for _, words := range w.said[1] {
		if !got[token.FindString(words)] {
			missing++
		}
	}
	if missing > 0 {
		sum.add("lost", missing)
		t.Errorf("%d answers are missing; people see\n%s", missing, fmt.Sprint(texts))
	}
}
