package approval

import (
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/visible"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Claim describes a person who wants to decide about a request for approval.
type Claim struct {
	ChatKey  messages.ChatKey
	Platform string // by its full name, for example telegram@work
	Person   string // the platform's id; empty if unknown
	Group    bool   // several people may write in the chat
	Asker    string // whose turn led to the request
	Admin    bool   // the person is known to administer the chat
}

// Decider is a person who may decide and has a private chat with the bot.
type Decider struct {
	ChatKey  messages.ChatKey // the private chat
	ChatType string
	Person   string // the platform's id
	Name     string // as last known; empty if unknown
	Role     DeciderRole
}

// DeciderRole says why a person may decide.
type DeciderRole string

// The roles of deciders.
const (
	DeciderOwner    DeciderRole = "owner"
	DeciderApprover DeciderRole = "approver"
	DeciderAdmin    DeciderRole = "admin"
	DeciderAsker    DeciderRole = "asker" // the person whose chat a task belongs to
)

// maxNamed is how many of the people asked in private are named.
const maxNamed = 3

// WhoIsAsked names the people who are asked in private, in English and Chinese. It is empty for an empty list. Markup
// in names has no effect.
func WhoIsAsked(list []Decider) (en, zh string) {
	if len(list) == 0 {
		return "", ""
	}
	var enNames, zhNames []string
	for i, d := range list {
		if i == maxNamed {
			more := strconv.Itoa(len(list) - maxNamed)
			enNames, zhNames = append(enNames, more+" more"), append(zhNames, "另外 "+more+" 人")
			break
		}
		role := d.role()
		name := ShortName(d.Name)
		if name == "" {
			enNames, zhNames = append(enNames, role.enAlone), append(zhNames, role.zh)
			continue
		}
		enNames, zhNames = append(enNames, name+" ("+role.en+")"), append(zhNames, name+"（"+role.zh+"）")
	}
	en = strings.Join(enNames, ", ")
	if n := len(enNames); n > 1 {
		en = strings.Join(enNames[:n-1], ", ") + " and " + enNames[n-1]
	}
	zh = strings.Join(zhNames, "、")
	if ShortName(list[0].Name) != "" {
		zh = " " + zh // a space separates the name from the words before it
	}
	return en, zh
}

type roleWords struct{ en, enAlone, zh string }

func (d Decider) role() roleWords {
	switch d.Role {
	case DeciderOwner:
		return roleWords{"owner", "my owner", "主人"}
	case DeciderAdmin:
		return roleWords{"administrator of this group", "an administrator of this group", "群管理员"}
	case DeciderAsker:
		return roleWords{"whose task it is", "the person whose task it is", "任务的创建者"}
	case DeciderApprover:
	}
	return roleWords{"approver", "an approver", "审批人"}
}

// maxName is the length to which names are cut, in characters.
const maxName = 40

// Quoted returns a name in quotes, or the alternative if the name is blank. It is empty if both are blank.
func Quoted(name, otherwise string) string {
	if strings.TrimSpace(name) == "" {
		name = otherwise
	}
	if strings.TrimSpace(name) == "" {
		return ""
	}
	return "“" + ShortName(name) + "”"
}

// ShortName returns a name as one line of plain text, cut to a length that fits a sentence.
func ShortName(name string) string {
	r := []rune(strings.Join(strings.Fields(name), " "))
	cut := len(r) > maxName
	words := visible.Sentence(string(r[:min(len(r), maxName)]))
	if cut {
		words += "…"
	}
	return words
}
