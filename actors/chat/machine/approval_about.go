package machine

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/bind"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// about finds what a message refers to. It uses only durable data: the receipts of the rows that showed requests, and
// in a chat without an outbox what its readers saw last.
func (c *Chat) about(msg messages.AcceptIngress, turn journal.Turn) bind.Bound {
	if !c.via.Outbox {
		return c.read()
	}
	var rows []bind.Row
	by := askerOf(turn)
	for _, s := range c.state.Shown {
		row := bind.Row{Next: s.Next, Doubt: s.Doubt}
		for _, id := range s.Requests {
			if c.mayAbout(by, id, msg.Admin) {
				row.Requests = append(row.Requests, id)
			}
		}
		for _, p := range s.Pieces {
			row.Pieces = append(row.Pieces, bind.Piece(p))
		}
		rows = append(rows, row)
	}
	return bind.Of(rows, bind.Words{
		Order: msg.Order, ReplyTo: turn.Meta.ReplyTo, ToBot: msg.ToBot, Elsewhere: msg.Elsewhere,
		// In a thread that is not a chat of its own, we do not know what the bot said there last.
		InFlight: len(c.state.Pending()) > 0 || c.inThread(turn),
	})
}

// read returns what words refer to in a chat whose readers see the history itself as it is written: the requests of
// the newest message, unless a run is in progress or the host has answered since. Everything in the history counts as
// shown.
func (c *Chat) read() bind.Bound {
	var b bind.Bound
	b.Seen = approval.IDsOf(c.openHere())
	if c.state.Run == nil {
		b.List = slices.Clone(c.state.Read.Requests)
	}
	return b
}
