package anthropic

import (
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// cacheMark is the field of a block that ends what the service may cache.
const cacheMark = `,"cache_control":{"type":"ephemeral"}`

// lookback is how many blocks before a mark the service looks for what it has cached. It is a
// little less than the documented twenty.
const lookback = 18

// marked returns the pieces of a body without its end, with marks after the newest message and
// after one more: the summary of a compacted conversation, or the last message at which another
// [lookback] blocks were complete, so that a step with many calls still finds what the previous
// step cached. The tools and the system text have the other two marks.
func marked(e *protocol.Encoded, req model.Request) [][]byte {
	newest := last(e.Marks, len(e.Marks)-1)
	body, from := [][]byte{e.Head}, 0
	for _, i := range []int{last(e.Marks, min(second(e.Marks, req), newest-1)), newest} {
		if i == 0 {
			continue
		}
		end := e.Marks[i].End - len("}")
		body = append(body, e.Own[from:end], []byte(cacheMark))
		from = end
	}
	return append(body, e.Own[from:])
}

// last returns the last place at or before i that can be marked, or 0.
func last(marks []protocol.Mark, i int) int {
	for i > 0 && (!marks[i].Cacheable || marks[i].End == marks[i-1].End) {
		i--
	}
	return max(i, 0)
}

// second returns the place of the mark before the newest one, or 0.
func second(marks []protocol.Mark, req model.Request) int {
	if req.Messages[0].Role == modelmessage.RoleAssistant { // only a summary comes before the first question
		return 1
	}
	for i := len(marks) - 2; i > 0; i-- {
		if marks[i].Blocks/lookback > marks[i-1].Blocks/lookback {
			return i
		}
	}
	return 0
}
