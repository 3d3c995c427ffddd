package uimessage

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// NoticeMember is the member of an assistant turn's metadata with the sentence that
// people read about a run that did not end well. The model never reads it.
const NoticeMember = "notice"

// Notice is the sentence about the run of an assistant turn. It is empty if the run ended
// well, or if people are informed in another way.
func (m Metadata) Notice() string {
	for _, member := range m.Extra {
		if member.Name == NoticeMember {
			text, _ := rawjson.Unquote(member.Value)
			return text
		}
	}
	return ""
}

// WithNotice is the metadata with that sentence.
func (m Metadata) WithNotice(sentence string) Metadata {
	if sentence != "" {
		m.Extra = append(slices.Clip(m.Extra), Member{Name: NoticeMember, Value: rawjson.AppendString(nil, sentence)})
	}
	return m
}
