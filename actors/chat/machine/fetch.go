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
	// albumAgain is how long one waits that was cut off by a restart: the platform has to
	// connect before it brings the rest.
	albumAgain = 3 * time.Second
	// maxAlbum is how many messages of an album become one turn.
	maxAlbum = 20
)

// fetching are the turns whose files are on their way. Attempts have numbers: a turn
// that was edited meanwhile is fetched anew.
type fetching struct {
	n     int
	turns map[string]int
	// album is until when the album that came last may grow.
	album, armed time.Time // and when the timer is set for
}

// held reports whether a turn keeps its place but is not for the model yet.
func (c *Chat) held(t journal.Turn) bool {
	return c.Fetches && t.Role == uimessage.RoleUser && platform.Unfetched(t.Parts) ||
		t.Meta.Album != "" && c.now().Before(c.files.album)
}

// come are the waiting turns that the model may see: all before the first that is held.
func (c *Chat) come() []journal.Turn {
	if i := slices.IndexFunc(c.state.Lane, c.held); i >= 0 {
		return c.state.Lane[:i]
	}
	return c.state.Lane
}

// unseen are the turns that no model has been asked about.
func (c *Chat) unseen() []journal.Turn {
	if c.state.Run != nil {
		return c.state.Lane
	}
	return c.state.Open()
}

// fetchAll begins to fetch the files of the turns that wait, and reports whether one
// of them has to be waited for.
func (c *Chat) fetchAll() (waits bool) {
	for _, t := range c.unseen() {
		if !c.held(t) {
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

// fetch begins to fetch the files of a turn, unless that is under way.
func (c *Chat) fetch(t journal.Turn) {
	if _, underWay := c.files.turns[t.ID]; underWay {
		return
	}
	c.files.n++
	put(&c.files.turns, t.ID, c.files.n)
	c.effect(FetchFiles{t.Message, c.files.n})
}

// onFetched puts a turn with its files in the place of the one without. Its author
// may have changed it meanwhile: then it is fetched anew.
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
	facts, rows := c.unheard(was, journal.NewTurn(turn), len(unseen) == 1)
	c.append(append([]journal.Fact{journal.TurnReplaced{Turn: turn}}, facts...)...)
	c.deliverRows(rows)
	if c.state.OpenTurns() == 0 { // the host has answered it
		c.settledFrame(turn.ID)
	}
}

// unfetch forgets a turn's files that are on their way: it has others now.
func (c *Chat) unfetch(turnID string) {
	if n, ok := c.files.turns[turnID]; ok {
		c.effect(CancelFetch{n})
		delete(c.files.turns, turnID)
	}
}

// joinAlbum adds a file to the turn that the others of its album are in, if no model
// has seen it. What it adds to ends as merged. In a group only one of an album says whom
// it turns to, so that a file joins its sender's turn without doing so itself.
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

// own are parts without the file of the message that theirs answers: the files of an
// album all answer the same one.
func own(parts []uimessage.Part) []uimessage.Part {
	for i, p := range parts {
		if f, ok := platform.FileOf(p); ok && f.Answered && i > 0 {
			return slices.Concat(parts[:i-1], parts[i+1:])
		}
	}
	return parts
}

// shownOnce are the parts of a new turn. The file of the message that it answers is left
// out of them where an earlier turn shows it to the model: the turn says where.
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

// shownAt says where requests show a file, by the platform's id for its content; empty:
// they do not, or no longer.
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
