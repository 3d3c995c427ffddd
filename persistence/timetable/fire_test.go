package timetable

import (
	"testing"
	"time"
)

// What a task uses counts for its maker, also if it was started by hand.
func TestTaskOf(t *testing.T) {
	at := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	for _, id := range []string{FireID("morning-report", at), FireByHand("morning-report", at)} {
		if task, ok := TaskOf(FireChat(id)); !ok || task != "morning-report" {
			t.Errorf("%s is a fire of %q, %v", id, task, ok)
		}
	}
	if task, ok := TaskOf("telegram-chat-1"); ok {
		t.Errorf("telegram-chat-1 is of the task %q", task)
	}
}
