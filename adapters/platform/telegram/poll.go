package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/httpcall"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
)

// reasonUnchanged marks an edit that changes nothing visible.
const reasonUnchanged = "unchanged"

const (
	pollLimit = 100
	// pollGrace is how much longer than its timeout a poll may take to begin its response, and how
	// long the response may pause. Together with the default timeout it bounds how long a
	// connection that broke silently goes unnoticed.
	pollGrace = 5 * time.Second
	// conflictPause keeps two pollers from chasing each other.
	conflictPause = 2 * time.Second
)

// asideAfter is how long a chat that the host refuses may block the others, and their presses.
const asideAfter = 2 * time.Second

type (
	arrival = botkit.Arrival[update]
	intake  = botkit.Intake[update]
)

// newIntake returns the intake for one run of Receive.
func (p *Platform) newIntake(status *botkit.Status) *intake {
	return botkit.NewIntake(botkit.IntakeOptions[update]{
		Status: status, StateDir: p.opts.StateDir, Patience: asideAfter, Map: p.arrivals, Now: p.opts.Now, SetAside: p.metrics.parked, Log: p.log,
		Read: func(line []byte) (u update, err error) { return u, json.Unmarshal(line, &u) },
	})
}

// receiver is one run of Receive.
type receiver struct {
	p      *Platform
	status *botkit.Status
	intake *intake
	offset int64
	lowest int64 // the lowest id of a full batch that did not begin at the offset
	tries  int
	// unhooked: a webhook was deleted. If one is set again, somebody needs it.
	unhooked bool
}

// Receive implements [platform.Platform]. It returns nil once ctx has ended.
func (p *Platform) Receive(ctx context.Context, host platform.Host) error {
	ctx, cancel := context.WithCancel(ctx)
	status := &botkit.Status{Host: host}
	in := p.newIntake(status)
	p.life.Begin(ctx, host)
	defer p.life.Wait()
	defer in.Close()
	defer cancel()
	if p.opts.Webhook != nil {
		return p.receiveHook(ctx, status, in)
	}
	return (&receiver{p: p, status: status, intake: in}).run(ctx)
}

// run polls until ctx ends.
func (r *receiver) run(ctx context.Context) error {
	for ctx.Err() == nil {
		began := time.Now()
		err := r.step(ctx)
		switch {
		case err == nil:
			r.tries = 0
		case ctx.Err() != nil:
			return nil
		case isTokenRefused(err):
			r.p.metrics.polls.WithLabelValues(string(platform.SendAuth)).Inc()
			r.status.Set(false, ErrToken.Error())
			return &platform.Error{Reason: platform.SendAuth, Err: ErrToken}
		default:
			r.failed(ctx, err, began)
		}
	}
	return nil
}

// step makes one poll: it gets a batch and hands it over. At first and after each failure it asks
// for the bot's identity, because the name may have changed.
func (r *receiver) step(ctx context.Context) error {
	if r.p.me.Load() == nil || r.tries > 0 {
		if err := r.p.identify(ctx); err != nil {
			return err
		}
	}
	if err := r.intake.Open(ctx); err != nil {
		return err
	}
	r.p.sendDue(ctx)
	updates, bad, err := r.poll(ctx)
	if err != nil {
		return err
	}
	r.p.metrics.polls.WithLabelValues("ok").Inc()
	updates, bad, ok := r.inOrder(updates, bad)
	if !ok {
		return nil
	}
	if r.status.Set(true, "") {
		r.p.log.Info("receiving by polling", "username", r.p.Username())
	}
	if err := r.intake.Deliver(ctx, r.p.arrivals(ctx, updates)); err != nil {
		return err
	}
	return r.confirm(updates, bad)
}

func (p *Platform) identify(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, pollGrace)
	defer cancel()
	me, err := call[models.User](soon, p.client, "getMe", struct{}{})
	if err != nil {
		return err
	}
	if old := p.me.Swap(&me); !me.CanReadAllGroupMessages && (old == nil || old.CanReadAllGroupMessages) && (p.opts.Groups == platform.GroupsAll || p.opts.FollowUp > 0) {
		p.log.Warn("privacy mode is on: in groups that the bot does not administer it gets only mentions, replies and commands; " +
			"send /setprivacy to @BotFather, then take the bot out of the groups and in again")
	}
	p.announce()
	return nil
}

// poll requests updates. Until one poll has succeeded it does not wait for updates, so that a
// recovered connection is noticed at once.
func (r *receiver) poll(ctx context.Context) ([]update, []int64, error) {
	wait := r.p.opts.PollTimeout
	if !r.status.Up() {
		wait = 0
	}
	ctx, cancel := httpcall.WhileAlive(ctx, wait+pollGrace, pollGrace)
	defer cancel()
	raw, err := call[json.RawMessage](ctx, r.p.client, "getUpdates", pollParams{
		Offset: r.offset, Limit: pollLimit, Timeout: int(wait / time.Second), Allowed: allowedUpdates(),
	})
	if err != nil {
		return nil, nil, err
	}
	updates, bad, err := decodeUpdates(raw)
	if err != nil {
		return nil, nil, &callError{Call: "getUpdates", Err: err}
	}
	return updates, bad, nil
}

// arrivals maps updates and applies the gate to them.
func (p *Platform) arrivals(ctx context.Context, updates []update) []arrival {
	m := mapper{account: p.opts.Account, me: *p.me.Load(), commands: p.opts.Commands, origin: p.moves.origin}
	batch := make([]arrival, 0, len(updates))
	for _, u := range updates {
		p.moves.learnFrom(u.Message)
	}
	for _, u := range updates {
		if u.Callback != nil {
			p.press(*u.Callback)
			continue
		}
		if u.Mine != nil {
			p.member(ctx, u)
			continue
		}
		if in, ok := p.arrival(ctx, m, u); ok {
			batch = append(batch, arrival{Event: u, In: in})
		}
	}
	return batch
}

// arrival maps one update. If that panics, the update is skipped like one that cannot be decoded;
// otherwise it would be redelivered forever.
func (p *Platform) arrival(ctx context.Context, m mapper, u update) (in platform.Inbound, ok bool) {
	defer func() {
		if v := recover(); v != nil {
			p.metrics.unread.Inc()
			p.log.Error("an update made the mapper panic and is skipped", "update_id", u.ID, "panic", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
			ok = false
		}
	}()
	x, ok := m.inbound(u)
	if ok {
		in = p.admit(ctx, x)
	}
	if ok && in.Gate.Open && p.versions.Same(x.msg, in.Kind == platform.KindEdit) {
		in.Gate = botkit.Ignored(reasonUnchanged)
	}
	return in, ok
}

// errNoProgress: the server keeps sending an update without a readable id.
var errNoProgress = errors.New("the server sends updates without an id")

// inOrder returns the part of a batch that may be handed over, using the ids to restore the order.
// In a full batch, redelivered updates may have displaced updates that the server still has.
// Acknowledging the highest id would lose those, and handing the batch over would reorder a chat.
// Such a batch therefore ends at its first gap, and what follows is delivered again. A gap at its
// beginning is accepted if the same batch is delivered once more; until then ok is false.
func (r *receiver) inOrder(updates []update, bad []int64) ([]update, []int64, bool) {
	sort.SliceStable(updates, func(i, j int) bool { return updates[i].ID < updates[j].ID })
	if len(updates)+len(bad) < pollLimit {
		return updates, bad, true
	}
	ids := slices.Clone(bad)
	for _, u := range updates {
		ids = append(ids, u.ID)
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(ids, func(id int64) bool { return id < max(r.offset, 1) })
	if len(ids) > 0 && ids[0] != r.offset && ids[0] != r.lowest {
		r.lowest = ids[0]
		return nil, nil, false
	}
	for i, id := range ids {
		if i > 0 && id > ids[i-1]+1 {
			return slices.DeleteFunc(updates, func(u update) bool { return u.ID >= id }),
				slices.DeleteFunc(bad, func(b int64) bool { return b >= id }), true
		}
	}
	return updates, bad, true
}

// confirm moves the offset. An empty response means that everything before it is acknowledged. The
// next ids may then start over at lower numbers, so the offset is dropped.
func (r *receiver) confirm(updates []update, bad []int64) error {
	r.offset = 0
	for _, u := range updates {
		r.offset = max(r.offset, u.ID+1)
	}
	for _, id := range bad {
		r.p.metrics.unread.Inc()
		r.p.log.Error("an update could not be read and is skipped", "update_id", id)
		if id > 0 {
			r.offset = max(r.offset, id+1)
		}
	}
	if len(bad) > 0 && r.offset == 0 {
		return errNoProgress
	}
	return nil
}

// failed reports the failure and waits before the next try; the duration of the failed call counts
// as waiting.
func (r *receiver) failed(ctx context.Context, err error, began time.Time) {
	pause := retry.Pause(r.tries)
	r.tries++
	var note, reason string
	api, _ := errors.AsType[*apiError](err)
	switch {
	case api != nil && api.Code == http.StatusConflict:
		note, reason = "another poller or a webhook is using this token", "conflict"
		if r.unhook(ctx, api) {
			return
		}
		pause = max(pause, conflictPause)
	case api != nil && api.Code == http.StatusTooManyRequests:
		note, reason, pause = "the server asks for a pause", "rate", max(api.RetryAfter, time.Second)
	case api != nil:
		note, reason = "the server answers with error "+strconv.Itoa(api.Code), "server"
	case errors.Is(err, errNoProgress):
		note, reason = errNoProgress.Error(), "server"
	default:
		note, reason = "the server cannot be reached", "network"
		pause = max(retry.FirstPause, pause-time.Since(began))
	}
	r.p.metrics.polls.WithLabelValues(reason).Inc()
	if r.status.Set(false, note) {
		r.p.log.Warn("messages cannot be received; it is tried again", "reason", reason, "error", err)
	}
	r.p.client.http.CloseIdleConnections()
	retry.Wait(ctx, pause)
}

// unhook deletes the webhook that prevents polling, once, and logs that.
func (r *receiver) unhook(ctx context.Context, conflict *apiError) bool {
	if r.unhooked || !says(conflict, "webhook") {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, pollGrace)
	defer cancel()
	info, err := call[models.WebhookInfo](ctx, r.p.client, "getWebhookInfo", struct{}{})
	if err != nil {
		return false
	}
	host := "unknown"
	if u, err := url.Parse(info.URL); err == nil && u.Host != "" {
		host = u.Host // the rest may contain a secret
	}
	if _, err := call[bool](ctx, r.p.client, "deleteWebhook", struct{}{}); err != nil {
		return false
	}
	r.unhooked = true
	r.p.log.Warn("a webhook was set for this token; it was deleted because this host polls", "webhook_host", host, "pending", info.PendingUpdateCount)
	return true
}
