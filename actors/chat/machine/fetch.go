package machine

import (
	"slices"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// albumWait is how long an album waits for its next file.
	albumWait = 700 * time.Millisecond
	// albumAgain is the wait for an album that a restart interrupted: the platform must reconnect before it delivers
	// the rest.
	albumAgain = 3 * time.Second
	// maxAlbum is how many messages of an album are joined into one turn.
	maxAlbum = 20
)

// fetching is the state of turns whose files are being fetched, with the number of the attempt. A turn that is edited
// during a fetch is fetched again.
type fetching struct {
	n     int
	turns map[string]int
	// album is until when the most recent album may grow; armed is the time for which its timer is set.
	album, armed time.Time // see above
}

// waitsForFiles reports whether a turn is queued but not ready for the model yet.
func (c *Chat) waitsForFiles(t journal.Turn) bool {
	return c.Fetches && t.Role == uimessage.RoleUser && platform.Unfetched(t.Parts) ||
		t.Meta.Album != "" && c.now().Before(c.files.album)
}

// ready returns the queued turns that are ready: all before the first that waits for files.
func (c *Chat) ready() []journal.Turn {
	if i := slices.IndexFunc(c.state.Lane, c.waitsForFiles); i >= 0 {
		return c.state.Lane[:i]
	}
	return c.state.Lane
}

// unseen returns the turns that no model has seen.
func (c *Chat) unseen() []journal.Turn {
	if c.state.Run != nil {
		return c.state.Lane
	}
	return c.state.Open()
}

// fetchAll starts to fetch the files of unseen turns, and reports whether one of them must be waited for.
func (c *Chat) fetchAll() (waits bool) {
	for _, t := range c.unseen() {
		if !c.waitsForFiles(t) {
			continue
		}
		waits = true
		if c.Fetches && platform.Unfetched(t.Parts) {
			c.fetch(t)
		}
	}
	if rest := c.files.album.Sub(c.now()); waits && rest > 0 && !c.files.album.Equal(c.files.armed) {
		c.files.armed = c.files.album
		c.timer("album", rest, again{})
	}
	return waits
}

// fetch starts to fetch the files of a turn, unless this is in progress.
func (c *Chat) fetch(t journal.Turn) {
	if _, underWay := c.files.turns[t.ID]; underWay {
		return
	}
	c.files.n++
	put(&c.files.turns, t.ID, c.files.n)
	c.effect(FetchFiles{t.Message, c.files.n})
}

// onFetched replaces a turn with the one that contains its files. A result for a turn that was edited during the fetch
// is ignored; that turn is fetched again.
func (c *Chat) onFetched(msg Fetched) {
	if c.files.turns[msg.TurnID] != msg.N {
		return
	}
	delete(c.files.turns, msg.TurnID)
	unseen := c.unseen()
	i := slices.IndexFunc(unseen, func(t journal.Turn) bool { return t.ID == msg.TurnID })
	if i < 0 || !platform.Unfetched(unseen[i].Parts) {
		return
	}
	was, turn := unseen[i], unseen[i].Message
	turn.Parts = msg.Parts
	facts, rows := c.notTranscribed(was, journal.NewTurn(turn), len(unseen) == 1)
	c.append(append([]journal.Fact{journal.TurnReplaced{Turn: turn}}, facts...)...)
	c.deliverRows(rows)
	if c.state.OpenTurns() == 0 { // the host has answered it
		c.settledFrame(turn.ID)
	}
}

// unfetch cancels the fetch of a turn's files, if one is in progress.
func (c *Chat) unfetch(turnID string) {
	if n, ok := c.files.turns[turnID]; ok {
		c.effect(CancelFetch{n})
		delete(c.files.turns, turnID)
	}
}

// joinAlbum adds a file to the turn that contains the rest of its album, if no model has seen that turn. In a group
// only one message of an album is addressed to the bot, so a file joins its sender's turn without being addressed
// itself.
func (c *Chat) joinAlbum(msg messages.AcceptIngress, turn journal.Turn) bool {
	if turn.Meta.Album == "" || msg.EditOf != "" || msg.Bot {
		return false
	}
	until := c.now().Add(albumWait)
	if msg.Verdict == messages.VerdictOpen {
		c.files.album = until
	}
	for _, old := range c.unseen() {
		if old.Meta.Album != turn.Meta.Album || old.Meta.UserID != turn.Meta.UserID || old.Meta.EditOf != "" || len(old.Parts)+len(turn.Parts) > 3*maxAlbum {
			continue
		}
		c.files.album = until
		in := c.ingressOf(msg, turn)
		whole := uimessage.Message{ID: old.ID, Role: uimessage.RoleUser, Parts: slices.Concat(old.Parts, own(turn.Parts)), Metadata: old.Metadata}
		c.offer(journal.TurnReplaced{Turn: whole, Ingress: &in})
		c.unfetch(old.ID)
		c.answer(messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, TurnID: old.ID})
		return true
	}
	return false
}

// own returns parts without the file of the message they reply to, because all messages of an album reply to the same
// one.
func own(parts []uimessage.Part) []uimessage.Part {
	for i, p := range parts {
		if f, ok := platform.FileOf(p); ok && f.Answered && i > 0 {
			return slices.Concat(parts[:i-1], parts[i+1:])
		}
	}
	return parts
}

// shownOnce returns the parts of a new turn. If an earlier turn already shows the model the file of the message it
// replies to, the file is replaced with a reference to that turn.
func (c *Chat) shownOnce(parts []uimessage.Part) []uimessage.Part {
	for i, p := range parts {
		f, ok := platform.FileOf(p)
		if !ok || !f.Answered || i == 0 {
			continue
		}
		if where := c.shownAt(f.Unique); where != "" {
			text := uimessage.Text{Text: "[" + f.Kind + " of the message that this one answers; it is shown above, " + where + "]"}
			return slices.Concat(parts[:i-1], []uimessage.Part{text}, parts[i+1:])
		}
	}
	return parts
}

// shownAt says where requests show the file with the given content id. It is empty if they do not.
func (c *Chat) shownAt(unique string) string {
	if unique == "" {
		return ""
	}
	turns, pictures := slices.Concat(c.state.History, c.state.Lane), 0
	for i := range turns {
		pictures += prompt.PicturesIn(&turns[i].Message)
	}
	before := 0
	for i := range turns {
		t, nth := &turns[i], 0
		for _, p := range t.Parts {
			f, ok := platform.FileOf(p)
			if !ok {
				continue
			}
			nth++
			if f.Unique == unique && t.Role == uimessage.RoleUser && before >= prompt.HiddenOf(pictures) && (f.Picture != nil || f.Unfetched()) {
				return "file " + strconv.Itoa(nth) + " of message " + t.Meta.MessageID
			}
		}
		before += prompt.PicturesIn(&t.Message)
	}
	return ""
}
