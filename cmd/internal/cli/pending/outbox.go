package pending

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Outbox is the command outbox with its subcommands. Parked messages stay until a person retries or drops them, which
// only a running host can do.
func Outbox(a *console.Console) *cobra.Command {
	return console.Group(&cobra.Command{
		Use: "outbox", Short: "List undelivered messages, and retry or drop parked ones",
		Long: "A message that a platform permanently refuses, or that repeatedly makes its chat fail, is parked until a person retries\n" +
			"or drops it. It neither delays nor loses anything else.",
		Example: "  sma outbox list\n  sma outbox retry telegram-chat-42 --all\n  sma outbox drop telegram-chat-42 ID",
	}, outboxListCmd(a), outboxSettleCmd(a, false), outboxSettleCmd(a, true))
}

func outboxListCmd(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list [CHAT]", Short: "List pending and parked messages, oldest first", Args: cobra.MaximumNArgs(1),
		Example: "  sma outbox list\n  sma outbox list telegram-chat-42 --json\n  sma outbox list --parked",
	}
	parked := cmd.Flags().Bool("parked", false, "only parked messages")
	return console.Listing[query.OutboxLine]{
		Name: "outbox", Failed: noOutbox, Answer: (*query.Desk).Outbox,
		Chat: func(l *query.OutboxLine) (messages.ChatKey, *string) { return l.ChatKey, &l.Name },
		Keep: func(l query.OutboxLine) bool { return !*parked || l.State == messages.OutboxParked },
		Text: func(lines []query.OutboxLine) string { return outboxText(a, lines, time.Now()) },
	}.On(a, cmd)
}

const noOutbox = "the outbox cannot be read"

// outboxSettleCmd is the command retry or drop.
func outboxSettleCmd(a *console.Console, drop bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "retry CHAT ID|--all", Short: "Retry parked messages", Args: cobra.RangeArgs(1, 2),
		Long: "Retries parked messages. An answer is sent from the first part that was not delivered; an incoming message is handled\n" +
			"as a new one. The host must be running.",
		Example: "  sma outbox retry telegram-chat-42 --all\n  sma outbox retry telegram-chat-42 ID",
	}
	if drop {
		cmd.Use, cmd.Short = "drop CHAT ID|--all", "Drop parked messages"
		cmd.Long = "Permanently drops parked messages. The chat's ledger still lists them. The host must be running."
		cmd.Example = "  sma outbox drop telegram-chat-42 ID\n  sma outbox drop telegram-chat-42 --all"
	}
	all := cmd.Flags().Bool("all", false, "all parked messages of the chat")
	return console.Command[query.OutboxResult]{
		Run: func(ctx context.Context, args []string) (out query.OutboxResult, err error) {
			order := query.OutboxOrder{Drop: drop}
			if order.ChatKey, err = console.ChatArg(args); err != nil {
				return out, err
			}
			if *all == (len(args) == 2) {
				return out, &console.Failure{Code: console.CodeUsage, What: "say which one, or --all", Help: "sma outbox list " + args[0]}
			}
			if !*all {
				order.ID = args[1]
			}
			return settleOutbox(ctx, a, order)
		},
		Text: func(r query.OutboxResult) string {
			if drop {
				return fmt.Sprintf(a.Text("%d given up\n", "已放弃 %d 条\n"), len(r.IDs))
			}
			return fmt.Sprintf(a.Text("%d taken up again\n", "已重新处理 %d 条\n"), len(r.IDs))
		},
	}.On(a, cmd)
}

// settleOutbox sends the order to the host. Only the chat's actor may change its outbox.
func settleOutbox(ctx context.Context, a *console.Console, order query.OutboxOrder) (query.OutboxResult, error) {
	result, err := console.OrderRunning[query.OutboxResult](ctx, a, "outbox", "no host is running here, and only a running host can retry or drop what a chat put aside", order)
	switch help := "sma outbox list " + string(order.ChatKey); {
	case err != nil:
		err = console.ChatFailure(order.ChatKey, noOutbox, "sma doctor", err)
	case result.Reason == "not_parked":
		err = &console.Failure{Code: console.CodeFailed, What: order.ID + " was not put aside: it is still being sent", Help: help}
	case result.Reason != "" && order.ID != "":
		err = &console.Failure{Code: console.CodeFailed, What: "there is no " + order.ID + " in the outbox of " + string(order.ChatKey), Help: help}
	}
	return result, err
}

// outboxText writes each item as a line, followed by its text.
func outboxText(a *console.Console, lines []query.OutboxLine, now time.Time) string {
	if len(lines) == 0 {
		return a.Text("the outbox is empty\n", "发件箱为空\n")
	}
	kinds := map[messages.OutboxKind]string{messages.OutboxEgress: a.Text("to people", "发出"), messages.OutboxIngress: a.Text("from people", "收到")}
	states := map[messages.OutboxState]string{
		messages.OutboxWriting: a.Text("writing", "书写中"), messages.OutboxWaiting: a.Text("waiting", "待发送"), messages.OutboxParked: a.Text("parked", "已搁置"),
	}
	var out strings.Builder
	parked := false
	for _, l := range lines {
		parked = parked || l.State == messages.OutboxParked
		age := max(0, now.Sub(l.Since)).Round(time.Second)
		fmt.Fprintf(&out, "%s  %s  %s  %s  %s", console.Named(l.ChatKey, l.Name), l.ID, kinds[l.Kind], states[l.State], age)
		for _, more := range []struct {
			on   bool
			text string
		}{
			{l.Tries > 0, fmt.Sprintf(a.Text("failed %d times", "失败 %d 次"), l.Tries)},
			{l.LastError != "", l.LastError},
			{l.Parts > 0, fmt.Sprintf(a.Text("%d parts are sent", "已发出 %d 段"), l.Parts)},
			{l.Maybe, a.Text("people may have it already", "对方可能已经收到")},
		} {
			if more.on {
				out.WriteString(", " + checkup.OneLine(more.text, 80))
			}
		}
		out.WriteString("\n    " + checkup.OneLine(l.Text, 100) + "\n")
	}
	if parked {
		out.WriteString(a.Text("settle one: sma outbox retry|drop CHAT ID\n", "处理方法：sma outbox retry|drop 聊天 编号\n"))
	}
	return out.String()
}
