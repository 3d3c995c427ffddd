package anthropic

import (
	"crypto/sha256"
	"encoding/json"

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

// thinks reports whether the model may think with a budget: a turn that it has begun without
// thinking, or whose thinking is not its own, has to end without.
func (p *Protocol) thinks(req model.Request) bool {
	begun := len(req.Messages)
	for begun > 0 && req.Messages[begun-1].Role != modelmessage.RoleUser {
		begun--
	}
	for _, m := range req.Messages[begun:] {
		if m.Role != modelmessage.RoleAssistant {
			continue
		}
		if len(m.Parts) == 0 {
			return false
		}
		t, ok := thoughtOf(m.Parts[0])
		return ok && p.opts.Prompter.Sight.TakesThought(t.id())
	}
	return true
}
