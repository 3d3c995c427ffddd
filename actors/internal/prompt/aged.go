package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// agedMember is the metadata member of a turn that names the archive with its original.
const agedMember = "aged"

// Aged returns a message whose large tool outputs are replaced by pointers to the archive with the
// original message; it returns false if there are none. Calls keep their results, and the words of
// people and model do not change.
func Aged(m uimessage.Message, archive string) (uimessage.Message, bool) {
	parts, changed := slices.Clone(m.Parts), false
	for i, p := range parts {
		t, ok := p.(uimessage.Tool)
		if !ok || !t.State.Settled() || t.Preliminary.Value {
			continue
		}
		if n := len(t.Output); n > largeOutput {
			t.Output, changed = agedOutput(t.Output, archive), true
		}
		if n := len(t.ErrorText.Value); n > largeOutput {
			head := strings.ToValidUTF8(t.ErrorText.Value[:outputHead], "")
			t.ErrorText, changed = uimessage.Some(fmt.Sprintf("%s… (%d bytes, archive %s) %s", head, n, archive, noteLeft)), true
		}
		parts[i] = t
	}
	if !changed {
		return m, false
	}
	name, err := json.Marshal(archive)
	if err != nil {
		return m, false // Unreachable: a string encodes.
	}
	meta, _ := uimessage.DecodeMetadata(m.Metadata) // unreadable metadata stays in Extra
	meta.Tokens = 0
	meta.Extra = slices.DeleteFunc(slices.Clone(meta.Extra), func(e uimessage.Member) bool { return e.Name == agedMember })
	meta.Extra = append(meta.Extra, uimessage.Member{Name: agedMember, Value: name})
	m.Parts, m.Metadata = parts, meta.Append(nil)
	return m, true
}

// agedOutput points to the archive, if there is one, and to the tool's own copy of the whole if the output names it.
func agedOutput(output json.RawMessage, archive string) json.RawMessage {
	short, err := json.Marshal(struct {
		Truncated bool   `json:"truncated"`
		Bytes     int    `json:"bytes"`
		Archive   string `json:"archive,omitempty"`
		Whole     string `json:"whole,omitempty"`
		Note      string `json:"note"`
	}{true, len(output), archive, wholeOf(output), noteLeft})
	if err != nil {
		return output // Unreachable: plain members encode.
	}
	return short
}

// wholeOf is the name under which a tool stored the whole of an output, if any.
func wholeOf(output json.RawMessage) string {
	var kept struct {
		Whole string `json:"whole"`
	}
	if json.Unmarshal(output, &kept) != nil || len(kept.Whole) > outputHead {
		return ""
	}
	return kept.Whole
}
