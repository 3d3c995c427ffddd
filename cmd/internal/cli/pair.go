package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/platforms"
)

func (a *app) pairCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "pair", Short: "Pair a bot with its owner and let people in", Args: cobra.NoArgs,
		Long: "Without a subcommand, prints a code; whoever sends it to the bot first becomes the owner. Other people get a code from\n" +
			"the bot, which the owner approves.",
		Example: "  sma pair\n  sma pair approve ABCD2345",
	}
	bot := cmd.PersistentFlags().String("bot", platforms.All()[0].Name, "the `platform` or account, as in telegram@work")
	cmd.AddCommand(a.pairListCmd(bot), a.pairApproveCmd(bot), a.pairRemoveCmd(bot))
	return console.Command[paired]{
		Run: func(ctx context.Context, _ []string) (paired, error) {
			on, err := a.botIsOn(ctx, *bot)
			if err != nil {
				return paired{}, err
			}
			if !on {
				a.Say(a.Text("warning: %s is off, so no bot takes this code yet; sma doctor says what it needs", "警告：%s 未启用，现在没有机器人能接收这个配对码；sma doctor 会说明还缺什么"), *bot)
			}
			return withAccess(a, func(state string, people *access.Store) (paired, error) { return pairOwner(ctx, state, people, *bot) })
		},
		Text: func(p paired) string { return a.pairText(p, *bot, console.IsTerminal(a.Stdout)) },
	}.On(a.Console, cmd)
}

// withAccess works with the file of people who may use the bots. A running host sees changes at once.
func withAccess[T any](a *app, work func(state string, people *access.Store) (T, error)) (out T, err error) {
	_, state, err := a.Folders(nil)
	if err != nil {
		return out, err
	}
	return accessIn(state, work)
}

func accessIn[T any](state string, work func(state string, people *access.Store) (T, error)) (out T, err error) {
	people, err := access.Open(filepath.Join(state, "access.json"), access.Options{})
	if err != nil {
		return out, &console.Failure{Code: console.CodeConfig, What: "the people who may use the bots cannot be read", Why: err, Help: "sma doctor"}
	}
	out, err = work(state, people)
	if _, ok := errors.AsType[*console.Failure](err); err == nil || ok {
		return out, err
	}
	return out, &console.Failure{Code: console.CodeFailed, What: "the people who may use the bots cannot be changed", Why: err, Help: "sma doctor"}
}

// exists refuses a bot that the settings do not name, unless somebody has access to it.
func (a *app) exists(ctx context.Context, people *access.Store, bot string) error {
	if of := people.Account(bot); of.Owner != nil || len(of.People)+len(of.Groups)+len(of.Codes) > 0 {
		return nil
	}
	_, err := a.botIsOn(ctx, bot)
	return err
}

// botIsOn reports whether a bot is enabled. It refuses one that the settings do not name.
func (a *app) botIsOn(ctx context.Context, bot string) (bool, error) {
	dir, state, err := a.Folders(nil)
	if err != nil {
		return false, err
	}
	on, err := askRunning(ctx, a.Console, state, aboutBots, func(error) (map[string]bool, error) { return a.bots(dir) })
	if err != nil {
		return false, err
	}
	enabled, known := on[bot]
	if !known {
		names := strings.Join(slices.Sorted(maps.Keys(on)), ", ")
		return false, &console.Failure{Code: console.CodeUsage, What: fmt.Sprintf("there is no bot %q; there are %s", bot, names), Help: "sma pair --help"}
	}
	return enabled, nil
}

type paired struct {
	Code string `json:"code,omitempty"`
	Link string `json:"link,omitempty"`
	// Owner is set if the bot has an owner.
	Owner *access.Person `json:"owner,omitempty"`
}

func pairOwner(ctx context.Context, state string, people *access.Store, bot string) (paired, error) {
	code, err := people.OwnerCode(ctx, bot)
	if err != nil {
		return paired{}, err
	}
	out := paired{Code: code, Owner: people.Account(bot).Owner}
	// Without a running host the name of the bot is unknown, and the code is shown without a link.
	if status, err := console.NewControl(state).Status(ctx); err == nil && code != "" {
		out.Link = ownerLink(status.Platforms, bot, code)
	}
	return out, nil
}

// pairText says how the owner is paired; drawn adds the link as a QR code.
func (a *app) pairText(p paired, bot string, drawn bool) string {
	switch {
	case p.Code == "":
		return fmt.Sprintf(a.Text("%s has an owner already: %s (%s)\n", "%s 已有主人：%s（%s）\n"), bot, p.Owner.Name, p.Owner.ID)
	case p.Link == "":
		return fmt.Sprintf(a.Text("Send /start %s to the bot. Whoever does so within an hour becomes its owner.\n", "向机器人发送 /start %s。一小时内最先这样做的人成为它的主人。\n"), p.Code)
	}
	text := fmt.Sprintf(a.Text("Open %s and press Start. Whoever does so within an hour becomes the bot's owner.\n", "打开 %s 并点击 Start。一小时内最先这样做的人成为机器人的主人。\n"), p.Link)
	if drawn {
		text += console.QRCode(p.Link)
	}
	return text
}

func (a *app) pairListCmd(bot *string) *cobra.Command {
	return console.Command[access.Account]{
		Run: func(ctx context.Context, _ []string) (access.Account, error) {
			return withAccess(a, func(_ string, people *access.Store) (access.Account, error) {
				return listed(people, *bot), a.exists(ctx, people, *bot)
			})
		},
		Text: a.accountText,
	}.On(a.Console, &cobra.Command{
		Use: "list", Short: "List who may use the bot", Args: cobra.NoArgs,
		Example: "  sma pair list\n  sma pair list --json",
	})
}

// listed is who may use a bot.
func listed(people *access.Store, bot string) access.Account {
	account := people.Account(bot)
	for i := range account.Codes {
		account.Codes[i].Code = "" // codes are shown only to the people they are for
	}
	return account
}

func (a *app) accountText(account access.Account) string {
	var out strings.Builder
	if account.Owner != nil {
		fmt.Fprintf(&out, a.Text("owner  %s  %s\n", "主人    %s  %s\n"), account.Owner.ID, checkup.OneLine(account.Owner.Name, 60))
	}
	for _, p := range account.People {
		fmt.Fprintf(&out, a.Text("person %s  %s\n", "用户    %s  %s\n"), p.ID, checkup.OneLine(p.Name, 60))
	}
	for _, g := range account.Groups {
		fmt.Fprintf(&out, a.Text("group  %s  %s\n", "群组    %s  %s\n"), g.ID, checkup.OneLine(g.Title, 60))
	}
	for _, c := range account.Codes {
		if c.For != nil {
			fmt.Fprintf(&out, a.Text("asks   %s  %s\n", "请求加入 %s  %s\n"), c.For.ID, checkup.OneLine(c.For.Name, 60))
		}
	}
	if out.Len() == 0 {
		out.WriteString(a.Text("nobody has access yet\n", "还没有人可以使用\n"))
	}
	return out.String()
}

func (a *app) pairApproveCmd(bot *string) *cobra.Command {
	return a.changesAccess(bot, letIn, &cobra.Command{
		Use: "approve CODE", Short: "Let in the person who got this code from the bot", Args: cobra.ExactArgs(1),
		Example: "  sma pair approve ABCD2345\n  sma pair approve ABCD2345 --bot telegram@work",
	})
}

func (a *app) pairRemoveCmd(bot *string) *cobra.Command {
	return a.changesAccess(bot, remove, &cobra.Command{
		Use: "remove ID", Short: "Remove a person's or a group's access", Args: cobra.ExactArgs(1),
		Example: "  sma pair remove 42\n  sma pair remove -- -1001234567890",
	})
}

func (a *app) changesAccess(bot *string, change func(ctx context.Context, people *access.Store, bot, arg string) (string, error), cmd *cobra.Command) *cobra.Command {
	return a.Prints(cmd, func(ctx context.Context, args []string) (string, error) {
		return withAccess(a, func(_ string, people *access.Store) (string, error) {
			if err := a.exists(ctx, people, *bot); err != nil {
				return "", err
			}
			said, err := change(ctx, people, *bot, args[0])
			return a.Words(said), err
		})
	})
}

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
