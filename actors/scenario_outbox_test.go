package actors_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// sendScripts are conversations with sends: whole answers, long ones in parts, by tool, and in drafts.
var sendScripts = []string{
	"say alice one\nsay alice two",
	"say alice long\nsay alice two",
	"set caps tools\nsay alice one\nsay bob two",
	"set caps drafts\ntool look repeatable held T\nsay alice look\nadvance 3s\nrelease T\nadvance 3s",
}

// A process is killed before or after every operation around a send, one to three times in a row. No answer is lost. An
// answer appears at most once more for each crash, and then the ledger says that this is possible.
func TestIO6CrashAroundASend(t *testing.T) {
	deaths, every := 1, 3
	if soaking() {
		deaths, every = 3, 1
	}
	sum := &sendBooks{}
	for _, script := range sendScripts {
		total := 0
		synctest.Test(t, func(t *testing.T) { total = dieAround(t, script, nil, sum) })
		for n := 1; n <= total && !t.Failed(); n += every {
			for _, after := range []bool{false, true} {
				for more := range deaths {
					at := []death{{n, after}}
					for k := range more {
						at = append(at, death{1 + (n+k)%6, !after})
					}
					synctest.Test(t, func(t *testing.T) { dieAround(t, script, at, sum) })
				}
			}
		}
	}
	t.Logf("soak: row=IO6 kills=%d answers=%d lost=%d doubled=%d excused=%d", sum.kills, sum.answers, sum.lost, sum.doubled, sum.excused)
}

type death struct {
	op    int // of the store, counted from the start of the process
	after bool
}

// sendBooks are counts. A copy is excused when the ledger marks it.
type sendBooks struct{ kills, answers, lost, doubled, excused int }

func dieAround(t *testing.T, script string, deaths []death, sum *sendBooks) (ops int) {
	t.Helper()
	s := newScenario(t, filestoretest.New(t))
	s.model.Otherwise = &modeltest.Step{Do: obvious}
	arm := func(d death) {
		s.store.set(func(f *faulty) { f.dieAt, f.after = len(f.trace)+d.op, d.after })
	}
	if len(deaths) > 0 {
		arm(deaths[0])
	}
	for line := range strings.SplitSeq(script, "\n") {
		verb, rest, _ := strings.Cut(line, " ")
		_, _ = s.do(verb, rest) // what was not confirmed comes again below
		if s.w != nil {
			s.w.Wait()
		}
	}
	s.store.set(func(f *faulty) { ops = len(f.trace) })
	kills := 0
	for i := range deaths {
		if !s.store.dead {
			break
		}
		kills++
		s.world().Kill()
		s.store.revive()
		if i+1 < len(deaths) {
			arm(deaths[i+1])
		}
		s.w = s.w.Again(nil)
		<-time.After(time.Minute)
		s.w.Wait()
	}
	if s.store.dead {
		kills++
		stdtest.Must(t, s.kill(""))
	}
	s.store.set(func(f *faulty) { f.dieAt = 0 }) // a death that nothing came to
	for _, in := range s.in {
		_, _ = s.accept(in)
		s.w.Wait()
	}
	<-time.After(time.Minute)
	s.w.Wait()
	s.sendBooks(kills, deaths, sum)
	return ops
}

// sendBooks compares the messages on the platform with the history and the ledger.
func (s *scenario) sendBooks(kills int, deaths []death, sum *sendBooks) {
	s.t.Helper()
	stands := map[string]int{}
	texts := s.w.Platform.Texts(s.key)
	for _, text := range texts {
		stands[text]++
	}
	for _, m := range s.w.View(s.key).Messages {
		want := saidByTool(m)
		if meta := journal.NewTurn(m).Meta; m.Role == uimessage.RoleAssistant && meta.Result != "" {
			want = append(want, journal.Text(m))
		}
		for _, text := range want {
			if text == "" || m.Role == uimessage.RoleUser {
				continue
			}
			sum.answers++
			for _, part := range partsOf(text) {
				if !strings.Contains(strings.Join(texts, "\n"), part) {
					sum.lost++
					s.t.Errorf("%v: lost %s", deaths, short(part))
				}
			}
		}
	}
	s.twice = "a crash between a send and its receipt, which the ledger marks"
	s.everythingHolds()
	excused := 0
	for text, n := range stands {
		if n > 1 && !strings.Contains(strings.Join(s.marked, "\n"), text) {
			sum.doubled += n - 1
			s.t.Errorf("%v: %s stands %d times and the ledger does not say so", deaths, short(text), n)
			continue
		}
		excused += n - 1
	}
	if excused > kills {
		s.t.Errorf("%v: %d copies for %d crashes", deaths, excused, kills)
	}
	sum.kills, sum.excused = sum.kills+kills, sum.excused+excused
}

// saidByTool are the texts that a message sent by tool.
func saidByTool(m uimessage.Message) (texts []string) {
	for _, p := range m.Parts {
		var in struct{ Text string }
		if t, ok := p.(uimessage.Tool); ok && t.Name == "chat_send" && json.Unmarshal(t.Input, &in) == nil {
			texts = append(texts, in.Text)
		}
	}
	return texts
}

// partsOf are the parts of a text as the platform of these tests sends them.
func partsOf(text string) []string {
	var parts []string
	for len(text) > 4096 {
		parts, text = append(parts, text[:4096]), text[4096:]
	}
	return append(parts, text)
}

// Limits of a chat are exact: the given number of turns may wait and not one more, and a run may send the given number
// of messages by tool and not one more. Beyond that, people get a reason.
func TestOV5LimitsAreExact(t *testing.T) {
	for _, limit := range []int{1, 2, 7} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScenario(t, filestoretest.New(t))
				s.play(fmt.Sprintf("set lane %d\ntool look held T\nmodel call c1 look {}\nmodel rest text Done.\nsay alice look", limit))
				for i := range limit {
					s.play(fmt.Sprintf("say alice turn %d", i))
				}
				s.play(fmt.Sprintf("say alice one more => declined lane_full\nwaiting %d\nrelease T\nsay alice now there is room", limit))
			})
			synctest.Test(t, func(t *testing.T) {
				s := newScenario(t, filestoretest.New(t))
				s.play(fmt.Sprintf("set caps tools\nset sends %d", limit))
				for i := range limit + 2 {
					s.play(fmt.Sprintf(`model call c%d chat_send {"text":"message %d"}`, i, i))
				}
				s.play("model text Enough.\nsay alice talk\nadvance 1m")
				if n := len(s.w.Platform.Texts(s.key)); n != limit {
					t.Errorf("%d messages were sent, the limit is %d", n, limit)
				}
				history := strings.Builder{}
				for _, m := range s.w.View(s.key).Messages {
					history.WriteString(parts(m))
				}
				if n := strings.Count(history.String(), `"limit"`); n != 2 {
					t.Errorf("%d calls were told of the limit, want 2: %s", n, history.String())
				}
			})
		})
	}
}
