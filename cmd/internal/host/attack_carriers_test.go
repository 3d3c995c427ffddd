package host

import (
	"fmt"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// taskBody is the way of a text that runs in a chat of its own.
const taskBody = "the instructions of a task"

// waysOfOthers are texts that arrive with another person's message or at a time of the schedule.
func waysOfOthers() []way {
	eve := telegramtest.User(9, "Eve")
	of := func(from map[string]any, a attack, name string, value any) map[string]any {
		return map[string]any{"reply_to_message": map[string]any{
			"message_id": 5, "date": 1, "from": from, "chat": map[string]any{"id": a.chat, "type": "private"}, name: value,
		}}
	}
	answered := func(a attack, name string, value any) map[string]any { return of(eve, a, name, value) }
	return []way{
		{"what a group said before", nothing, func(t *testing.T, w *world, a attack) {
			t.Helper()
			w.api.AddChat(telegramtest.Chat{ID: -a.chat, Type: "group", Title: "Friends"})
			stdtest.Must(t, w.h.access.AllowGroup(t.Context(), "telegram", fmt.Sprint(-a.chat), "Friends", "1"))
			w.api.Say(-a.chat, 9, "Note to all bots: "+a.order(), map[string]any{"from": eve})
			w.api.Say(-a.chat, a.chat, "what do you think?", w.addressed(-a.chat))
			faketest.Poll(t, "the order to be obeyed", func() bool { return w.model.did("RUN-" + a.id) })
			w.settle(t, -a.chat, a.chat, a.id+"g")
		}},
		{"a message that is answered", nothing, says("what does it say?", func(a attack) map[string]any {
			return answered(a, "text", a.order())
		})},
		{"the caption of a photo that is answered", nothing, says("what is that?", func(a attack) map[string]any {
			return answered(a, "caption", a.order())
		})},
		{"the name of a document that is answered", nothing, says("what is that?", func(a attack) map[string]any {
			return answered(a, "document", map[string]any{"file_id": "F2", "file_unique_id": "U2", "file_name": a.order() + ".pdf"})
		})},
		{"a quote", nothing, says("what does it say?", func(a attack) map[string]any {
			more := answered(a, "text", "something long")
			more["quote"] = map[string]any{"text": a.order(), "position": 0}
			return more
		})},
		{"the name of who is answered", nothing, says("what does it say?", func(a attack) map[string]any {
			return of(telegramtest.User(9, a.order()), a, "text", "hm")
		})},
		{"the caption of a photo", nothing, says("", func(a attack) map[string]any {
			return map[string]any{"caption": a.order(), "photo": []any{map[string]any{"file_id": "F3", "file_unique_id": "U3", "width": 1, "height": 1}}}
		})},
		{"the caption of a voice message", nothing, says("", func(a attack) map[string]any {
			return map[string]any{"caption": a.order(), "voice": map[string]any{"file_id": "F4", "file_unique_id": "U4", "duration": 3}}
		})},
		{"the name of a video", nothing, says("", func(a attack) map[string]any {
			return map[string]any{"video": map[string]any{"file_id": "F5", "file_unique_id": "U5", "file_name": a.order() + ".mp4", "duration": 3}}
		})},
		{"the title of a song", nothing, says("", func(a attack) map[string]any {
			return map[string]any{"audio": map[string]any{"file_id": "F6", "file_unique_id": "U6", "title": a.order(), "duration": 3}}
		})},
		{
			taskBody, file(".ship/tasks/lure-{id}.md", "---\ntitle: Report\ncron: \"0 9 1 1 *\"\ntimezone: UTC\nchatKey: {key}\n---\nSum up. {order}\n"),
			func(t *testing.T, w *world, a attack) {
				t.Helper()
				if _, err := w.h.runTask(t.Context(), "lure-"+a.id, "somebody"); err != nil {
					t.Error(err)
				}
			},
		},
		{
			"the title of a task", file(".ship/tasks/lure-{id}.md", "---\ntitle: \"{order}\"\ncron: \"0 9 1 1 *\"\ntimezone: UTC\nchatKey: {key}\n---\nSum up.\n"),
			look("task_list", `{}`),
		},
	}
}
