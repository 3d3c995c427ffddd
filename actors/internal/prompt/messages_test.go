package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// chat extends a history like chats do: user turns after closed messages, and steps of the current
// message.
type chat struct {
	history []uimessage.Message
	n       int
}

func (c *chat) user(words string) {
	c.n++
	c.history = append(c.history, uimessage.Message{
		ID: fmt.Sprintf("u%d", c.n), Role: uimessage.RoleUser,
		Metadata: uimessage.Metadata{TS: int64(c.n) * 1000, UserID: "7", Username: words, MessageID: fmt.Sprint(c.n)}.Raw(),
		Parts:    []uimessage.Part{uimessage.Text{Text: words}},
	})
}

// step adds a step to the current message; chats return a new copy.
func (c *chat) step(parts ...uimessage.Part) {
	c.n++
	last := len(c.history) - 1
	if last < 0 || c.history[last].Role != uimessage.RoleAssistant {
		c.history = append(c.history, uimessage.Message{ID: fmt.Sprintf("a%d", c.n), Role: uimessage.RoleAssistant})
		last++
	}
	m := c.history[last]
	all := append([]uimessage.Part{}, m.Parts...)
	m.Parts = append(append(all, uimessage.StepStart{}), parts...)
	c.history = append([]uimessage.Message{}, c.history...)
	c.history[last] = m
}

func (c *chat) anyStep(t *rapid.T) {
	var parts []uimessage.Part
	for i := range rapid.IntRange(0, 3).Draw(t, "parts") {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			parts = append(parts, uimessage.Text{Text: rapid.String().Draw(t, "text")})
		case 1:
			parts = append(parts, uimessage.Reasoning{Text: "hm"})
		default:
			parts = append(parts, uimessage.Tool{
				ToolCallID: rapid.SampledFrom([]string{"", "c1", "c1-2", fmt.Sprintf("c%d-%d", c.n, i)}).Draw(t, "id"),
				Name:       rapid.SampledFrom([]string{"", "read", "files:read"}).Draw(t, "tool"), Dynamic: rapid.Bool().Draw(t, "dynamic"),
				ProviderExecuted: rapid.SampledFrom([]uimessage.Optional[bool]{{}, uimessage.Some(true)}).Draw(t, "provider"),
				State: rapid.SampledFrom([]uimessage.ToolState{
					uimessage.ToolInputStreaming, uimessage.ToolInputAvailable, uimessage.ToolApprovalRequested,
					uimessage.ToolApprovalResponded, uimessage.ToolOutputAvailable, uimessage.ToolOutputError, uimessage.ToolOutputDenied,
				}).Draw(t, "state"),
				Input:     rapid.SampledFrom([]json.RawMessage{nil, raw(`{}`), raw(`"x"`), raw(`{"a":1}`)}).Draw(t, "input"),
				Output:    rapid.SampledFrom([]json.RawMessage{nil, raw(`"out"`), raw(`{"a":1}`)}).Draw(t, "output"),
				ErrorText: uimessage.Some("no"),
			})
		}
	}
	c.step(parts...)
}

func encoded(t interface{ Fatal(...any) }, list []modelmessage.Message) [][]byte {
	out := make([][]byte, len(list))
	for i, m := range list {
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = b
	}
	return out
}

// A request over a longer history starts with the bytes of the previous one; a cache changes
// nothing; and a strict provider accepts every request.
func TestGrowingHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &chat{}
		opts := Options{Group: rapid.Bool().Draw(t, "group"), ToolName: (&tool.Set{}).Wire, Cache: &Cache{}}
		var before [][]byte
		var handed [][]modelmessage.Message
		var bytesThen [][][]byte
		for range rapid.IntRange(1, 12).Draw(t, "length") {
			if rapid.Bool().Draw(t, "user") {
				c.user(rapid.String().Draw(t, "words"))
			} else {
				c.anyStep(t)
			}
			list := Messages(c.history, opts)
			got := encoded(t, list)
			fresh := encoded(t, Messages(c.history, Options{Group: opts.Group, ToolName: opts.ToolName}))
			if !slices.EqualFunc(got, fresh, bytes.Equal) {
				t.Fatalf("cached %s, fresh %s", got, fresh)
			}
			if len(got) < len(before) {
				t.Fatalf("%d messages after %d", len(got), len(before))
			}
			for i := range before {
				if !bytes.Equal(got[i], before[i]) {
					t.Fatalf("message %d was %s and is %s", i, before[i], got[i])
				}
			}
			if len(list) > 0 {
				if err := modeltest.Strict(model.Request{Messages: list}); err != nil {
					t.Fatalf("a strict provider refuses: %v", err)
				}
			}
			before = got
			handed, bytesThen = append(handed, list), append(bytesThen, got)
		}
		for i := range handed {
			if now := encoded(t, handed[i]); !slices.EqualFunc(now, bytesThen[i], bytes.Equal) {
				t.Fatalf("what was handed out changed later: %s, now %s", bytesThen[i], now)
			}
		}
	})
}

func TestCacheSeesReplacedTurns(t *testing.T) {
	c := &chat{}
	c.user("one")
	c.step(uimessage.Text{Text: "answer"})
	c.user("two")
	opts := Options{Cache: &Cache{}}
	first := Messages(c.history, opts)
	kept := encoded(t, first)

	replaced := append([]uimessage.Message{}, c.history...)
	replaced[1].Parts = []uimessage.Part{uimessage.Text{Text: "edited"}}
	tests := []struct {
		name    string
		history []uimessage.Message
		group   bool
	}{
		{"same", c.history, false},
		{"replaced", replaced, false},
		{"compacted", c.history[2:], false},
		{"empty", nil, false},
		{"another header", c.history, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opts.Group = tt.group
			got := encoded(t, Messages(tt.history, opts))
			want := encoded(t, Messages(tt.history, Options{Group: tt.group}))
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("-cached +fresh\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff(encoded(t, first), kept); diff != "" {
		t.Errorf("what was handed out changed: %s", diff)
	}
}

// The number of conversions of a step does not depend on the length of the history.
func TestStepCostIsFlat(t *testing.T) {
	allocs := func(turns int) float64 {
		c := &chat{}
		for range turns {
			c.user("hello")
			c.step(uimessage.Text{Text: "hi"})
		}
		c.user("now")
		c.step(uimessage.Tool{ToolCallID: "c", Name: "read", State: uimessage.ToolOutputAvailable, Input: raw(`{}`), Output: raw(`1`)})
		opts := Options{Cache: &Cache{}}
		Messages(c.history, opts)
		return testing.AllocsPerRun(10, func() { Messages(c.history, opts) })
	}
	if few, many := allocs(5), allocs(500); many > few {
		t.Errorf("a step takes %v allocations behind 5 turns, %v behind 500", few, many)
	}
}

func BenchmarkMessages(b *testing.B) {
	for _, turns := range []int{10, 1000} {
		c := &chat{}
		for range turns / 2 {
			c.user("hello")
			c.step(uimessage.Text{Text: "hi"})
		}
		b.Run(fmt.Sprintf("cached/%d", turns), func(b *testing.B) {
			opts := Options{Cache: &Cache{}}
			b.ReportAllocs()
			for b.Loop() {
				Messages(c.history, opts)
			}
		})
	}
}

// Messages converts a history that is a slice.
func Messages(history []uimessage.Message, opts Options) []modelmessage.Message {
	return MessagesOf(History{Len: len(history), At: func(i int) *uimessage.Message { return &history[i] }}, opts)
}
