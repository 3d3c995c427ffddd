package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	terminal "github.com/shipmyagent/shipmyagent/adapters/platform/cli"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/pending"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// The states of a message that send reports. The last three come from the host.
const (
	stateAccepted = "accepted" // it is durable; --no-wait waits no longer
	stateAnswered = "answered"
	stateWaiting  = "waiting"
	stateFailed   = "failed"
)

// sent is the JSON of send.
type sent struct {
	Chat  string `json:"chat"`
	ID    string `json:"id"`
	State string `json:"state"`
	Text  string `json:"text,omitempty"`
	// Files are those that the agent sent, on the machine of the host.
	Files []terminal.SentFile `json:"files,omitempty"`
	// Reason says why a message failed, in a word for programs; Error says it in a sentence for people.
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
	// Waiting are the requests that wait for a decision.
	Waiting json.RawMessage `json:"waiting,omitempty"`
	// Demo says that the built-in demo model answered, which is not an assistant.
	Demo bool `json:"demo,omitempty"`
}

type sending struct {
	sent
	text           string
	uploads        []terminal.File
	asJSON, detach bool
}

func (a *app) send(ctx context.Context, state string, client *terminal.Client, s sending) error {
	if s.ID == "" {
		s.ID = "send-" + rand.Text()
	}
	if about, err := client.Status(ctx); err == nil && about.Demo {
		s.Demo = true
		a.Say("%s", a.Text("demo model, not a real assistant: set OPENAI_API_KEY for a real one", "演示模型，不是真正的助手：设置 OPENAI_API_KEY 即可使用真实模型"))
	}
	a.sayPaused(state, s.Chat)
	if s.detach {
		return a.sendOnly(ctx, client, s)
	}
	wrote, live := "", !s.asJSON && console.IsTerminal(a.Stdout) // programs read only the final answer
	answer, cut := client.Ask(ctx, s.Chat, s.ID, s.text, func(piece string) {
		if live {
			piece = terminal.Clean(piece)
			wrote += piece
			_ = a.Print(piece) // printing the end of the answer reports the same error
		}
	}, s.uploads...)
	if cut != nil && !errors.Is(cut, io.ErrUnexpectedEOF) {
		return a.fromSending(cut, s.ID)
	}
	outcome, err := client.Outcome(ctx, s.Chat, s.ID, a.ReadsChinese())
	if err != nil {
		return fromClient(cmp.Or(cut, err))
	}
	s.State, s.Reason, s.Error, s.Waiting, s.Demo = outcome.State, outcome.Reason, outcome.Error, outcome.Waiting, s.Demo || outcome.Demo
	if cut == nil {
		s.Text, s.Files = journal.Text(answer), terminal.SentFiles(answer)
	}
	if m := outcome.Message; m != nil { // it was a decision, which the host confirmed
		if err := a.confirmed(&s, wrote); err != nil {
			return err
		}
		wrote, s.Files = "", terminal.SentFiles(*m)
	}
	s.Text = cmp.Or(s.Text, outcome.Text)
	if cut != nil && wrote != "" { // the model's answer broke off, and what was printed of it is void
		a.Say("\n%s", a.Text("the model's answer broke off; this is the new one:", "模型的回答中途断开，以下是重新生成的回答："))
		wrote = ""
	}
	if s.asJSON {
		err = a.PrintJSON(s.sent)
	} else {
		err = errors.Join(a.finishText(wrote, s.Text), a.printFiles(s.Files))
	}
	return errors.Join(err, a.verdict(state, s.sent))
}

// confirmed prints the host's confirmation of a decision, so that only the agent's answer remains as the text.
func (a *app) confirmed(s *sending, wrote string) error {
	said := s.Text
	s.Text = ""
	if s.asJSON {
		return nil
	}
	return a.finishText(wrote, said)
}

// fromSending is [fromClient] for a message with an id.
func (a *app) fromSending(err error, id string) error {
	refused, _ := errors.AsType[*terminal.RefusedError](err)
	f := &console.Failure{Code: console.CodeUsage, Help: "sma send --help"}
	switch {
	case refused == nil:
		return fromClient(err)
	case refused.Code == terminal.CodeReused:
		f.What = a.Text("the id "+id+" was already used for another message; this one was not sent", "编号 "+id+" 已用于另一条消息，这条消息没有发送")
	case refused.Code == terminal.CodeCompacted:
		f.What = a.Text("the id "+id+" was used before, and the chat has no answer for it any more; nothing was sent", "编号 "+id+" 以前用过，聊天中已没有它的回答，这条消息没有发送")
	default:
		return fromClient(err)
	}
	return f
}

// sendOnly returns once the message is durable.
func (a *app) sendOnly(ctx context.Context, client *terminal.Client, s sending) error {
	turn, said, err := client.Send(ctx, s.Chat, s.ID, s.text, s.uploads...)
	if err != nil {
		return a.fromSending(err, s.ID)
	}
	s.ID, s.Text, s.State = turn, said, stateAccepted
	if said != "" {
		s.State = stateAnswered // it was a command that the host answered
	}
	switch {
	case s.asJSON:
		return a.PrintJSON(s.sent)
	case said != "":
		return a.Print(said + "\n")
	default:
		return a.Print(turn + "\n")
	}
}

// printFiles lists the files that the agent sent.
func (a *app) printFiles(list []terminal.SentFile) error {
	for _, f := range list {
		if err := a.Print(f.Line(a.ReadsChinese()) + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// finishText prints the rest of an answer, of which wrote was printed while it was streamed.
func (a *app) finishText(wrote, text string) error {
	if wrote == "" {
		if console.IsTerminal(a.Stdout) {
			text = terminal.Clean(text)
		}
		wrote = text
		if err := a.Print(text); err != nil {
			return err
		}
	}
	if wrote == "" || strings.HasSuffix(wrote, "\n") {
		return nil
	}
	return a.Print("\n")
}

// verdict is the error for a message's state. Requests are printed in full, so that people can read what they decide.
func (a *app) verdict(state string, s sent) error {
	switch s.State {
	case stateWaiting:
		var lines []query.ApprovalLine
		if err := json.Unmarshal(s.Waiting, &lines); err != nil || len(lines) == 0 {
			return &console.Failure{Code: console.CodeWaiting, What: "the agent waits for a decision", Help: "sma approvals list"}
		}
		a.Say("%s", strings.TrimRight(pending.RequestsText(a.Console, lines), "\n"))
		dir, err := a.Project(nil)
		if err != nil {
			return err
		}
		f := &console.Failure{
			Code: console.CodeWaiting, What: a.Text("the agent waits for a decision", "正在等待审批"),
			Help: "sma approvals approve" + a.again(dir, state) + " " + string(lines[0].ChatKey) + " " + numbers(lines),
		}
		return f
	case stateFailed:
		f := &console.Failure{Code: console.CodeFailed, What: a.Text("no answer ("+s.Reason+")", "没有得到回答（"+s.Reason+"）"), Help: helpFor(s.Reason)}
		if s.Error != "" && s.Error != s.Reason {
			f.Why = errors.New(s.Error)
		}
		if s.Reason == "auth" {
			f.Code = console.CodeCredential
		}
		return f
	default:
		return nil
	}
}

// helpFor is the command that helps after a failure. It is empty if the model could be reached and the answer was
// unusable, since the sentence about the failure already says what to do.
func helpFor(reason string) string {
	if _, spent := model.Reason(reason).Budget(); spent {
		return "sma usage"
	}
	switch reason {
	case messages.ReasonEmpty, messages.ReasonFiltered, messages.ReasonLength, messages.ReasonOnlyThoughts,
		messages.ReasonRefused, messages.ReasonUnfinished, string(model.ReasonCut):
		return ""
	default:
		return "sma doctor --online"
	}
}

// numbers are the numbers of requests for a command line.
func numbers(lines []query.ApprovalLine) string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strconv.Itoa(l.N)
	}
	return strings.Join(out, " ")
}

// textWith is the text of a message, which may be empty if it has files.
func (a *app) textWith(args, files []string) (string, error) {
	switch {
	case len(args) > 0 && (args[0] != "" || len(files) == 0):
		return a.textOf(args[0])
	case len(files) == 0:
		return "", &console.Failure{Code: console.CodeUsage, What: "the message is empty", Help: "sma send --help"}
	}
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return "", unreadable(name, err)
		}
	}
	return "", nil
}

func unreadable(name string, err error) error {
	if err == nil {
		err = errors.New("it is not an ordinary file")
	}
	return &console.Failure{Code: console.CodeUsage, What: "the file " + name + " cannot be sent", Why: err, Help: "sma send --file PATH 'What is this?'"}
}

// upload uploads files to a chat before the message that refers to them.
func upload(ctx context.Context, client *terminal.Client, chat string, files []string) ([]terminal.File, error) {
	var out []terminal.File
	for _, name := range files {
		sent, err := uploadOne(ctx, client, chat, name)
		if err != nil {
			return nil, err
		}
		out = append(out, sent)
	}
	return out, nil
}

func uploadOne(ctx context.Context, client *terminal.Client, chat, name string) (terminal.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return terminal.File{}, unreadable(name, err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return terminal.File{}, unreadable(name, err)
	}
	sent, err := client.Upload(ctx, chat, name, f)
	if _, refused := errors.AsType[*terminal.RefusedError](err); refused {
		return sent, &console.Failure{Code: console.CodeUsage, What: fmt.Sprintf("the file %s was not taken", filepath.Base(name)), Why: err, Help: "sma config show, which lists limits.fileMB"}
	}
	return sent, fromClient(err)
}
