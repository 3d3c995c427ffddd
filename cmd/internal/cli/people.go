package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
)

// letIn gives access to the person who got a code from a bot, and says to whom.
func letIn(ctx context.Context, people *access.Store, bot, code string) (string, error) {
	who, ok, err := people.Approve(ctx, bot, code)
	if err == nil && !ok {
		err = &console.Failure{Code: console.CodeFailed, What: "this code is not valid: it may be mistyped, used already or older than an hour", Help: "sma pair list"}
	}
	return fmt.Sprintf("%s (%s) may use the bot now\n", checkup.OneLine(who.Name, 60), who.ID), err
}

// remove takes the access of a person or a group away.
func remove(ctx context.Context, people *access.Store, bot, id string) (string, error) {
	person, err := people.Remove(ctx, bot, id)
	if err != nil {
		return "", err
	}
	group, err := people.ForbidGroup(ctx, bot, id)
	if err == nil && !person && !group {
		err = &console.Failure{Code: console.CodeFailed, What: id + " had no access", Help: "sma pair list"}
	}
	return id + " has no access any more\n", err
}

// settle lets somebody in or blocks them, who asks for access, has it, or is blocked.
func settle(ctx context.Context, people *access.Store, bot, id string, choice platform.Choice) (string, error) {
	who, ok, err := people.Settle(ctx, bot, id, choice)
	if err == nil && !ok {
		err = &console.Failure{Code: console.CodeFailed, What: id + " does not ask any more, or this was done already", Help: "sma pair list"}
	}
	is := "may use the bot now"
	if choice == platform.Block {
		is = "is blocked"
	}
	return fmt.Sprintf("%s (%s) %s\n", checkup.OneLine(who.Name, 60), who.ID, is), err
}

// botPeople is who may use one bot.
type botPeople struct {
	Bot string `json:"bot"`
	On  bool   `json:"on"`
	access.Account
}

// people lists who may use each bot of the settings.
func (a *app) people(dir, state string) ([]botPeople, error) {
	on, err := a.bots(dir)
	if err != nil {
		return nil, err
	}
	return accessIn(state, func(_ string, people *access.Store) ([]botPeople, error) {
		out := []botPeople{}
		for _, bot := range slices.Sorted(maps.Keys(on)) {
			out = append(out, botPeople{bot, on[bot], listed(people, bot)})
		}
		return out, nil
	})
}

// orderPeople carries out an order of the console: to let somebody in, with the code they got or by their id, to block
// a person, or to remove a person or a group.
func (a *app) orderPeople(ctx context.Context, dir, state string, order []byte) (any, error) {
	var o struct{ Bot, Do, Code, ID string }
	if err := json.Unmarshal(order, &o); err != nil {
		return nil, &console.Failure{Code: console.CodeUsage, What: "the order cannot be read", Why: err}
	}
	on, err := a.bots(dir)
	if err != nil {
		return nil, err
	}
	if _, known := on[o.Bot]; !known {
		return nil, &console.Failure{Code: console.CodeUsage, What: "there is no bot " + checkup.OneLine(o.Bot, 60)}
	}
	said, err := accessIn(state, func(_ string, people *access.Store) (string, error) {
		switch {
		case o.Do == "approve" && o.ID != "":
			return settle(ctx, people, o.Bot, o.ID, platform.LetIn)
		case o.Do == "approve":
			return letIn(ctx, people, o.Bot, o.Code)
		case o.Do == "block" && o.ID != "":
			return settle(ctx, people, o.Bot, o.ID, platform.Block)
		case o.Do == "remove" && o.ID != "":
			return remove(ctx, people, o.Bot, o.ID)
		}
		return "", &console.Failure{Code: console.CodeUsage, What: "an order is to approve a code or an id, or to block or remove an id"}
	})
	return map[string]string{"said": said}, err
}
