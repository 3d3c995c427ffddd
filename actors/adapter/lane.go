package adapter

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/backoff"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Retries of a send. Network failures are waited out for long, since the whole
// platform is gone then; a service that answers with failures is not.
const (
	firstRetry   = 500 * time.Millisecond
	longestRetry = 10 * time.Second
	maxTries     = 8
	maxOutage    = 24 * time.Hour
	// maxUnknown is how many sends of a row may end without an answer: each may have arrived.
	maxUnknown = 4
	// maxStrikes is how many panics a row may cause.
	maxStrikes = 3
)

// lane is what one chat is owed, in order.
type lane struct {
	key    messages.ChatKey
	target platform.Target
	queue  []*job
	draft  *draft
	began  time.Time // when the last call began
	call   uint64    // the call of this chat that is under way; 0: none
	kept   *receipt  // the chat has not said yet that it has it; nil: none
	after  time.Time // not before
	away   bool      // after holds because the service could not be reached
	timer  time.Time // when a look at the lane is due; zero: none is
	inLine bool
	chat   window
	group  window
}

// job is one outbox row on its way.
type job struct {
	row     messages.Deliver
	parts   []platform.Part // nil until planned
	stands  *platform.Part  // that the placeholder of row.Draft shows; nil: not known
	sent    []messages.Receipt
	tries   int
	failing time.Time // since when nobody is reached; zero: not
	broken  int       // how often the service answered with a failure of its own
	unsure  bool      // the last send may have arrived: ask whether anybody is there before the next
	unknown int       // how many sends may have arrived, without an answer
	strikes int
}

// draft is a text under way that people can see.
type draft struct {
	row  messages.RowID
	at   string           // what it answers; empty: nothing
	made messages.Receipt // of the message; without an id: not sent yet
	text string
	last string         // as shown
	part *platform.Part // that the message shows; nil: not known
	next time.Time
	// shown is when a draft that is no message was shown last, and repeats how often
	// it was only kept alive since its text changed.
	shown   time.Time
	repeats int
	// unknown: how many times it may have been sent without an answer.
	unknown int
}

// has reports whether a row is in the lane already.
func (l *lane) has(row messages.RowID) bool {
	for _, j := range l.queue {
		if j.row.Row == row {
			return true
		}
	}
	return false
}

// free reports whether the lane may begin a call, as far as it knows itself.
func (l *lane) free() bool { return l.call == 0 && l.kept == nil && !l.inLine }

// wait is how long the chat's own limits hold the lane back.
func (l *lane) wait(now time.Time) time.Duration {
	return max(l.after.Sub(now), l.chat.wait(now), l.group.wait(now))
}

func (l *lane) note(now time.Time) {
	l.chat.note(now)
	l.group.note(now)
}

// over notes that what was noted last has ended.
func (l *lane) over(now time.Time) {
	l.chat.over(now)
	l.group.over(now)
}

// back takes back what was noted, since no call was made.
func (l *lane) back(at time.Time) {
	l.chat.back(at)
	l.group.back(at)
}

// endDraft: a row is over, and so is the text under way that became it.
func (l *lane) endDraft(j *job) {
	if l.draft != nil && l.draft.row == j.row.Row {
		l.draft = nil
	}
}

// draftOf is the placeholder that a row replaces, and what it shows; without an id: none.
func (l *lane) draftOf(j *job) (messages.Receipt, *platform.Part) {
	if l.draft != nil && l.draft.row == j.row.Row && l.draft.made.ID != "" {
		return l.draft.made, l.draft.part
	}
	return j.row.Draft, j.stands
}

// shown is the placeholder that shows all of a row's first part already; without an
// id: none does, as far as is known.
func (l *lane) shown(j *job) messages.Receipt {
	if made, part := l.draftOf(j); len(j.sent) == 0 && made.ID != "" && same(part, j.parts[0]) {
		return made
	}
	return messages.Receipt{}
}

// same reports whether a message that shows one part would look no other with the
// next. A platform that marks drafts as such wants to hear of their end.
func same(shown *platform.Part, next platform.Part) bool {
	return shown != nil && shown.Text == next.Text && shown.Markup == next.Markup && shown.Rich == next.Rich &&
		shown.Attachment == nil && next.Attachment == nil && slices.Equal(shown.Asks, next.Asks) && !shown.Draft && !next.Draft
}

// retry decides what becomes of a failed send: the wait before the next try, or
// that there is none.
func (j *job) retry(e *platform.Error, now time.Time, jitter func(time.Duration) time.Duration) (time.Duration, bool) {
	if j.unsure = e.Unknown; e.Unknown {
		j.unknown++
	}
	if !e.Retryable || j.unknown >= maxUnknown {
		return 0, false
	}
	j.tries++
	switch e.Reason {
	case platform.SendRate: // the service told when; that is no failure of the row
		j.tries, j.broken, j.failing = 0, 0, time.Time{}
	case platform.SendNetwork:
		if j.failing.IsZero() {
			j.failing = now
		}
		if now.Sub(j.failing) > maxOutage {
			return 0, false
		}
	default: // also at the end of an outage, whose tries do not count here
		if j.broken++; j.broken >= maxTries {
			return 0, false
		}
	}
	waits := backoff.Exponential{First: firstRetry, Longest: longestRetry}
	return max(e.RetryAfter, jitter(waits.Wait(j.tries))), true
}

// arrived notes a part that is with the platform.
func (j *job) arrived(made messages.Receipt) {
	j.sent = append(j.sent, made)
	j.tries, j.broken, j.failing, j.unsure = 0, 0, time.Time{}, false
}

// fullJitter is a random part of d, at least a tenth of it.
func fullJitter(d time.Duration) time.Duration {
	return d/10 + rand.N(d-d/10) // jitter needs no secrecy
}

// book is what outlives a panic of the actor. Only the incarnation that is alive
// touches it, in Receive.
type book struct {
	ctx    context.Context //nolint:containedctx // the actor's own life
	cancel context.CancelFunc

	rates platform.Rates
	lanes map[messages.ChatKey]*lane
	at    *lane // the lane that Receive is busy with; a panic leaves it set
	// receiver waits for the answer to the batch that Receive is busy with; a panic leaves it set.
	receiver *actor.PID
	calls    uint64
	back     time.Time // when the platform was last said to work

	closing bool       // the host stops: no call begins any more
	drainer *actor.PID // who waits for those under way; nil: nobody

	limits limits
	marks  marks
	line   []*lane // that only the account's limits hold back, in order
	lined  bool    // a look at the line is due
}

// newBook leaves the account's limit a margin, since sends of many chats at once
// do not arrive in the order and at the pace that they begin with.
func newBook(r platform.Rates) *book {
	all := platform.Rate{N: r.PerSender.N, Per: r.PerSender.Per + r.PerSender.Per/20}
	return &book{rates: r, lanes: map[messages.ChatKey]*lane{}, limits: limits{all: window{rate: all}}}
}

// lane finds or makes the lane of a chat.
func (b *book) lane(key messages.ChatKey, chatType string) *lane {
	l := b.lanes[key]
	if l == nil {
		addr, _ := key.Address()
		l = &lane{key: key, target: platform.Target{ChatKey: key, Chat: addr.Chat, Topic: addr.Topic}}
		b.lanes[key] = l
	}
	if chatType != "" {
		l.target.ChatType = chatType
	}
	l.chat.rate, l.group.rate = b.rates.PerChat, b.rates.PerGroup
	if !isGroup(l.target) {
		l.group.rate = platform.Rate{}
		if n := b.rates.Burst; n > 1 {
			l.chat.rate = platform.Rate{N: n * l.chat.rate.N, Per: time.Duration(n) * l.chat.rate.Per}
		}
	}
	b.at = l
	return l
}

// find is the lane of a chat, if there is one.
func (b *book) find(key messages.ChatKey) *lane {
	b.at = b.lanes[key]
	return b.at
}

// keys are those of all lanes, in an order of their own.
func (b *book) keys() []messages.ChatKey { return slices.Sorted(maps.Keys(b.lanes)) }

// nextCall numbers a call of the platform.
func (b *book) nextCall() uint64 {
	b.calls++
	return b.calls
}

// isGroup: negative ids are groups where the type is not known yet.
func isGroup(t platform.Target) bool {
	if t.ChatType == "" {
		return strings.HasPrefix(t.Chat, "-")
	}
	return messages.IsGroup(t.ChatType)
}
