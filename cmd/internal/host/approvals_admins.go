package host

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
	// adminsHold is how long what a platform said about its administrators counts, and
	// adminsFresh how long it is not asked again.
	adminsHold  = time.Minute
	adminsFresh = adminsHold / 2
	// adminsAgain is the pause after a platform did not answer, and adminsWait how long
	// a message waits for an answer.
	adminsAgain = 5 * time.Second
	adminsWait  = 3 * time.Second
	// maxAdminChats is how many groups are known at a time.
	maxAdminChats = 4096
	// longestSay is the longest text that could decide anything, in characters.
	longestSay = 300
)

var errAdmins = errors.New("the platform does not say who administers the group")

// admins knows who administers groups, as their platforms said less than a minute ago.
// What nobody said allows nothing. It is safe for concurrent use.
type admins struct {
	platform func(name string) platform.Administered // nil: it knows no administrators
	log      *slog.Logger

	life    context.Context //nolint:containedctx // of the questions under way
	end     context.CancelFunc
	working sync.WaitGroup

	mu     sync.Mutex
	closed bool
	chats  map[groupName]*groupAdmins
}

func newAdmins(log *slog.Logger, of func(name string) platform.Administered) *admins {
	a := &admins{platform: of, log: log, chats: map[groupName]*groupAdmins{}}
	a.life, a.end = context.WithCancel(context.Background())
	return a
}

// close ends the questions under way; no other one begins.
func (a *admins) close(context.Context) error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.end()
	a.working.Wait()
	return nil
}

// groupName is a group: the name of its platform and its id there.
type groupName struct{ platform, chat string }

// groupAdmins is what is known of one group.
type groupAdmins struct {
	ids    map[string]bool
	said   time.Time     // when the platform said so; zero: never
	failed time.Time     // when it was asked in vain
	asking chan struct{} // closed when the question under way has its answer; nil: none is
}

// groupOf is the group of a chat key, whatever its topic.
func groupOf(key messages.ChatKey) groupName {
	a, _ := key.Address()
	return groupName{query.BotOf(key), a.Chat}
}

// has reports whether a person administers the group of a chat. It waits for nothing;
// what is too old is asked for meanwhile.
func (a *admins) has(key messages.ChatKey, person string) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.current(key)
	return time.Since(g.said) < adminsHold && g.ids[person]
}

// list are the ids of those who administer the group of a chat, as far as that is known.
func (a *admins) list(key messages.ChatKey) []string {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.current(key)
	if time.Since(g.said) >= adminsHold {
		return nil
	}
	return slices.Sorted(maps.Keys(g.ids))
}

// current is what is known of a group. What is too old, or soon will be, is asked for
// meanwhile. The lock is held.
func (a *admins) current(key messages.ChatKey) *groupAdmins {
	g := a.chats[groupOf(key)]
	if g == nil {
		a.forget()
		g = &groupAdmins{}
		a.chats[groupOf(key)] = g
	}
	if time.Since(g.said) >= adminsFresh && g.asking == nil && time.Since(g.failed) >= adminsAgain {
		a.ask(groupOf(key), g)
	}
	return g
}

// unknown reports that nobody knows who administers the group of a chat.
func (a *admins) unknown(key messages.ChatKey) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.chats[groupOf(key)]
	return g == nil || time.Since(g.said) >= adminsHold
}

// learn asks who administers the group of a chat, unless that is known, and waits for
// the answer. An error says that nobody knows.
func (a *admins) learn(ctx context.Context, key messages.ChatKey) error {
	name := groupOf(key)
	a.mu.Lock()
	g := a.chats[name]
	if g == nil {
		a.forget()
		g = &groupAdmins{}
		a.chats[name] = g
	}
	if time.Since(g.said) < adminsFresh {
		a.mu.Unlock()
		return nil
	}
	if g.asking == nil && time.Since(g.failed) >= adminsAgain {
		a.ask(name, g)
	}
	asking := g.asking
	a.mu.Unlock()
	if asking != nil {
		wait := time.NewTimer(adminsWait)
		defer wait.Stop()
		select {
		case <-asking:
		case <-wait.C:
		case <-ctx.Done():
		}
	}
	if a.unknown(key) {
		return errAdmins
	}
	return nil
}

// ask has the platform asked in the background. The lock is held.
func (a *admins) ask(name groupName, g *groupAdmins) {
	if a.closed {
		return
	}
	done := make(chan struct{})
	g.asking = done
	a.working.Go(func() {
		ids, err := a.question(a.life, name)
		a.mu.Lock()
		defer a.mu.Unlock()
		defer close(done)
		g.asking = nil
		if err != nil {
			g.failed = time.Now()
			a.log.Warn("who administers a group is not known, so nobody decides there as its administrator", "platform", name.platform, "chat", name.chat, "error", err)
			return
		}
		g.said, g.failed, g.ids = time.Now(), time.Time{}, ids
	})
}

func (a *admins) question(ctx context.Context, name groupName) (ids map[string]bool, err error) {
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
	if err != nil {
		return nil, err
	}
	ids = make(map[string]bool, len(list))
	for _, id := range list {
		ids[id] = id != ""
	}
	return ids, nil
}

// forget makes room for one more group. The lock is held.
func (a *admins) forget() {
	if len(a.chats) < maxAdminChats {
		return
	}
	maps.DeleteFunc(a.chats, func(_ groupName, g *groupAdmins) bool { return g.asking == nil && time.Since(g.said) >= adminsHold })
	for name, g := range a.chats {
		if len(a.chats) < maxAdminChats {
			return
		}
		if g.asking == nil {
			delete(a.chats, name)
		}
	}
}

// informed is what the core offers a platform, once the administrators of the groups
// are known from which people may decide.
type informed struct {
	platform.Live

	admins *admins
}

// informed wraps what a platform is given, if administrators decide here.
func (h *Host) informed(live platform.Live) platform.Live {
	if h.access != nil {
		live = acquainted{live, h}
	}
	if h.admins == nil {
		return live
	}
	return informed{live, h.admins}
}

// Accept implements [platform.Host].
func (l informed) Accept(ctx context.Context, in []platform.Inbound) []platform.Result {
	var wait sync.WaitGroup
	asked := map[groupName]bool{}
	for i := range in {
		if name := groupOf(in[i].ChatKey); mayDecideBy(&in[i]) && !asked[name] && len(asked) < maxAsked {
			asked[name] = true
			key := in[i].ChatKey
			wait.Go(func() { _ = l.admins.learn(ctx, key) }) // without it nobody is an administrator
		}
	}
	wait.Wait()
	return l.Live.Accept(ctx, in)
}

// maxAsked is how many groups a batch of messages asks about at once; the others are
// unknown to it, and people say it again.
const maxAsked = 32

// mayDecideBy says whether a message could decide anything.
func mayDecideBy(in *platform.Inbound) bool {
	return messages.IsGroup(in.Chat.Type) && in.Gate.Open && !in.Sender.IsBot && !in.Forwarded && in.EditOf == "" && utf8.RuneCountInString(in.Text) <= longestSay
}

// Decide implements [platform.Live]. Who may not decide while nobody knows who
// administers the group may try again.
func (l informed) Decide(ctx context.Context, key messages.ChatKey, by platform.Person, say []messages.Decision) ([]messages.DecisionOutcome, error) {
	err := l.admins.learn(ctx, key)
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

// wireAdmins lets administrators of groups decide, if the settings say so.
func (h *Host) wireAdmins(approvers []string) {
	for _, who := range approvers {
		if who != approverAdmins {
			continue
		}
		h.admins = newAdmins(h.log.With("component", "approvals"), func(name string) platform.Administered {
			made := h.ports[name]
			if made == nil {
				return nil
			}
			knows, _ := made.platform.(platform.Administered) // others have no administrators
			return knows
		})
		h.cleanups.add("administrators", h.admins.close)
		return
	}
}
