package uimessage

import "testing"

// BenchmarkDecodeMetadata is what every turn costs several times.
func BenchmarkDecodeMetadata(b *testing.B) {
	user := Metadata{
		TS: 1700000000000, ChatKey: "telegram-chat-1234567", Channel: "telegram", ChatID: "1234567", ChatType: "private", UserID: "1234567", Username: "ann",
		MessageID: "77", RequestID: "q_01hf0000000000000000", Kind: KindNormal, Source: SourceIngress, IngressID: "telegram:12345", Seq: 7,
	}
	answer := Metadata{
		TS: 1700000000000, ChatKey: "telegram-chat-1234567", Channel: "telegram", ChatID: "1234567", RequestID: "q_01hf0000000000000000", RunID: "r_01hf0000000000000000",
		Kind: KindNormal, Source: SourceEgress, Model: "gpt", Result: "done", Usage: &Usage{InputTokens: 100, OutputTokens: 20, TotalTokens: 120},
		Fates: []FateRecord{{ID: "u:telegram-chat-1234567:77", Fate: FateAnswered, RunID: "r_01hf0000000000000000"}}, Seq: 7,
	}
	for name, m := range map[string]Metadata{"user": user, "answer": answer} {
		b.Run(name, func(b *testing.B) {
			raw := m.Raw()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeMetadata(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
