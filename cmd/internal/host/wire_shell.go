package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/shell"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	// noticeTries is how often the notice of an ended process is sent to its chat, and noticePause the first pause in
	// between, which doubles.
	noticeTries = 6
	noticePause = time.Second
)

// shellTools are the tools that run commands. Their processes are killed after the actors have stopped, since they
// are of no use then.
func (h *Host) shellTools(box sandbox.Sandbox, why string) ([]tool.Tool, error) {
	o := shell.Options{
		Sandbox: box, Why: why, Workspace: h.opts.Dir, Network: h.opts.Settings.Settings.Permissions.Exec.Network == "on",
		ReadOnly: steersAgent(h.opts), State: h.opts.State, Skills: filepath.Join(h.opts.State, "skills"),
		Hidden:  []string{filepath.Join(h.opts.Dir, config.FileName), filepath.Join(h.opts.Dir, ".env")},
		Keep:    h.chatFiles().Create,
		Exclude: excluded(h.opts), Mask: h.mask.Writer, Notify: h.processEnded, Logger: h.opts.Logger.With("component", "shell"),
	}
	sh, err := shell.New(o)
	if err != nil {
		return nil, &Failure{Kind: KindFailed, What: "the tools for commands cannot be set up", Why: err}
	}
	if h.opts.Settings.Settings.Permissions.Exec.Sandbox == config.Off {
		h.log.Warn("commands run without a sandbox: once approved they can do whatever this user can", "setting", "permissions.exec.sandbox")
	}
	h.cleanups.add("processes in the background", sh.Close)
	return sh.Tools(), nil
}

// steersAgent are the files and folders outside of the state folder that instruct the agent.
func steersAgent(o Options) []string {
	out := []string{filepath.Join(o.Dir, "Agent.md")}
	skills := o.Settings.Settings.Skills
	for _, folder := range skills.Paths {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(o.Dir, folder)
		}
		if rel, err := filepath.Rel(o.Dir, folder); skills.AllowExternalPaths || err == nil && filepath.IsLocal(rel) {
			out = append(out, folder)
		}
	}
	return out
}

// excluded are the folders of a project that are not searched.
func excluded(o Options) []string {
	var out []string
	for _, folder := range o.Settings.Settings.Permissions.Exec.Exclude {
		out = append(out, filepath.Join(o.Dir, filepath.FromSlash(folder)))
	}
	return out
}

// processEnded notifies a chat that one of its processes has ended, with a turn of the host's own that is durable and
// accepted once. If the chat cannot accept it now, processEnded retries.
func (h *Host) processEnded(ctx context.Context, e shell.Ended) {
	pause := noticePause
	for range noticeTries {
		err := h.tellChat(ctx, e)
		if err == nil {
			return
		}
		h.log.Info("a chat could not be notified yet that a background process ended", "process", e.ID, "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause *= 2
	}
	h.log.Warn("a chat was not notified that a background process ended", "process", e.ID, "chat_key", e.Run.ChatKey, "run_id", e.Run.RunID, "request_id", e.Run.RequestID)
}

func (h *Host) tellChat(ctx context.Context, e shell.Ended) error {
	key, id := e.Run.ChatKey, "process-"+e.ID
	meta := uimessage.Metadata{
		TS: time.Now().UnixMilli(), ChatKey: string(key), MessageID: id, RequestID: rand.Text(), Kind: uimessage.KindNormal,
		Source: uimessage.SourceTask, IngressID: id,
		UserID: e.Run.Asker.ID, Username: e.Run.Asker.Name, // what follows is asked for by who had the process started
	}
	if a, ok := key.Address(); ok {
		meta.Channel = a.Platform
	}
	turn := uimessage.Message{
		ID: "u:" + string(key) + ":" + id, Role: uimessage.RoleUser, Metadata: meta.Append(nil), Parts: []uimessage.Part{uimessage.Text{Text: endedText(e)}},
	}
	answer, err := await(ctx, h.system.Root.RequestFuture(h.router, messages.AcceptIngress{
		ChatKey: key, RequestID: meta.RequestID, IngressID: id, Verdict: messages.VerdictOpen, Turn: turn,
	}, askChatFor))
	if err != nil {
		return err
	}
	switch a := answer.(type) {
	case messages.IngressAccepted:
		return nil
	case messages.IngressRejected:
		return errors.New(a.Reason)
	}
	return fmt.Errorf("an answer of type %T", answer)
}

// endedText is the notice as the model and people read it. Each line of the process's output is quoted, so that it
// cannot be mistaken for the notice.
func endedText(e shell.Ended) string {
	how := fmt.Sprintf("with exit code %d", e.Exit.Code)
	switch {
	case e.Exit.Limit != "":
		how = "because it reached its limit of " + e.Exit.Limit
	case e.Exit.Signal != "":
		how = "by the signal " + e.Exit.Signal
	}
	if e.Failure != "" {
		how += " (" + e.Failure + ")"
	}
	text := fmt.Sprintf("[Notice of the host] The background process %s ended %s after %s.\nIt ran:\n%s", e.ID, how, e.Took, quoted(e.Command))
	if tail := strings.TrimSpace(e.Tail); tail != "" {
		text += "\nThe end of its output:\n" + quoted(tail)
	}
	return text
}

func quoted(text string) string {
	return "> " + strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' || c == '\u2028' || c == '\u2029' }), "\n> ")
}
