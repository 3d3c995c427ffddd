package prompt

import (
	"time"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// contactNote explains to the model a message of its own that was not requested in this chat.
const contactNote = "Somebody asked you in another chat to write the message that follows here. The people of this chat have it."

// withContactNote puts a note of the host before a message that the bot was asked to send from
// another chat. The note keeps the roles of a history alternating, which some services require.
func withContactNote(dst []modelmessage.Message, m uimessage.Message, loc *time.Location) []modelmessage.Message {
	if m.Role != uimessage.RoleAssistant {
		return dst
	}
	meta, _ := uimessage.DecodeMetadata(m.Metadata) // metadata of another origin has no source
	if meta.Source != uimessage.SourceContact {
		return dst
	}
	header := Header(uimessage.Metadata{TS: meta.TS, Source: uimessage.SourceTask}, false, loc)
	return append(dst, modelmessage.Message{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{
		modelmessage.Text{Text: header}, modelmessage.Text{Text: contactNote},
	}})
}
