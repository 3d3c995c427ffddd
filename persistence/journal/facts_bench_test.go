package journal

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// BenchmarkParseRecord parses a short line, for which looking up the kind is the largest part.
func BenchmarkParseRecord(b *testing.B) {
	line := AppendRecord(nil, Record{N: 1, TS: 1, Fact: TurnReleased{TurnID: "u:telegram-chat-1:2", Outcome: EgressDropped}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseRecord(line); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkApply applies facts that change little, so that looking up the kind is the largest part.
func BenchmarkApply(b *testing.B) {
	s, err := Replay(Snapshot{})
	stdtest.Must(b, err)
	for _, f := range []Fact{ToolStarted{RunID: "r"}, EgressRetried{}, TurnReleased{TurnID: "u"}} {
		b.Run(f.kind(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				stdtest.Must(b, s.Apply(Record{N: 1, TS: 1, Fact: f}))
			}
		})
	}
}
