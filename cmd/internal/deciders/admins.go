package deciders

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// adminsHold is how long a list of administrators is valid, and adminsFresh how long it is used without asking
	// the platform again.
	adminsHold  = time.Minute
	adminsFresh = adminsHold / 2
	// adminsAgain is the pause after a failed request to a platform, and adminsWait how long a message waits for the
	// list.
	adminsAgain = 5 * time.Second
	adminsWait  = 3 * time.Second
	// maxAdminChats bounds the number of groups that are cached.
	maxAdminChats = 4096
	// longestSay is the length of the longest text that can be a decision, in characters.
	longestSay = 300
)

var errAdmins = errors.New("the platform does not say who administers the group")

// Admins caches who administers groups, for less than a minute. While the list of a group is unknown it has no
// administrators. It is safe for concurrent use.
type Admins struct {
	platform func(name string) platform.Administered // nil if the platform does not know administrators
	log      *slog.Logger

	life    context.Context //nolint:containedctx // the life of the questions in progress
	end     context.CancelFunc
	working sync.WaitGroup

	Groups

	closed bool
}

func newAdmins(log *slog.Logger, of func(name string) platform.Administered) *Admins {
	a := &Admins{platform: of, log: log, Groups: Groups{Known: map[groupName]*groupAdmins{}}}
	a.life, a.end = context.WithCancel(context.Background())
	return a
}

// Close cancels questions about administrators in progress; later ones do not start.
func (d *Deciders) Close(context.Context) error {
	d.admins.close()
	return nil
}

func (a *Admins) close() {
	a.Lock()
	a.closed = true
	a.Unlock()
	a.end()
	a.working.Wait()
}

// Groups are the cached lists. Whoever reads or changes them holds the lock.
type Groups struct {
	sync.Mutex

	Known map[groupName]*groupAdmins
}

// groupName is a group: the name of its platform and its id there.
type groupName struct{ platform, chat string }

// groupAdmins is the cached list of one group.
type groupAdmins struct {
	ids    []string
	said   time.Time     // when the list was fetched; zero if never
	failed time.Time     // when the last request failed
	asking chan struct{} // closed when the request in progress ends; nil if none is
}

// groupOf returns the group of a chat key, without its topic.
func groupOf(key messages.ChatKey) groupName {
	a, _ := key.Address()
	return groupName{query.BotOf(key), a.Chat}
}

// has reports whether a person administers the group of a chat. It does not block; an outdated list is refreshed in
// the background.
func (a *Admins) has(key messages.ChatKey, person string) bool {
	return slices.Contains(a.list(key), person)
}

// list returns the ids of the group's administrators, or nil if they are unknown.
func (a *Admins) list(key messages.ChatKey) []string {
	if a == nil {
		return nil
	}
	a.Lock()
	defer a.Unlock()
	g := a.current(key)
	if time.Since(g.said) >= adminsHold {
		return nil
	}
	return g.ids
}

// current returns the cached list of a group, and refreshes it in the background if it is or soon will be outdated.
// The caller holds the lock.
func (a *Admins) current(key messages.ChatKey) *groupAdmins {
	g := a.Known[groupOf(key)]
	if g == nil {
		a.forget()
		g = &groupAdmins{}
		a.Known[groupOf(key)] = g
	}
	if time.Since(g.said) >= adminsFresh && g.asking == nil && time.Since(g.failed) >= adminsAgain {
		a.ask(groupOf(key), g)
	}
	return g
}

// Unknown reports whether the administrators of the chat's group are unknown.
func (a *Admins) Unknown(key messages.ChatKey) bool {
	if a == nil {
		return false
	}
	a.Lock()
	defer a.Unlock()
	g := a.Known[groupOf(key)]
	return g == nil || time.Since(g.said) >= adminsHold
}

// learn fetches the administrators of the chat's group unless they are known, and waits for them. It returns
// errAdmins if they are still unknown afterwards.
func (a *Admins) learn(ctx context.Context, key messages.ChatKey) error {
	if a == nil {
		return nil // they may not decide
	}
	a.Lock()
	g := a.current(key)
	fresh, asking := time.Since(g.said) < adminsFresh, g.asking
	a.Unlock()
	if fresh {
		return nil
	}
	if asking != nil {
		select {
		case <-asking:
		case <-time.After(adminsWait):
		case <-ctx.Done():
		}
	}
	if a.Unknown(key) {
		return errAdmins
	}
	return nil
}

// ask fetches a list in the background. The caller holds the lock.
func (a *Admins) ask(name groupName, g *groupAdmins) {
	if a.closed {
		return
	}
	done := make(chan struct{})
	g.asking = done
	a.working.Go(func() {
		ids, err := a.question(a.life, name)
		a.Lock()
		defer a.Unlock()
		defer close(done)
		g.asking = nil
		if err != nil {
			g.failed = time.Now()
			a.log.Warn("the administrators of a group are unknown, so nobody can decide there as an administrator", "platform", name.platform, "chat", name.chat, "error", err)
			return
		}
		g.said, g.failed, g.ids = time.Now(), time.Time{}, ids
	})
}

func (a *Admins) question(ctx context.Context, name groupName) (ids []string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: it panicked: %v", errAdmins, v)
		}
	}()
	from := a.platform(name.platform)
	if from == nil {
		return nil, errAdmins
	}
	ctx, cancel := context.WithTimeout(ctx, 2*adminsWait)
	defer cancel()
	list, err := from.Admins(ctx, name.chat)
	return slices.DeleteFunc(slices.Sorted(slices.Values(list)), func(id string) bool { return id == "" }), err
}

// forget makes room for one more group. The caller holds the lock.
func (a *Admins) forget() {
	if len(a.Known) < maxAdminChats {
		return
	}
	maps.DeleteFunc(a.Known, func(_ groupName, g *groupAdmins) bool { return g.asking == nil && time.Since(g.said) >= adminsHold })
	for name, g := range a.Known {
		if len(a.Known) < maxAdminChats {
			return
		}
		if g.asking == nil {
			delete(a.Known, name)
		}
	}
}

// informed is the [platform.Live] that a platform receives: while group administrators may decide, it fetches the
// administrators of a group before it passes messages on.
type informed struct {
	platform.Live

	deciders *Deciders
}

// Informed wraps what a platform receives, so that deciders and administrators are known in time.
func (d *Deciders) Informed(live platform.Live) platform.Live {
	if d.Access() != nil {
		live = acquainted{live, d}
	}
	return informed{live, d}
}

func (l informed) Accept(ctx context.Context, in []platform.Inbound) []platform.Result {
	var wait sync.WaitGroup
	asked, admins := map[groupName]bool{}, l.deciders.Admins()
	for i := range in {
		if name := groupOf(in[i].ChatKey); admins != nil && mayDecideBy(&in[i]) && !asked[name] && len(asked) < maxAsked {
			asked[name] = true
			key := in[i].ChatKey
			wait.Go(func() { _ = admins.learn(ctx, key) }) // on an error the group has no administrators
		}
	}
	wait.Wait()
	return l.Live.Accept(ctx, in)
}

// maxAsked bounds how many groups one batch of messages asks about; in the others administrators are unknown, and
// people have to repeat their decision.
const maxAsked = 32

// mayDecideBy reports whether a message could be a decision.
func mayDecideBy(in *platform.Inbound) bool {
	return messages.IsGroup(in.Chat.Type, in.Chat.ID) && in.Gate.Open && !in.Sender.IsBot && !in.Forwarded && in.EditOf == "" && utf8.RuneCountInString(in.Text) <= longestSay
}

// Decide implements [platform.Live]. If decisions are refused while the administrators are unknown, it returns
// [platform.ErrUnavailable], so that people may try again.
func (l informed) Decide(ctx context.Context, key messages.ChatKey, by platform.Person, say []messages.Decision) ([]messages.DecisionOutcome, error) {
	err := l.deciders.Admins().learn(ctx, key)
	out, failed := l.Live.Decide(ctx, key, by, say)
	if failed != nil || err == nil {
		return out, failed
	}
	for _, o := range out {
		if o.Is != messages.DecisionForbidden {
			return out, nil
		}
	}
	return nil, errors.Join(platform.ErrUnavailable, err)
}
