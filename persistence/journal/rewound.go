package journal

import (
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Rewound returns the rewrite that archives the history from an index on. The journal must be checkpointed. If this
// leaves user turns without their answer, an empty assistant turn with the given id closes them, so that they are not
// answered again.
func (s *State) Rewound(key messages.ChatKey, from int, now time.Time, turnID string) Rewrite {
	r := Rewrite{
		ArchiveID: now.UTC().Format("20060102T150405.000Z") + "-rewind", At: now, From: from, To: len(s.History), Meta: s.Meta(),
	}
	if s.EndsOpen(from) {
		meta := uimessage.Metadata{
			TS: now.UnixMilli(), ChatKey: string(key), Kind: uimessage.KindNormal, Source: uimessage.SourceEgress,
			Result: string(ResultRewound), Seq: s.Seq,
		}
		r.Insert = []uimessage.Message{{ID: turnID, Role: uimessage.RoleAssistant, Parts: []uimessage.Part{}, Metadata: meta.Append(nil)}}
	}
	return r
}
