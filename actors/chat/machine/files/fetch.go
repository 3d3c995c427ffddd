// Package files decides about the files of people's messages: when they are fetched, which messages of an album form
// one turn, and what follows if a voice message could not be transcribed.
package files

import (
	"slices"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
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

// AlbumDue is the timer message after which an album is complete.
type AlbumDue struct{}

// Files fetches the files of turns before the model sees the turns, and joins the messages of an album.
type Files struct {
	*decision.Base
	n     int            // of the newest attempt
	turns map[string]int // turns whose files are being fetched, with the number of the attempt
	// album is until when the most recent album may grow; armed is the time for which its timer is set.
	album, armed time.Time
}

// Copy returns a copy for another decision.
func (w Files) Copy() Files {
	w.turns = decision.Clone(w.turns)
	return w
}

// Left returns the files of a chat that will be loaded again. It keeps the number of attempts, so that results of
// earlier fetches are recognized as late.
func (w Files) Left() Files { return Files{n: w.n} }

// Resume waits again for an album that a restart may have interrupted.
func (w *Files) Resume(now time.Time) {
	if slices.ContainsFunc(w.Unseen(), func(t journal.Turn) bool { return t.Meta.Album != "" }) {
		w.album = now.Add(albumAgain)
	}
}

// waitsForFiles reports whether a turn is queued but not ready for the model yet.
func (w *Files) waitsForFiles(t journal.Turn) bool {
	return w.Fetches && t.Role == uimessage.RoleUser && platform.Unfetched(t.Parts) ||
		t.Meta.Album != "" && w.Now().Before(w.album)
}

// Ready returns the queued turns that are ready: all before the first that waits for files.
func (w *Files) Ready() []journal.Turn {
	if i := slices.IndexFunc(w.State.Lane, w.waitsForFiles); i >= 0 {
		return w.State.Lane[:i]
	}
	return w.State.Lane
}

// FetchAll starts to fetch the files of unseen turns, and reports whether one of them must be waited for.
func (w *Files) FetchAll() (waits bool) {
	for _, t := range w.Unseen() {
		if !w.waitsForFiles(t) {
			continue
		}
		waits = true
		if w.Fetches && platform.Unfetched(t.Parts) {
			w.fetch(t)
		}
	}
	if rest := w.album.Sub(w.Now()); waits && rest > 0 && !w.album.Equal(w.armed) {
		w.armed = w.album
		w.Timer("album", rest, AlbumDue{})
	}
	return waits
}

// fetch starts to fetch the files of a turn, unless this is in progress.
func (w *Files) fetch(t journal.Turn) {
	if _, underWay := w.turns[t.ID]; underWay {
		return
	}
	w.n++
	decision.Put(&w.turns, t.ID, w.n)
	w.Effect(decision.FetchFiles{Turn: t.Message, N: w.n})
}

// OnFetched replaces a turn with the one that contains its files. A result for a turn that was edited during the fetch
// is ignored; that turn is fetched again.
func (w *Files) OnFetched(msg decision.Fetched) {
	if w.turns[msg.TurnID] != msg.N {
		return
	}
	w.Unfetch(msg.TurnID)
	unseen := w.Unseen()
	i := slices.IndexFunc(unseen, func(t journal.Turn) bool { return t.ID == msg.TurnID })
	if i < 0 || !platform.Unfetched(unseen[i].Parts) {
		return
	}
	was, turn := unseen[i], unseen[i].Message
	turn.Parts = msg.Parts
	facts, rows := w.notTranscribed(was, journal.NewTurn(turn), len(unseen) == 1)
	w.Append(append([]journal.Fact{journal.TurnReplaced{Turn: turn}}, facts...)...)
	w.DeliverRows(rows)
	if w.State.OpenTurns() == 0 { // the host has answered it
		w.SettledFrame(turn.ID)
	}
}

// Unfetch ends the fetch of a turn's files, if one is in progress.
func (w *Files) Unfetch(turnID string) {
	if n, ok := w.turns[turnID]; ok {
		w.Effect(decision.CancelFetch{N: n})
		delete(w.turns, turnID)
	}
}

// JoinAlbum adds a file to the turn that contains the rest of its album, if no model has seen that turn. In a group
// only one message of an album is addressed to the bot, so a file joins its sender's turn without being addressed
// itself.
func (w *Files) JoinAlbum(msg messages.AcceptIngress, turn journal.Turn) bool {
	if turn.Meta.Album == "" || msg.EditOf != "" || msg.Bot {
		return false
	}
	until := w.Now().Add(albumWait)
	if msg.Verdict == messages.VerdictOpen {
		w.album = until
	}
	for _, old := range w.Unseen() {
		if old.Meta.Album != turn.Meta.Album || old.Meta.UserID != turn.Meta.UserID || old.Meta.EditOf != "" || len(old.Parts)+len(turn.Parts) > 3*maxAlbum {
			continue
		}
		w.album = until
		in := w.IngressOf(msg, turn)
		whole := uimessage.Message{ID: old.ID, Role: uimessage.RoleUser, Parts: slices.Concat(old.Parts, own(turn.Parts)), Metadata: old.Metadata}
		w.Offer(journal.TurnReplaced{Turn: whole, Ingress: &in})
		w.Unfetch(old.ID)
		w.Answer(messages.IngressAccepted{ChatKey: w.Key, RequestID: msg.RequestID, TurnID: old.ID})
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

// ShownOnce returns the parts of a new turn. If an earlier turn already shows the model the file of the message it
// replies to, the file is replaced with a reference to that turn.
func (w *Files) ShownOnce(parts []uimessage.Part) []uimessage.Part {
	for i, p := range parts {
		f, ok := platform.FileOf(p)
		if !ok || !f.Answered || i == 0 {
			continue
		}
		if where := w.shownAt(f.Unique); where != "" {
			text := uimessage.Text{Text: "[" + f.Kind + " of the message that this one answers; it is shown above, " + where + "]"}
			return slices.Concat(parts[:i-1], []uimessage.Part{text}, parts[i+1:])
		}
	}
	return parts
}

// shownAt says where requests show the file with the given content id. It is empty if they do not.
func (w *Files) shownAt(unique string) string {
	if unique == "" {
		return ""
	}
	turns, pictures := slices.Concat(w.State.History, w.State.Lane), 0
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
