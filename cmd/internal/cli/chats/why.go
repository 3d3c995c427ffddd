package chats

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/audit"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/logs"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// account is the JSON of why: the fate of a message. Members are only ever added.
type account struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Message chatLine         `json:"message"`
	// Paused is set if an operator has paused the chat, so that no run starts.
	Paused bool `json:"paused,omitempty"`
	// Others are the other messages of its run, in both directions.
	Others []chatLine `json:"others"`
	// Requests are what people of the chat have to decide, if the message is open or belongs to the last run.
	Requests []query.ApprovalLine `json:"requests"`
	// Log are the lines of the audit log about its run.
	Log []json.RawMessage `json:"log"`

	lines []audit.Line // Log, for people
}

// logLines is how many lines of the audit log are shown of a run, at most.
const logLines = 100

// Why is the command why, which says what happened to one message, and why.
func Why(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "why MESSAGE-ID", Short: "Explain what became of a message", Args: cobra.ExactArgs(1),
		Long: "Says what became of a message and why: its fate, its run with every model call and tool, the answers, and decisions\n" +
			"that are still open. The ids of messages are those of sma chats show --json. With --chat the number that a platform\n" +
			"gave the message is enough. Works while the host is running.",
		Example: "  sma why u:telegram-chat-42:17\n  sma why 17 --chat telegram-chat-42 --json",
	}
	chat := cmd.Flags().String("chat", "", "the message's `chat`, if the id does not name it")
	return console.Command[account]{
		Run: func(ctx context.Context, args []string) (account, error) {
			key, err := chatOf(args[0], *chat)
			if err != nil {
				return account{}, err
			}
			return accountOf(ctx, a, key, args[0])
		},
		Text: func(w account) string { return w.text(a) },
	}.On(a, cmd)
}

// chatOf is the chat of a message: the named one, or the one in the id.
func chatOf(id, chat string) (messages.ChatKey, error) {
	if chat != "" {
		return console.ChatArg([]string{chat})
	}
	if parts := strings.Split(id, ":"); len(parts) > 1 {
		if key, err := messages.ParseChatKey(parts[1]); err == nil {
			return key, nil
		}
	}
	return "", &console.Failure{Code: console.CodeUsage, What: "say in which chat the message is, with --chat", Help: "sma chats list"}
}

func accountOf(ctx context.Context, a *console.Console, key messages.ChatKey, id string) (account, error) {
	shown, err := explainedChat(ctx, a, []string{string(key)}, math.MaxInt)
	if err != nil {
		return account{}, err
	}
	w := account{ChatKey: key, Others: []chatLine{}, Requests: []query.ApprovalLine{}, Log: []json.RawMessage{}}
	at := slices.IndexFunc(shown.Lines, func(l chatLine) bool { return l.ID == id })
	if at < 0 { // the last part of an id is the platform's own number
		at = slices.IndexFunc(shown.Lines, func(l chatLine) bool { return strings.HasSuffix(l.ID, ":"+id) })
	}
	if at < 0 {
		return w, &console.Failure{Code: console.CodeFailed, What: "there is no message " + id + " in " + string(key), Help: "sma chats show " + string(key) + " --json"}
	}
	w.Message, w.Paused = shown.Lines[at], shown.Paused
	run := w.Message.RunID
	if open := w.Message.State == lineOpen || w.Message.State == lineWaits; open || run != "" && run == shown.Lines[len(shown.Lines)-1].RunID {
		w.Requests, err = console.Ask(ctx, a, "approvals", query.Asked{ChatKey: key}, (*query.Desk).Approvals)
		if err != nil {
			return w, console.ChatFailure(key, "the requests cannot be listed", "sma doctor", err)
		}
	}
	if run == "" {
		return w, nil
	}
	for i, l := range shown.Lines {
		if i != at && l.RunID == run {
			w.Others = append(w.Others, l)
		}
	}
	return w, w.readLog(a, run)
}

func (w *account) readLog(a *console.Console, run string) error {
	_, state, err := a.Folders(nil)
	if err != nil {
		return err
	}
	w.lines, err = audit.NewReader(state, func(l audit.Line) bool { return l.RunID == run }).Last(logLines)
	for _, l := range w.lines {
		w.Log = append(w.Log, l.Raw)
	}
	return console.Failure{Code: console.CodeFailed, What: "the log cannot be read", Help: "sma doctor"}.Because(err)
}

func (w account) text(a *console.Console) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s  %s\n%s%s\n", w.ChatKey, w.Message.ID, lineText(a, w.Message), because(a, w.Message))
	if w.Paused {
		fmt.Fprintf(&out, a.Text("the chat is paused, so no run starts; sma chats resume %s ends that\n", "聊天已暂停，不会开始新的运行；用 sma chats resume %s 恢复\n"), w.ChatKey)
	}
	if len(w.Requests) > 0 {
		fmt.Fprintf(&out, a.Text("the chat waits for decisions: %d, see sma approvals list %s\n", "聊天有 %d 项待批准，参见 sma approvals list %s\n"), len(w.Requests), w.ChatKey)
	}
	for _, l := range w.Others {
		out.WriteString(lineText(a, l))
	}
	for _, l := range w.lines {
		out.WriteString(logs.LineText(l))
	}
	return out.String()
}

// because says in a sentence what a state means, and what its reason means if that is only a word.
func because(a *console.Console, l chatLine) string {
	states := map[string]string{
		string(journal.FateAnswered): a.Text("The agent or the host answered it.", "智能体或主机已回答。"),
		string(journal.FateMerged):   a.Text("It arrived while a run was at work and was answered together with the message that had started the run.", "它在运行期间到达，已与引发该运行的消息一起回答。"),
		string(journal.FateIgnored):  a.Text("It was not for the bot.", "它不是发给机器人的。"),
		string(journal.FateDeclined): a.Text("It was refused.", "它被拒收。"),
		string(journal.FateStopped):  a.Text("Somebody stopped its run.", "有人停止了它的运行。"),
		lineOpen:                     a.Text("It has no answer yet.", "还没有回答。"),
		lineWaits:                    a.Text("It waits for the next step of the run in progress.", "它在等待当前运行的下一步。"),
		lineStored:                   a.Text("It is in the history, from which the page or the terminal reads it.", "它在历史记录中，由网页或终端读取。"),
		journal.EgressDelivered:      a.Text("The platform confirmed it.", "平台已确认。"),
		journal.EgressParked:         a.Text("The platform refused it for good; sma outbox retry sends it again.", "平台永久拒绝；sma outbox retry 可重新发送。"),
		journal.EgressDropped:        a.Text("A person dropped it with sma outbox drop.", "有人用 sma outbox drop 丢弃了它。"),
	}
	reasons := map[string]string{
		"unaddressed":             a.Text("Nobody in the group addressed the bot.", "群里没有人叫机器人。"),
		"blocked":                 a.Text("Its sender is blocked.", "发送者已被屏蔽。"),
		"not_paired":              a.Text("Its sender has not been let in.", "发送者尚未获准。"),
		"group_not_allowed":       a.Text("The group is not allowed.", "该群未获准。"),
		"owner_only":              a.Text("Only the owner may do that.", "只有所有者可以这样做。"),
		"unchanged":               a.Text("The edit changed nothing.", "编辑没有改变内容。"),
		"taken_back":              a.Text("Its sender recalled it.", "发送者已撤回。"),
		"unheard":                 a.Text("Its voice recording could not be transcribed.", "语音无法转写。"),
		journal.ReasonQuarantined: a.Text("The chat failed on it again and again, so it was set aside.", "聊天多次因它失败，已将它搁置。"),
	}
	return strings.TrimSpace(states[l.State] + " " + reasons[l.Reason])
}
