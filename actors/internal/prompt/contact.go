package prompt

import (
	"time"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// contactNote tells the model why a message of its own is there that nobody in the chat
// asked for.
const contactNote = "Somebody asked you in another chat to write the message that follows here. The people of this chat have it."

// withContactNote puts a note of the host before a message that the bot was asked in
// another chat to say. With it the roles of a history alternate, as some services want.
func withContactNote(dst []modelmessage.Message, m uimessage.Message, loc *time.Location) []modelmessage.Message {
	if m.Role != uimessage.RoleAssistant {
		return dst
	}
	meta, _ := uimessage.DecodeMetadata(m.Metadata) // what is not ours is of no such source
	if meta.Source != uimessage.SourceContact {
		return dst
	}
	header := Header(uimessage.Metadata{TS: meta.TS, Source: uimessage.SourceTask}, false, loc)
	return append(dst, modelmessage.Message{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{
		modelmessage.Text{Text: header}, modelmessage.Text{Text: contactNote},
	}})
}
