package host

import (
	"context"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// forgetWait bounds one deletion.
const forgetWait = time.Minute

// finishForgetting completes the deletions that were in progress when the last process ended.
func (h *Host) finishForgetting(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, forgetWait)
	defer cancel()
	e := query.NewEraser(h.opts.State, h.store, h.zone)
	err := e.FinishAll(ctx, func(f journal.Forgetting, err error) {
		if err != nil {
			h.log.Error("a chat could not be deleted completely", "chat_key", string(f.ChatKey), "error", err)
			return
		}
		h.log.Info("a chat was deleted whose deletion an earlier process had begun", "chat_key", string(f.ChatKey))
	})
	if err != nil {
		h.log.Error("interrupted deletions of chats could not be continued", "error", err)
	}
	return nil
}

// eraser deletes chats while the host runs.
func (h *Host) eraser() *query.Eraser {
	e := query.NewEraser(h.opts.State, h.store, h.zone)
	e.Fires, e.Index, e.Vectors, e.Runs = h.fires, h.index, h.vectors, h.runLog.ForgetRuns
	return e
}

// forgetChat deletes a chat. The chat calls it after closing its store.
func (h *Host) forgetChat(f journal.Forgetting) error {
	ctx, cancel := context.WithTimeout(context.Background(), forgetWait)
	defer cancel()
	related, err := h.eraser().Forget(ctx, f)
	for _, key := range related { // chats of their own, which may be active
		h.system.Root.Send(h.router, messages.ForgetChat{ChatKey: key, By: f.By})
	}
	h.tasksChanged()
	return err
}

// mayForget reports whether somebody may delete a chat: people their private chats, and in a group those who manage
// it.
func (h *Host) mayForget(cmd decision.Command) bool {
	return h.commands().MayManage(cmd, timetable.Task{})
}
