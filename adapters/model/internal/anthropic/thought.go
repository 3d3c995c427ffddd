package anthropic

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// thought is a block of thinking that the service has signed, or one whose text only it can read.
type thought struct{ text, signature, redacted string }

// thoughtOf returns the thinking of a part. Reasoning without a signature is not of this protocol.
func thoughtOf(p modelmessage.Part) (thought, bool) {
	r, ok := p.(modelmessage.Reasoning)
	if !ok || protocol.IsNull(r.ProviderOptions) || !json.Valid(r.ProviderOptions) {
		return thought{}, false
	}
	own := lenient.Object(gjson.ParseBytes(r.ProviderOptions).Get("anthropic"))
	t := thought{r.Text, lenient.String(own.Get("signature")), lenient.String(own.Get("redactedData"))}
	return t, t.signature != "" || t.redacted != ""
}

// id identifies a block of thinking in few bytes.
func (t thought) id() string {
	sum := sha256.Sum256([]byte(t.signature + t.redacted))
	return string(sum[:8])
}

func (t thought) append(dst []byte) []byte {
	if t.signature == "" {
		return append(protocol.AppendString(append(dst, `{"type":"redacted_thinking","data":`...), t.redacted), '}')
	}
	dst = protocol.AppendString(append(dst, `{"type":"thinking","thinking":`...), t.text)
	return append(protocol.AppendString(protocol.AppendMember(dst, "signature"), t.signature), '}')
}

// thinks reports whether the model may think with a budget. It may not in a turn that began without thinking, whose
// thinking was refused, or that another service has continued.
func (p *Protocol) thinks(req model.Request) bool {
	first := true
	for _, m := range turn(req.Messages) {
		if m.Role != modelmessage.RoleAssistant {
			continue
		}
		if !p.thought(m) && (first || !ownCalls(m)) {
			return false
		}
		first = false
	}
	return true
}

// turn returns the messages after the last one of a user.
func turn(messages []modelmessage.Message) []modelmessage.Message {
	begun := len(messages)
	for begun > 0 && messages[begun-1].Role != modelmessage.RoleUser {
		begun--
	}
	return messages[begun:]
}

// thought reports whether a message begins with thinking that is sent back.
func (p *Protocol) thought(m modelmessage.Message) bool {
	if len(m.Parts) == 0 {
		return false
	}
	t, ok := thoughtOf(m.Parts[0])
	return ok && p.opts.Prompter.Sight.TakesThought(t.id())
}

// ownCalls reports whether the calls of a message have ids as this service makes them. A later step
// of a turn may be without thinking.
func ownCalls(m modelmessage.Message) bool {
	return !slices.ContainsFunc(m.Parts, func(p modelmessage.Part) bool {
		call, ok := p.(modelmessage.ToolCall)
		return ok && !strings.HasPrefix(call.ToolCallID, "toolu_")
	})
}
