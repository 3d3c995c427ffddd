// Package top holds the command top, which shows what the running host is doing: its gauges, and the models and chats
// of the last minutes as the audit log has them.
package top

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/cmd/internal/audit"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	every   = time.Second
	window  = 10 * time.Minute // of models and chats
	maxRead = 20_000           // lines of the log that the first snapshot reads
	busiest = 5
)

// snapshot is what a host is doing. Members are only ever added.
type snapshot struct {
	State       string      `json:"state"`
	Project     string      `json:"project"`
	PID         int         `json:"pid"`
	UptimeS     int64       `json:"uptimeS"`
	MemoryBytes int64       `json:"memoryBytes"`
	Chats       int         `json:"chatsActive"`
	Runs        int         `json:"runs"`
	Calls       int         `json:"modelCalls"`        // in progress
	Waiting     int         `json:"modelCallsWaiting"` // for a slot
	Outbox      int         `json:"outboxPending"`
	Approvals   int         `json:"approvalsPending"`
	WindowS     int64       `json:"windowS"` // of the rest
	Models      []modelLine `json:"models"`
	Busiest     []chatLine  `json:"busiest"`
}

type modelLine struct {
	Model  string `json:"model"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed"`
}

type chatLine struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Name    string           `json:"name,omitempty"`
	Calls   int              `json:"calls"` // of models and tools
}

// top takes snapshots.
type top struct {
	*console.Console
	control console.Control
	log     *audit.Reader
	read    bool         // the log was read once
	recent  []audit.Line // calls of models and tools within the window, oldest first
}

// Command is the command top.
func Command(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "top", Short: "Show what the running host is doing, once a second", Args: cobra.NoArgs,
		Long: "Shows chats, runs, model calls, the outbox, memory, and the models and chats of the last ten minutes, until Ctrl-C.\n" +
			"Without a terminal, with --once and with --json it shows this once.",
		Example: "  sma top\n  sma top --once\n  sma top --json",
	}
	once := cmd.Flags().Bool("once", false, "show it once")
	t := &top{Console: a}
	shown := console.Command[snapshot]{
		Run: func(ctx context.Context, _ []string) (snapshot, error) {
			if err := t.open(); err != nil {
				return snapshot{}, err
			}
			return t.take(ctx, time.Now())
		},
		Text: func(s snapshot) string { return s.text(a) },
	}.On(a, cmd).RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *once || !console.IsTerminal(a.Stdout) || cmd.Flag("json").Value.String() == "true" {
			return shown(cmd, args)
		}
		return t.screen(cmd.Context())
	}
	return cmd
}

func (t *top) open() error {
	_, state, err := t.Folders(nil)
	t.control = console.NewControl(state)
	t.log = audit.NewReader(state, func(l audit.Line) bool { return l.Event == decision.AuditModel || l.Event == decision.AuditTool })
	return err
}

// screen shows a snapshot each second until ctx ends.
func (t *top) screen(ctx context.Context) error {
	if err := t.open(); err != nil {
		return err
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	clearAll := "\x1b[2J"
	for {
		s, err := t.take(ctx, time.Now())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(s.text(t.Console), "\n", "\x1b[K\n") // overwriting flickers less than clearing
		if err := t.Print(clearAll + "\x1b[H" + text + "\x1b[J"); err != nil {
			return err
		}
		clearAll = ""
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// take asks the host for its gauges, and reads what the log has since the last time.
func (t *top) take(ctx context.Context, now time.Time) (snapshot, error) {
	status, err := t.control.Status(ctx)
	var gauges map[string]float64
	if err == nil {
		err = t.control.Get(ctx, "/control/gauges", &gauges)
	}
	if err != nil {
		return snapshot{}, console.NoAnswer(err)
	}
	if err := t.readLog(now); err != nil {
		return snapshot{}, &console.Failure{Code: console.CodeFailed, What: "the log cannot be read", Why: err, Help: "sma doctor"}
	}
	gauge := func(name string) int { return int(gauges[name]) }
	s := snapshot{
		State: string(status.State), Project: status.Project, PID: status.PID, UptimeS: int64(now.Sub(status.Started).Seconds()),
		MemoryBytes: int64(gauges["process_resident_memory_bytes"]), Chats: gauge("sma_chats_active"), Runs: gauge("sma_runs_in_flight"),
		Calls: gauge("sma_model_calls_in_flight"), Waiting: gauge("sma_model_calls_waiting"), Outbox: gauge("sma_outbox_pending"),
		Approvals: gauge("sma_approvals_pending"), WindowS: int64(window.Seconds()),
	}
	s.Models, s.Busiest = counted(t.recent)
	names := t.Names()
	for i := range s.Busiest {
		s.Busiest[i].Name = names.Of(s.Busiest[i].ChatKey)
	}
	return s, nil
}

func (t *top) readLog(now time.Time) error {
	next := t.log.Next
	if !t.read {
		next = func() ([]audit.Line, error) { return t.log.Last(maxRead) }
	}
	lines, err := next()
	if err != nil {
		return err
	}
	t.read = true
	t.recent = slices.DeleteFunc(append(t.recent, lines...), func(l audit.Line) bool { return now.Sub(l.TS) > window })
	return nil
}

// counted counts calls by model, and by chat for the busiest ones.
func counted(lines []audit.Line) (models []modelLine, chats []chatLine) {
	byModel, byChat := map[string]modelLine{}, map[string]int{}
	for _, l := range lines {
		if l.ChatKey != "" {
			byChat[l.ChatKey]++
		}
		if l.Event != decision.AuditModel {
			continue
		}
		m := byModel[l.Name]
		m.Model = l.Name
		m.Calls++
		if l.Result == "error" {
			m.Failed++
		}
		byModel[l.Name] = m
	}
	models, chats = []modelLine{}, []chatLine{}
	for _, name := range slices.Sorted(maps.Keys(byModel)) {
		models = append(models, byModel[name])
	}
	keys := slices.Sorted(maps.Keys(byChat))
	for len(chats) < busiest && len(byChat) > 0 { // sorting a few lines would cost more code
		best := ""
		for _, key := range keys {
			if byChat[key] > byChat[best] {
				best = key
			}
		}
		chats = append(chats, chatLine{ChatKey: messages.ChatKey(best), Calls: byChat[best]})
		delete(byChat, best)
	}
	return models, chats
}

func (s snapshot) text(a *console.Console) string {
	var out strings.Builder
	fmt.Fprintf(&out, a.Text("%s: %s, process %d, up %s, memory %d MB\n", "%s：%s，进程 %d，已运行 %s，内存 %d MB\n"),
		checkup.OneLine(s.Project, 64), a.Words(string(s.State)), s.PID, tool.Duration(time.Duration(s.UptimeS)*time.Second, a.ReadsChinese()), s.MemoryBytes>>20)
	fmt.Fprintf(&out, a.Text("chats in memory %d   runs %d   model calls %d, waiting %d   to be sent %d   approvals %d\n",
		"内存中的聊天 %d   运行 %d   模型调用 %d，排队 %d   待发送 %d   待审批 %d\n"), s.Chats, s.Runs, s.Calls, s.Waiting, s.Outbox, s.Approvals)
	out.WriteString(a.Text("\nmodels, last ten minutes    calls  failed\n", "\n最近十分钟的模型            调用   失败\n"))
	for _, m := range s.Models {
		fmt.Fprintf(&out, "  %-24s  %5d  %6d\n", checkup.OneLine(m.Model, 24), m.Calls, m.Failed)
	}
	out.WriteString(a.Text("\nbusiest chats               calls of models and tools\n", "\n最忙的聊天                  模型和工具的调用\n"))
	for _, c := range s.Busiest {
		fmt.Fprintf(&out, "  %-24s  %5d\n", console.Named(c.ChatKey, c.Name), c.Calls)
	}
	return out.String()
}
