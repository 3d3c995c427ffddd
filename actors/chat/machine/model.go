package machine

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// modelCommand carries out /model: with a name it chooses the model of the runs that begin from now on. A forwarded
// message or a bot chooses nothing.
func (c *Chat) modelCommand(msg messages.AcceptIngress, turn journal.Turn) decision.ModelAre {
	if msg.Command != "model" {
		return ""
	}
	wanted := strings.ToLower(strings.TrimSpace(msg.Args))
	known := slices.ContainsFunc(c.AllModels(), func(m decision.ModelChoice) bool { return m.Name == wanted })
	switch {
	case wanted == "":
		return decision.ModelListed
	case !known:
		return decision.ModelUnknown
	case msg.Forwarded || msg.Bot || c.MayChoose == nil || !c.MayChoose(c.commandOf(msg, turn)):
		return decision.ModelForbidden
	}
	if wanted != c.ChosenModel().Name {
		if wanted == decision.MainModel {
			wanted = ""
		}
		c.Append(journal.ModelChosen{Model: wanted})
		c.PrefixBroken("model")
	}
	return decision.ModelChanged
}
