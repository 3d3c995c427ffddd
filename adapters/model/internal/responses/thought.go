package responses

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// optionsKey is the field of provider options for this protocol.
const optionsKey = "openai"

// own returns a text of our provider options, or "".
func own(options json.RawMessage, name string) string {
	return lenient.String(gjson.GetBytes(options, optionsKey+"."+name))
}

// thought is a reasoning item, or a part of one.
type thought struct {
	id        string
	summaries []string
	encrypted string // in the last part of an item
}

// thoughtOf returns the reasoning of a part. Reasoning without an item is not of this protocol.
func thoughtOf(p modelmessage.Part) (thought, bool) {
	r, ok := p.(modelmessage.Reasoning)
	if !ok {
		return thought{}, false
	}
	t := thought{id: own(r.ProviderOptions, "itemId"), encrypted: own(r.ProviderOptions, "reasoningEncryptedContent")}
	if r.Text != "" {
		t.summaries = []string{r.Text}
	}
	return t, t.id != ""
}

// join adds a part to the items before it. The parts of an item follow one another.
func join(list []thought, t thought) []thought {
	last := len(list) - 1
	if last < 0 || list[last].id != t.id {
		return append(list, t)
	}
	list[last].summaries = append(list[last].summaries, t.summaries...)
	if t.encrypted != "" {
		list[last].encrypted = t.encrypted
	}
	return list
}

// append appends the item, unless it is one that only a service that stores items could read.
func (t thought) append(dst []byte) []byte {
	if t.encrypted == "" {
		return dst
	}
	dst = protocol.AppendString(open(dst, `{"type":"reasoning","id":`), t.id)
	dst = append(dst, `,"summary":[`...)
	for _, text := range t.summaries {
		dst = append(protocol.AppendString(open(dst, `{"type":"summary_text","text":`), text), '}')
	}
	return append(protocol.AppendString(append(dst, `],"encrypted_content":`...), t.encrypted), '}')
}

// maxCallID is the longest id of a call that the service accepts.
const maxCallID = 64

// wireID returns an id of a call that the service accepts; those of other services may be longer.
func wireID(id string) string {
	if id != "" && len(id) <= maxCallID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:16])
}
