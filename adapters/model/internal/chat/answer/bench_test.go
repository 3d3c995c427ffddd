package answer

import "testing"

const benchChunk = `{"id":"chatcmpl-9abcdefghijkl","object":"chat.completion.chunk","created":1700000000,"model":"gpt-test-2026","service_tier":"default","system_fingerprint":"fp_abc","choices":[{"index":0,"delta":{"content":" hello"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x8s"}`

// BenchmarkChunk measures one text chunk, from the data of an event to its parts.
func BenchmarkChunk(b *testing.B) {
	p := &Parser{begun: true}
	data := []byte(benchChunk)
	b.ReportAllocs()
	for b.Loop() {
		p.Feed(data)
		p.Events()
	}
}
