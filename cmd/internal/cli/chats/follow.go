package chats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

// again is the pause before a chat that was passivated is followed again.
const again = time.Second

// follower shows what happens in a chat.
type follower struct {
	*console.Console
	args   []string
	last   int // messages to begin with; negative once they were shown
	asJSON bool

	key   messages.ChatKey
	shown map[string]bool // messages, by direction and id
}

// follow shows the last messages of a chat, and then what happens in it until ctx ends.
func follow(ctx context.Context, f *follower) error {
	key, err := console.ChatArg(f.args)
	if err != nil {
		return err
	}
	_, state, err := f.Folders(nil)
	if err != nil {
		return err
	}
	f.key, f.shown = key, map[string]bool{}
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		err := console.Stream(ctx, console.NewControl(state), "/control/follow?"+url.Values{"key": {string(key)}}.Encode(), func(h query.Happening) error {
			return f.show(ctx, h)
		})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, console.ErrNotRunning):
			what := f.Text("no host is running here, and a chat is followed through it", "没有正在运行的主机，无法跟踪聊天")
			if f.last < 0 {
				what = f.Text("the host has ended", "主机已停止")
			}
			return &console.Failure{Code: console.CodeUnreachable, What: what, Help: "sma run"}
		case err != nil:
			return console.ChatFailure(key, "the chat cannot be followed", "sma doctor", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// show writes what has happened: new messages as chats show does, and steps of a run.
func (f *follower) show(ctx context.Context, h query.Happening) error {
	switch h.Kind {
	case query.HappenedWatching, string(platform.FrameStart), string(platform.FrameEnd), string(platform.FrameSettled):
		if err := f.messages(ctx); err != nil {
			return err
		}
	}
	if f.asJSON {
		return f.object(h)
	}
	if line := f.happened(h); line != "" {
		return f.Print(time.Now().Format("2006-01-02 15:04:05") + "  ·    " + line + "\n")
	}
	return nil
}

// messages writes the messages that were not shown yet. An answer is shown once it is complete.
func (f *follower) messages(ctx context.Context) error {
	chat, err := explainedChat(ctx, f.Console, f.args, ledgerRead)
	if err != nil {
		return err
	}
	var out strings.Builder
	for i, l := range chat.Lines {
		id := l.Dir + l.ID
		if l.ID == "" {
			id += l.Arrived.String() + l.Text
		}
		if f.shown[id] || l.Dir == "out" && l.State == lineOpen {
			continue
		}
		f.shown[id] = true
		if f.last < 0 || i >= len(chat.Lines)-f.last {
			text, err := f.message(l)
			if err != nil {
				return err
			}
			out.WriteString(text)
		}
	}
	f.last = -1
	return f.Print(out.String())
}

// FollowedMessage is a line of chats show -f with --json that has a message. The other lines are a [query.Happening].
type FollowedMessage struct {
	Kind string `json:"kind"`
	chatLine
}

// message is one message as text, or as JSON of the kind message.
func (f *follower) message(l chatLine) (string, error) {
	if !f.asJSON {
		return lineText(f.Console, l), nil
	}
	line, err := json.Marshal(FollowedMessage{"message", l})
	return string(line) + "\n", err
}

// object writes what happened as one line of JSON.
func (f *follower) object(h query.Happening) error {
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return f.Print(string(line) + "\n")
}

// happened is a step of a run in words, or empty if messages say the same.
func (f *follower) happened(h query.Happening) string {
	switch h.Kind {
	case string(platform.FrameStart):
		return fmt.Sprintf(f.Text("run %s answers", "运行 %s 开始回答"), checkup.OneLine(h.RunID, 64))
	case query.HappenedTool:
		return fmt.Sprintf(f.Text("calls %s", "调用 %s"), checkup.OneLine(h.Name, 64))
	case query.HappenedAsks:
		return fmt.Sprintf(f.Text("waits for a decision: sma approvals list %s", "等待审批：sma approvals list %s"), f.key)
	case string(platform.FrameEnd):
		if h.Last {
			return fmt.Sprintf(f.Text("the run has ended: %s", "运行结束：%s"), checkup.OneLine(h.Result, 64))
		}
	case string(platform.FrameEvent):
		return f.event(h)
	}
	return ""
}

// event is an event of a run in words. The events done and assistant say what other lines say.
func (f *follower) event(h query.Happening) string {
	text := checkup.OneLine(h.Text, 80)
	switch h.Name {
	case "step_finish":
		return fmt.Sprintf(f.Text("step %d is complete", "第 %d 步完成"), h.Step)
	case "tool_summary":
		return strings.TrimSpace(f.Text("the tool has ended", "工具已结束") + "  " + text)
	case "merge":
		return f.Text("new messages join the run", "新消息并入运行")
	case "compaction":
		return f.Text("the history is compacted", "历史记录已压缩")
	case "approval":
		return fmt.Sprintf(f.Text("a request was decided: %s", "审批结果：%s"), text)
	}
	return ""
}
