// Package logs holds the command logs, which shows the audit log of a project: what happened in which chat, run and
// request, never what was said. It reads the files, so it works the same whether a host runs or not.
package logs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/cmd/internal/audit"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
)

// every is how often a followed log is read.
const every = 200 * time.Millisecond

type logs struct {
	*console.Console
	chat, request  string
	last           int
	follow, asJSON bool
}

// Command is the command logs.
func Command(a *console.Console) *cobra.Command {
	l := &logs{Console: a}
	cmd := &cobra.Command{
		Use: "logs", Short: "Show what happened: messages, runs, model calls, tools, decisions and deliveries", Args: cobra.NoArgs,
		Long: "Shows the lines of .ship/logs, newest last: what happened, in which chat, run and request, never what was said.\n" +
			"All lines of a request have its id. Works without a running host.",
		Example: "  sma logs -f\n  sma logs --chat telegram-chat-42 -n 20\n  sma logs --request ID --json",
	}
	flags := cmd.Flags()
	flags.BoolVarP(&l.follow, "follow", "f", false, "continue with new lines until Ctrl-C")
	flags.IntVarP(&l.last, "lines", "n", 100, "how many lines, at most")
	flags.StringVar(&l.chat, "chat", "", "only lines of this `chat`")
	flags.StringVar(&l.request, "request", "", "only lines of the request with this `id`")
	flags.BoolVar(&l.asJSON, "json", false, "write the lines as they are stored, one JSON object each")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return l.run(cmd) }
	return cmd
}

func (l *logs) run(cmd *cobra.Command) error {
	if l.last < 0 {
		return &console.Failure{Code: console.CodeUsage, What: "-n wants a number from 0 on", Help: cmd.CommandPath() + " --help"}
	}
	if cmd.Flag("chat").Changed {
		if _, err := console.ChatArg([]string{l.chat}); err != nil {
			return err
		}
	}
	_, state, err := l.Folders(nil)
	if err != nil {
		return err
	}
	reader := audit.NewReader(state, func(line audit.Line) bool {
		return (l.chat == "" || line.ChatKey == l.chat) && (l.request == "" || line.RequestID == l.request)
	})
	lines, err := reader.Last(l.last)
	if err != nil {
		return unreadable(err)
	}
	if len(lines) == 0 && l.last > 0 && !l.follow && !l.asJSON {
		return l.Print(l.Text("nothing was logged\n", "没有日志\n"))
	}
	if err := l.show(lines); err != nil || !l.follow {
		return err
	}
	return l.continues(cmd.Context(), reader)
}

// Last returns the last lines of the log as they are stored: as many as the text last says, 100 if it is empty.
func Last(state, last string) ([]json.RawMessage, error) {
	const most, usual = 1000, "100"
	n, err := strconv.Atoi(cmp.Or(last, usual))
	if err != nil || n < 1 || n > most {
		return nil, &console.Failure{Code: console.CodeUsage, What: fmt.Sprintf("say how many lines, 1 to %d", most)}
	}
	lines, err := audit.NewReader(state, func(audit.Line) bool { return true }).Last(n)
	if err != nil {
		return nil, unreadable(err)
	}
	out := make([]json.RawMessage, len(lines))
	for i, line := range lines {
		out[i] = line.Raw
	}
	return out, nil
}

func unreadable(err error) error {
	return &console.Failure{Code: console.CodeFailed, What: "the log cannot be read", Why: err, Help: "sma doctor"}
}

// continues shows new lines until ctx ends.
func (l *logs) continues(ctx context.Context, reader *audit.Reader) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		lines, err := reader.Next()
		if err != nil {
			return unreadable(err)
		}
		if err := l.show(lines); err != nil {
			return err
		}
	}
}

// show writes lines at once, so that none is torn when the command is interrupted.
func (l *logs) show(lines []audit.Line) error {
	var out strings.Builder
	for _, line := range lines {
		if l.asJSON {
			out.Write(line.Raw)
			out.WriteByte('\n')
			continue
		}
		out.WriteString(LineText(line))
	}
	if out.Len() == 0 {
		return nil
	}
	return l.Print(out.String())
}

// LineText is a line for people, mostly with the names that the members have in JSON. The tokens of a model call are
// input/cached/output. The digest is left out.
func LineText(l audit.Line) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s  %-9s  %s", l.TS.Local().Format("2006-01-02 15:04:05.000"), checkup.OneLine(l.Event, 32), checkup.OneLine(l.ChatKey, 200))
	step, took, tokens := "", "", ""
	if l.Step > 0 {
		step = strconv.Itoa(l.Step)
	}
	if l.Event == decision.AuditModel {
		took = (time.Duration(l.TookMS) * time.Millisecond).String()
		tokens = fmt.Sprintf("%d/%d/%d", l.InputTokens, l.CachedTokens, l.OutputTokens)
	}
	for _, m := range [][2]string{
		{"name", l.Name},
		{"result", l.Result},
		{"reason", l.Reason},
		{"step", step},
		{"took", took},
		{"tokens", tokens},
		{"by", l.By},
		{"callId", l.CallID},
		{"requestId", l.RequestID},
		{"runId", l.RunID},
	} {
		if m[1] != "" {
			out.WriteString("  " + m[0] + "=" + checkup.OneLine(m[1], 200))
		}
	}
	return out.String() + "\n"
}
