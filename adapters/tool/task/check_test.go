package task_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/task"
)

// Only a text to the person who asks needs no approval, and only a limited number of them.
func TestRemindersToOneself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ann := tool.Person{Platform: "telegram", ID: "1"}
	const say = `{"title":"Tea","delay":"20m","say":"Tea is ready."}`
	judged := func(run tool.Run, in string) tool.Decision {
		found, call := b.call(run.ChatKey, "c", task.CreateName, in)
		run.MessageID, call.Run = call.Run.MessageID, run
		return tool.BySpec(found, tool.Call{ID: "c", Name: task.CreateName, Input: json.RawMessage(in), Run: run}).Decision
	}
	for _, tt := range []struct {
		name string
		run  tool.Run
		in   string
		want tool.Decision
	}{
		{"to oneself", tool.Run{ChatKey: here, Asker: ann}, say, tool.Allow},
		{"instructions", tool.Run{ChatKey: here, Asker: ann}, `{"title":"x","delay":"20m","instructions":"y"}`, tool.Ask},
		{"a group", tool.Run{ChatKey: "telegram-chat--5", Asker: ann, Group: true}, say, tool.Ask},
		{"somebody else's chat", tool.Run{ChatKey: there, Asker: ann}, say, tool.Ask},
		{"nobody asks", tool.Run{ChatKey: here}, say, tool.Ask},
		{"a task asks", tool.Run{ChatKey: "task-x-1", Asker: ann}, say, tool.Ask},
		{"a program asks", tool.Run{ChatKey: "api-chat-1", Asker: ann}, say, tool.Ask},
		{"a private chat of Feishu", tool.Run{ChatKey: "feishu-chat-oc_1", Asker: tool.Person{ID: "ou_ann"}}, say, tool.Allow},
	} {
		if got := judged(tt.run, tt.in); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	for i := range 20 {
		if _, err := b.invoke(here, strconv.Itoa(i), task.CreateName, say); err != nil {
			t.Fatal(err)
		}
	}
	if got := judged(tool.Run{ChatKey: here, Asker: ann}, say); got != tool.Ask {
		t.Errorf("the twenty-first: %s, want %s", got, tool.Ask)
	}
}
