package run

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// tell sends chunks to the chat.
func (r *run) tell(ac actor.Context, chunks []uistream.Chunk) {
	if len(chunks) > 0 {
		ac.Request(r.chat, messages.RunProgressed{RunID: r.start.RunID, Chunks: chunks})
	}
}

func (r *run) fail(ac actor.Context, reason string, err error) {
	ac.Request(r.chat, messages.RunFailed{RunID: r.start.RunID, Reason: reason, Err: err.Error(), Took: r.takeTook()})
}

// takeTook returns how long the model call that has just ended was, once.
func (r *run) takeTook() time.Duration {
	took := r.took
	r.took = 0
	return took
}

// acquire asks for the slot of one model call.
func (r *run) acquire(ac actor.Context) {
	ac.Request(r.Gate, messages.AcquireSlot{ChatKey: r.start.ChatKey})
}

// restarted tells the chat that the step is requested again, and what its requests leave out. The
// next run starts with that even if this one is stopped before it gets an answer.
func (r *run) restarted(ac actor.Context, reason model.Reason) {
	ac.Request(r.chat, messages.StepRestarted{RunID: r.start.RunID, Reason: string(reason), Trim: messages.Trim(r.trim), Took: r.takeTook()})
}
