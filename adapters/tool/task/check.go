package task

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// maxOwnReminders is how many open tasks a chat may have before a reminder needs approval.
const maxOwnReminders = 20

// CheckCall implements [tool.Checker]. A text that is sent only to the person who asks for it needs no approval, as long as
// there are few tasks. Everything else does: instructions that a model follows later, texts to other people, and
// unclear cases.
func (c *Create) CheckCall(call tool.Call) tool.Verdict {
	var in input
	err := json.Unmarshal(call.Input, &in)
	switch {
	case err != nil || strings.TrimSpace(in.Say) == "" || strings.TrimSpace(in.Instructions) != "":
		return tool.Verdict{Decision: tool.Ask, Reason: "a task that follows instructions asks"}
	case !ownPrivateChat(call.Run):
		return tool.Verdict{Decision: tool.Ask, Reason: "a text to other people asks"}
	}
	mine, err := ofChat(context.Background(), c.opts.Tasks, call.Run.ChatKey)
	if err != nil {
		return tool.Verdict{Decision: tool.Ask, Reason: "the tasks of the chat cannot be counted"}
	}
	own := taskID(call)
	if open(slices.DeleteFunc(mine, func(t timetable.Task) bool { return t.ID == own })) >= maxOwnReminders {
		return tool.Verdict{Decision: tool.Ask, Reason: "this chat has many tasks already"}
	}
	return tool.Verdict{Decision: tool.Allow}
}

// open counts the tasks that have not ended.
func open(tasks []timetable.Task) int {
	n := 0
	for _, t := range tasks {
		if t.Status != timetable.Done {
			n++
		}
	}
	return n
}

// ownPrivateChat reports whether only the person who asks reads the chat.
func ownPrivateChat(r tool.Run) bool {
	a, ok := r.ChatKey.Address()
	if !ok || r.Group || r.Asker.ID == "" {
		return false
	}
	switch a.Platform {
	case "telegram":
		return a.Chat == r.Asker.ID // the id of a private chat is that of its user
	case "feishu", "web", "cli":
		return true
	}
	return false
}
