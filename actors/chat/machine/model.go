package machine

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// modelCommand carries out /model. A name, an effort, or both choose the model and the effort of later runs. A forwarded
// message or a bot chooses nothing. It also returns the model that does not support the effort, if any.
func (c *Chat) modelCommand(msg messages.AcceptIngress, turn journal.Turn) (outcome decision.ModelOutcome, unable decision.ModelChoice) {
	if msg.Command != "model" {
		return "", unable
	}
	words := strings.Fields(strings.ToLower(msg.Args))
	if len(words) == 0 {
		return decision.ModelListed, unable
	}
	wanted, effort, known := c.wanted(words)
	switch {
	case !known:
		return decision.ModelUnknown, unable
	case effort != "" && !slices.Contains(wanted.Efforts, effort):
		return decision.ModelUnable, wanted
	case msg.Bot || c.MayChoose == nil || !c.MayChoose(c.commandOf(msg, turn)):
		return decision.ModelForbidden, unable
	}
	c.chooseModel(wanted, effort)
	return decision.ModelChanged, unable
}

// wanted returns the model and the effort that people ask for. A single word that names no model asks the model of the
// chat for an effort, if any model takes this one.
func (c *Chat) wanted(words []string) (m decision.ModelChoice, effort string, known bool) {
	all := c.AllModels()
	if i := slices.IndexFunc(all, func(m decision.ModelChoice) bool { return m.Name == words[0] }); i >= 0 && len(words) <= 2 {
		return all[i], strings.Join(words[1:], ""), true
	}
	takes := func(m decision.ModelChoice) bool { return slices.Contains(m.Efforts, words[0]) }
	return c.ChosenModel(), words[0], len(words) == 1 && slices.ContainsFunc(all, takes)
}

// chooseModel makes a choice durable. What it changes for the service is a cause of broken prefixes: services cache per
// model, and most of them per effort.
func (c *Chat) chooseModel(m decision.ModelChoice, effort string) {
	chosen := journal.ModelChosen{Model: m.Name, Effort: effort}
	if m.Name == decision.MainModel {
		chosen.Model = ""
	}
	if chosen == (journal.ModelChosen{Model: c.State.Model, Effort: c.State.Effort}) {
		return
	}
	model, before := c.ChosenModel().Name, c.ChosenEffort()
	c.Append(chosen)
	switch {
	case model != m.Name:
		c.PrefixBroken("model")
	case before != effort:
		c.PrefixBroken("effort")
	}
}
