package memory

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/internal/errand"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// turn is a turn of a history; its name says what it is: u, a, s for a summary, and h for one that
// waits for a person. A bar at the end means that the history may end there.
func turn(name string, seq int64) messages.CompactTurn {
	name, ends := strings.CutSuffix(name, "|")
	role := uimessage.RoleAssistant
	if name[0] == 'u' {
		role = uimessage.RoleUser
	}
	meta := uimessage.Metadata{TS: 1_782_900_000_000, Username: "ana", UserID: "7", Seq: seq}
	return messages.CompactTurn{Ends: ends, Waits: name[0] == 'h', Summary: name[0] == 's', Message: uimessage.Message{
		ID: name, Role: role, Metadata: meta.Raw(), Parts: []uimessage.Part{uimessage.Text{Text: "words of " + name}},
	}}
}

func TestWhichTurnsAreRead(t *testing.T) {
	tests := []struct {
		name, turns string
		mark        memories.Mark
		want        string
		to          memories.Mark
	}{
		{"all", "u1 a1| u2 a2|", memories.Mark{}, "u1 a1 u2 a2", memories.Mark{TurnID: "a2", Seq: 4}},
		{"behind the mark", "u1 a1| u2 a2|", memories.Mark{TurnID: "a1", Seq: 2}, "u2 a2", memories.Mark{TurnID: "a2", Seq: 4}},
		{"none is new", "u1 a1|", memories.Mark{TurnID: "a1", Seq: 2}, "", memories.Mark{}},
		{"an open turn", "u1 a1| u2", memories.Mark{}, "u1 a1", memories.Mark{TurnID: "a1", Seq: 2}},
		{"one that waits", "u1 a1| h2| u3 a3|", memories.Mark{}, "u1 a1", memories.Mark{TurnID: "a1", Seq: 2}},
		{"no summary", "s1| u2 a2|", memories.Mark{}, "u2 a2", memories.Mark{TurnID: "a2", Seq: 3}},
		{"the mark was compacted", "s1| u2 a2| u3 a3|", memories.Mark{TurnID: "gone", Seq: 3}, "u3 a3", memories.Mark{TurnID: "a3", Seq: 5}},
		{"the mark was rewound", "u1 a1|", memories.Mark{TurnID: "gone", Seq: 9}, "", memories.Mark{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var turns []messages.CompactTurn
			for i, name := range strings.Fields(tt.turns) {
				turns = append(turns, turn(name, int64(i+1)))
			}
			w := newWork(turns, tt.mark, time.UTC)
			var got []string
			for _, read := range w.turns {
				got = append(got, read.ID)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" || w.to != tt.to || w.left != len(got) {
				t.Errorf("turns (-want +got):\n%sto %v, want %v; left %d", diff, w.to, tt.to, w.left)
			}
		})
	}
}

func TestLongHistoriesAreReadInParts(t *testing.T) {
	var turns []messages.CompactTurn
	for i := range 2*maxTurns + 1 {
		turns = append(turns, turn(fmt.Sprintf("u%d|", i), int64(i+1)))
	}
	w := newWork(turns, memories.Mark{}, time.UTC)
	if len(w.turns) != maxTurns || w.left != len(turns) {
		t.Errorf("%d turns of %d, want %d of %d", len(w.turns), w.left, maxTurns, len(turns))
	}
	for i := range turns {
		turns[i].Message.Parts = []uimessage.Part{uimessage.Text{Text: strings.Repeat("词", maxWords)}}
	}
	if w := newWork(turns, memories.Mark{}, time.UTC); len(w.material) > maxMaterial || len(w.turns) < 2 {
		t.Errorf("%d bytes of %d turns, want at most %d", len(w.material), len(w.turns), maxMaterial)
	}
}

// Material is what the model sees of a turn: who said it, and what tools were asked.
func TestMaterial(t *testing.T) {
	said := turn("u1", 1)
	did := turn("a1|", 2)
	did.Message.Parts = []uimessage.Part{uimessage.Tool{Name: "chat_send", Input: []byte(`{"text":"Tea is on."}`), State: uimessage.ToolOutputAvailable, Output: []byte(`{"x":1}`)}}
	const want = `{"n":1,"at":"2026-07-01 10:00","who":"user","from":"ana","id":"7","text":"words of u1"}
{"n":2,"at":"2026-07-01 10:00","who":"assistant","calls":[{"tool":"chat_send","in":"{\"text\":\"Tea is on.\"}"}]}
`
	stdtest.Diff(t, "material", want, newWork([]messages.CompactTurn{said, did}, memories.Mark{}, time.UTC).material)
}

func TestFacts(t *testing.T) {
	tests := []struct {
		name, answer, want string
		bad                bool
	}{
		{"facts", `{"fact":"ana likes tea","from":[1]}` + "\n" + `{"fact":"two","from":[1,2]}`, "- 2026-07-01 ana likes tea [u1]\n- 2026-07-01 two [u1 a1]\n", false},
		{"in a fence and a list", "```json\n[\n" + `{"fact":"x","from":[2]},` + "\n]\n```", "- 2026-07-01 x [a1]\n", false},
		{"several lines in one", `{"fact":"a\n# System\n- b\u2028c","from":[1]}`, "- 2026-07-01 a # System - b c [u1]\n", false},
		{"from nowhere", `{"fact":"x","from":[3,0,-1]}` + "\n" + `{"fact":"y","from":[]}` + "\n" + `{"fact":"","from":[1]}`, "", false},
		{"none", "{}", "", false},
		{"an empty list", "[]", "", false},
		{"words", "I noted it.", "", true},
		{"nothing", "", "", true},
		{"another form", `{"fact":5}`, "", true},
	}
	w := newWork([]messages.CompactTurn{turn("u1", 1), turn("a1|", 2)}, memories.Mark{}, time.UTC)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts, _, err := w.facts(tt.answer, time.UTC)
			got, _ := memories.Append("", facts...)
			if got != tt.want || (err != nil) != tt.bad {
				t.Errorf("facts = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
	many, _, err := w.facts(strings.Repeat(`{"fact":"`+strings.Repeat("x", 2*maxFact)+`","from":[1]}`+"\n", 2*maxFacts), time.UTC)
	if err != nil || len(many) != maxFacts || len(many[0].Text) > maxFact+len(" …") {
		t.Errorf("%d facts of %d bytes, %v; want them bounded", len(many), len(many[0].Text), err)
	}
}

func TestShorter(t *testing.T) {
	const was = "---\na: 1\n---\n- one fact that is long\n- another fact\n"
	tests := []struct {
		name, body, want string
		limit            int
	}{
		{"shorter", "- one fact\n", "---\na: 1\n---\n- one fact\n", 100},
		{"fenced", "```\n- one fact\n```", "---\na: 1\n---\n- one fact\n", 100},
		{"fenced with its language", "```markdown\n- one fact\n```", "---\na: 1\n---\n- one fact\n", 100},
		{"nothing", " \n", "", 100},
		{"only a fence", "```", "", 100},
		{"longer", strings.Repeat("x", 60), "", 100},
		{"above the limit", "- one fact", "", 20},
	}
	for _, tt := range tests {
		got, err := shorter(was, tt.body, tt.limit)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

type says []model.Event

func (s says) Stream(context.Context, model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for _, ev := range s {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// An answer that was cut off is not used: half a fact may say the opposite.
func TestAnswerIsWhole(t *testing.T) {
	words := model.Event{Kind: model.EventTextDelta, Delta: " {} "}
	end := func(reason string) model.Event {
		return model.Event{Kind: model.EventFinish, Finish: model.FinishReason{Unified: reason}}
	}
	for _, tt := range []struct {
		name   string
		events says
		want   string
		err    error
	}{
		{"whole", says{words, end("stop")}, "{}", nil},
		{"too long", says{words, end("length")}, "", errCut},
		{"calls", says{words, end("tool-calls")}, "", errCut},
		{"no end", says{words}, "", errCut},
	} {
		got, err := answer(t.Context(), tt.events, errand.Question{})
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v; want %q, %v", tt.name, got, err, tt.want, tt.err)
		}
	}
}

// long is a model whose answer needs more tokens than it gets at first.
type long struct{ limits *[]int }

func (l long) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	*l.limits = append(*l.limits, req.MaxOutputTokens)
	end := model.Event{Kind: model.EventFinish, Finish: model.FinishReason{Unified: "stop"}}
	if len(*l.limits) == 1 {
		end.Finish.Unified = "length"
	}
	return says{{Kind: model.EventTextDelta, Delta: "{}"}, end}.Stream(ctx, req)
}

// An answer that became too long is requested once more with a higher limit. Otherwise the same turns would be read
// again and again.
func TestLongAnswerGetsMoreRoom(t *testing.T) {
	var limits []int
	got, err := answer(t.Context(), long{&limits}, errand.Question{MaxTokens: 100})
	if got != "{}" || err != nil || len(limits) != 2 || limits[0] != 100 || limits[1] <= 100 {
		t.Errorf("%q, %v with limits of %v", got, err, limits)
	}
}
