package request

import (
	"net/url"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// StoredScheme begins the URL of a file in the history, which contains no host.
const StoredScheme = "ship-file:"

// FileURL returns the path of a stored file of a chat.
func FileURL(chat, stored string) string {
	return "/api/chat/" + url.PathEscape(chat) + "/files/" + stored
}

// StoredName returns the name of an uploaded file of this chat; ok is false for other links.
func StoredName(chat, link string) (string, bool) {
	if stored, ok := strings.CutPrefix(link, StoredScheme); ok {
		return stored, stored != "" && !strings.ContainsAny(stored, "/?#")
	}
	at := strings.Index(link, "/api/chat/")
	if at < 0 || strings.HasPrefix(link, "data:") {
		return "", false
	}
	name, ok := strings.CutPrefix(link[at:], FileURL(chat, ""))
	return name, ok && name != "" && !strings.ContainsAny(name, "/?#")
}

// SentFilePart is the name of the data parts for files that the agent gave to people. Clients of
// the AI SDK get one after the call; models never read them.
const SentFilePart = "sent-file"

// withoutSent returns a client's message in the form of the history.
func withoutSent(m uimessage.Message) uimessage.Message {
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p uimessage.Part) bool {
		d, ok := p.(uimessage.Data)
		return ok && d.Name == SentFilePart && m.Role == uimessage.RoleAssistant
	})
	return m
}
