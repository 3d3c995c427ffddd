package answer

import (
	"strings"
	"testing"
)

const benchChunk = `{"id":"chatcmpl-9abcdefghijkl","object":"chat.completion.chunk","created":1700000000,"model":"gpt-test-2026","service_tier":"default","system_fingerprint":"fp_abc","choices":[{"index":0,"delta":{"content":" hello"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x8s"}`

// BenchmarkChunk measures one text chunk, from bytes to event.
func BenchmarkChunk(b *testing.B) {
	stream := strings.NewReader("")
	p := &Parser{begun: true}
	line := strings.Repeat("data: "+benchChunk+"\n\n", 1000)
	var r *eventReader
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		if n%1000 == 0 {
			stream.Reset(line)
			r = newEventReader(stream)
		}
		n++
		data, err := r.next()
		if err != nil {
			b.Fatal(err)
		}
		p.Feed(data)
		p.Events()
	}
}
