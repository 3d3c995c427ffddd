package adapter

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/backoff"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Retries of a send. Network failures are retried for long, because the whole platform is
// unreachable; failures that the service reports are not.
const (
	firstRetry   = 500 * time.Millisecond
	longestRetry = 10 * time.Second
	maxTries     = 8
	maxOutage    = 24 * time.Hour
	// maxUnknown is how many sends of a row may end without a response: each may have been delivered.
	maxUnknown = 4
	// maxStrikes is how many panics a row may cause.
	maxStrikes = 3
)

// lane is the queue of rows of one chat, in order.
type lane struct {
	key    messages.ChatKey
	target platform.Target
	queue  []*job
	draft  *draft
	began  time.Time // when the last call started
	call   uint64    // the current call of this chat; 0 if none
	kept   *receipt  // receipt that the chat has not confirmed, or nil
	after  time.Time // no call before this time
	away   bool      // after is set because the service could not be reached
	timer  time.Time // when the lane will be looked at again; zero if no timer is set
	inLine bool
	chat   window
	group  window
}

// job is one outbox row that is being sent.
type job struct {
	row     messages.Deliver
	parts   []platform.Part // nil until planned
	shown   *platform.Part  // what the placeholder of row.Draft shows; nil if unknown
	sent    []messages.Receipt
	tries   int
	failing time.Time // since when the platform is unreachable; zero if it is reachable
	broken  int       // how often the service reported a failure of its own
	unsure  bool      // the last send may have been delivered: probe before the next
	unknown int       // sends that may have been delivered, without a response
	strikes int
}

// draft is an unfinished text that people can see.
type draft struct {
	row  messages.RowID
	at   string           // the message it replies to; may be empty
	made messages.Receipt // the message; without an id it is not sent yet
	text string
	last string         // as shown
	part *platform.Part // what the message shows; nil if unknown
	next time.Time
	// shown is when a draft that is no message was last shown, and repeats how often it was only
	// refreshed since its text changed.
	shown   time.Time
	repeats int
	// unknown is how many times it may have been sent without a response.
	unknown int
}

// targetOf returns a chat as its platform addresses it.
func targetOf(key messages.ChatKey, chatType string) platform.Target {
	addr, _ := key.Address()
	return platform.Target{ChatKey: key, Chat: addr.Chat, Topic: addr.Topic, ChatType: chatType}
}

// has reports whether a row is in the lane already.
func (l *lane) has(row messages.RowID) bool {
	return slices.ContainsFunc(l.queue, func(j *job) bool { return j.row.Row == row })
}

// free reports whether the lane itself allows a call now.
func (l *lane) free() bool { return l.call == 0 && l.kept == nil && !l.inLine }

// wait is how long the chat's own limits delay the lane.
func (l *lane) wait(now time.Time) time.Duration {
	return max(l.after.Sub(now), l.chat.wait(now), l.group.wait(now))
}

func (l *lane) note(now time.Time) {
	l.chat.note(now)
	l.group.note(now)
}

// over notes that the call noted last has ended.
func (l *lane) over(now time.Time) {
	l.chat.over(now)
	l.group.over(now)
}

// back removes a noted call, because it was not made.
func (l *lane) back(at time.Time) {
	l.chat.back(at)
	l.group.back(at)
}

// endDraft ends the draft that became a finished row.
func (l *lane) endDraft(j *job) {
	if l.draft != nil && l.draft.row == j.row.Row {
		l.draft = nil
	}
}

// draftOf returns the placeholder that a row replaces, and what it shows. The id is empty if there
// is not a placeholder.
func (l *lane) draftOf(j *job) (messages.Receipt, *platform.Part) {
	if l.draft != nil && l.draft.row == j.row.Row && l.draft.made.ID != "" {
		return l.draft.made, l.draft.part
	}
	return j.row.Draft, j.shown
}

// shown returns the placeholder that already shows all of a row's first part. The id is empty if
// none does, as far as known.
func (l *lane) shown(j *job) messages.Receipt {
	if made, part := l.draftOf(j); len(j.sent) == 0 && made.ID != "" && same(part, j.parts[0]) {
		return made
	}
	return messages.Receipt{}
}

// same reports whether a message that shows one part would look the same with the next. A platform
// that marks drafts needs the edit that ends one.
func same(shown *platform.Part, next platform.Part) bool {
	return shown != nil && shown.Text == next.Text && shown.Markup == next.Markup && shown.Rich == next.Rich &&
		shown.Attachment == nil && next.Attachment == nil && slices.Equal(shown.Asks, next.Asks) && !shown.Draft && !next.Draft
}

// retry decides about a failed send: the wait before the next try, or false if it is not retried.
func (j *job) retry(e *platform.Error, now time.Time, jitter func(time.Duration) time.Duration) (time.Duration, bool) {
	if j.unsure = e.Unknown; e.Unknown {
		j.unknown++
	}
	if !e.Retryable || j.unknown >= maxUnknown {
		return 0, false
	}
	j.tries++
	switch e.Reason {
	case platform.SendRate: // the service said when; the row has not failed
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

// arrived notes a delivered part.
func (j *job) arrived(made messages.Receipt) {
	j.sent = append(j.sent, made)
	j.tries, j.broken, j.failing, j.unsure = 0, 0, time.Time{}, false
}

// fullJitter returns a random part of d, at least a tenth of it.
func fullJitter(d time.Duration) time.Duration {
	return d/10 + rand.N(d-d/10) // jitter needs no secrecy
}

// book is the state that survives a panic of the actor. Only the live incarnation uses it, in
// Receive.
type book struct {
	ctx    context.Context //nolint:containedctx // the actor's own life
	cancel context.CancelFunc

	rates platform.Rates
	lanes map[messages.ChatKey]*lane
	at    *lane // the lane that Receive is working on; a panic leaves it set
	// receiver waits for the answer to the batch that Receive is working on; a panic leaves it set.
	receiver *actor.PID
	calls    uint64
	back     time.Time // when the platform last reported that it works

	closing bool       // the host stops: start no more calls
	drainer *actor.PID // who waits for the calls in progress, or nil

	limits limits
	marks  marks
	line   []*lane // lanes that only the account's limits delay, in order
	lined  bool    // a timer for the line is set
}

// newBook keeps a margin below the account's limit, because concurrent sends of many chats do not
// arrive in the order and at the pace in which they start.
func newBook(r platform.Rates) *book {
	all := platform.Rate{N: r.PerSender.N, Per: r.PerSender.Per + r.PerSender.Per/20}
	return &book{rates: r, lanes: map[messages.ChatKey]*lane{}, limits: limits{all: window{rate: all}}}
}

// lane finds or makes the lane of a chat.
func (b *book) lane(key messages.ChatKey, chatType string) *lane {
	l := b.lanes[key]
	if l == nil {
		l = &lane{key: key, target: targetOf(key, "")}
		b.lanes[key] = l
	}
	if chatType != "" {
		l.target.ChatType = chatType
	}
	l.chat.rate, l.group.rate = b.rates.PerChat, b.rates.PerGroup
	if !messages.IsGroup(l.target.ChatType, l.target.Chat) {
		l.group.rate = platform.Rate{}
		if n := b.rates.Burst; n > 1 {
			l.chat.rate = platform.Rate{N: n * l.chat.rate.N, Per: time.Duration(n) * l.chat.rate.Per}
		}
	}
	b.at = l
	return l
}

// find returns the lane of a chat, or nil.
func (b *book) find(key messages.ChatKey) *lane {
	b.at = b.lanes[key]
	return b.at
}

// keys returns the keys of all lanes, sorted.
func (b *book) keys() []messages.ChatKey { return slices.Sorted(maps.Keys(b.lanes)) }

// nextCall numbers a call to the platform.
func (b *book) nextCall() uint64 {
	b.calls++
	return b.calls
}
