package compaction

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/internal/tokens"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// BenchmarkPlan measures the counting of a compaction of 90 turns: all of them, or only those since
// the previous compaction, which left 30.
func BenchmarkPlan(b *testing.B) {
	count := NewCount()
	msg := messages.Compact{Cause: messages.CauseThreshold, System: strings.Repeat("You are the agent of a chat and answer people. ", 100)}
	for i := range 90 {
		role := uimessage.RoleUser
		if i%2 == 1 {
			role = uimessage.RoleAssistant
		}
		msg.Turns = append(msg.Turns, said(fmt.Sprint(i), role, strings.Repeat(fmt.Sprintf("The ships of %d left the harbour before the ice came. ", i), 12)))
	}
	o := Options{Count: count, Keep: 30, Budget: 12_000}
	if _, err := count("x"); err != nil {
		b.Fatal(err)
	}
	known := msg
	known.Turns = append([]messages.CompactTurn(nil), msg.Turns...)
	known.SystemTokens = measure(o)(msg.System)
	for i := range 31 {
		known.Turns[i].Tokens = tokens.Turn(msg.Turns[i].Message, measure(o))
	}
	for name, m := range map[string]messages.Compact{"everything": msg, "new turns": known} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newPlan(b.Context(), m, o)
			}
		})
	}
}
