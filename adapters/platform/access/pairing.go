package access

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

const (
	// maxFirst bounds a waiting message, in bytes, and maxName a name, in characters.
	maxFirst = 16 << 10
	maxName  = 100
	// maxGroups is how many requests of groups may be pending, so that there is room for people.
	maxGroups = 50
)

// OwnerCode creates the code that the first start prints: whoever sends it becomes the bot's owner.
// It replaces the previous one. If the bot has an owner, the code is empty.
func (s *Store) OwnerCode(ctx context.Context, bot string) (string, error) {
	code := ""
	err := s.change(ctx, bot, func(a *Account) error {
		if a.Owner != nil {
			return errSame
		}
		a.Codes = slices.DeleteFunc(a.Codes, func(c Code) bool { return c.For == nil })
		code = newCode()
		a.Codes = append(a.Codes, Code{Code: code, Expires: s.now().Add(codeLife).UTC()})
		return nil
	})
	if err != nil {
		return "", err
	}
	return code, nil
}

// Redeem spends an owner's code and returns the bearer's role. A wrong, spent or expired code
// changes nothing. People who are paired keep their role, unless the code raises it. ErrTooMany
// means that this person has tried too many wrong codes.
func (s *Store) Redeem(ctx context.Context, bot, code string, by platform.Person) (string, error) {
	if s.exhausted(bot, by.ID) {
		return platform.RoleStranger, ErrTooMany
	}
	role := platform.RoleStranger
	err := s.change(ctx, bot, func(a *Account) error {
		role = a.role(by.ID)
		i := a.find(code, true, s.now())
		if i < 0 || by.ID == "" || a.Owner != nil || role == platform.RoleBlocked {
			return errSame
		}
		a.Codes = slices.Delete(a.Codes, i, i+1)
		a.Owner, role = &Person{ID: by.ID, Name: by.Name, At: s.now().UTC(), Language: by.Language}, platform.RoleOwner
		a.People = slices.DeleteFunc(a.People, func(p Person) bool { return p.ID == by.ID })
		return nil
	})
	if err != nil {
		return platform.RoleStranger, err
	}
	if role == platform.RoleStranger || role == platform.RoleBlocked {
		s.missed(bot, by.ID)
	}
	return role, nil
}

// Request records an access request, with a code that the owner can approve and the message that
// waits for the decision. While an earlier request is pending, it returns that one and fresh is
// false: of several messages the first one waits. The code is empty for a group that the bot has
// left since.
func (s *Store) Request(ctx context.Context, bot string, w platform.AccessRequest) (code string, fresh bool, err error) {
	if w.Who.ID == "" {
		return "", false, errors.New("access: a person without an id")
	}
	if code, waits := s.pending(bot, w.Who.ID); code != "" {
		if waits || w.First == nil || len(w.First) > maxFirst {
			return code, false, nil
		}
		return code, false, s.change(ctx, bot, func(a *Account) error { // so far only a greeting was waiting
			if i := a.find(code, false, s.now()); i >= 0 {
				a.Codes[i].First = w.First
				return nil
			}
			return errSame
		})
	}
	err = s.change(ctx, bot, func(a *Account) error {
		owners := w.Adder != nil && a.Owner != nil && a.Owner.ID == w.Adder.ID && !w.Adder.IsBot
		switch {
		case w.Group && !w.At.IsZero() && a.leftAfter(w.Who.ID, w.At):
			return errSame
		case len(a.Codes) >= maxCodes, w.Group && !owners && a.groupsWaiting() >= maxGroups:
			return ErrCrowded
		}
		first := w.First
		if len(first) > maxFirst {
			first = nil // they are asked to send it again
		}
		code, fresh = newCode(), true
		a.Codes = append(a.Codes, Code{
			Code: code, Expires: s.now().Add(askLife).UTC(), First: first, Adder: visitor(w.Adder),
			For: &Person{ID: w.Who.ID, Name: cutName(w.Who.Name), Language: w.Who.Language, Chat: w.Chat, Group: w.Group},
		})
		return nil
	})
	if err != nil {
		return "", false, err
	}
	return code, fresh, nil
}

// visitor converts a person to the stored form. A bot, or a person without an id, gives nil.
func visitor(p *platform.Person) *Person {
	if p == nil || p.IsBot || p.ID == "" {
		return nil
	}
	return &Person{ID: p.ID, Name: cutName(p.Name)}
}

func (a *Account) groupsWaiting() (n int) {
	for _, c := range a.Codes {
		if c.For != nil && c.For.Group {
			n++
		}
	}
	return n
}

// cutName bounds the length of a name that somebody chose.
func cutName(name string) string {
	r := []rune(name)
	return string(r[:min(len(r), maxName)])
}

// pending returns the code of a person's pending request, and whether a message of theirs waits. It
// reads only memory, so that further messages are cheap.
func (s *Store) pending(bot, person string) (code string, waits bool) {
	s.view(bot, func(a *Account) {
		for _, c := range a.Codes {
			if c.For != nil && c.For.ID == person && s.now().Before(c.Expires) {
				code, waits = c.Code, len(c.First) > 0
			}
		}
	})
	return code, waits
}

// Approve gives access to the person for whom Request returned the code.
func (s *Store) Approve(ctx context.Context, bot, code string) (who platform.Person, ok bool, err error) {
	found, ok, err := s.Decide(ctx, bot, code, platform.LetIn, false)
	return platform.Person{ID: found.ID, Name: found.Name}, ok, err
}

// Decide carries out the owner's choice on a request; ok is false if it is no longer pending.
// pressed means that the caller itself replaces the button by the outcome.
func (s *Store) Decide(ctx context.Context, bot, code string, choice platform.Choice, pressed bool) (who Person, ok bool, err error) {
	err = s.change(ctx, bot, func(a *Account) error {
		i := a.find(code, false, s.now())
		if i < 0 {
			return errSame
		}
		c := a.Codes[i]
		who, ok = *c.For, true
		who.At = s.now().UTC()
		if pressed {
			a.Codes = slices.Delete(a.Codes, i, i+1)
		} else {
			a.end(i, choice, who.At)
		}
		switch {
		case choice == platform.Block:
			if a.role(who.ID) == platform.RoleStranger {
				a.Blocked = append(a.Blocked, who)
			}
			return nil
		case choice == platform.LetOnce:
		case who.Group && !a.allows(who.ID):
			a.Groups = append(a.Groups, Group{ID: who.ID, Title: who.Name, At: who.At})
		case !who.Group && a.role(who.ID) == platform.RoleStranger:
			a.People = append(a.People, who)
		}
		a.Arrivals = append(a.Arrivals, Arrival{Code: c.Code, Who: who, Once: choice == platform.LetOnce, First: c.First})
		return nil
	})
	if err != nil {
		return Person{}, false, err
	}
	return who, ok, nil
}

// AccessState returns the owner, the pending requests, and the people who were just given access. It is asked for
// every message, so its cost does not depend on how many people have access.
func (s *Store) AccessState(bot string) (out platform.AccessState) {
	s.view(bot, func(a *Account) { out = a.state(s.now()) })
	return out
}

// state returns a copy, without expired codes.
func (a *Account) state(now time.Time) platform.AccessState {
	out := platform.AccessState{Arrivals: slices.Clone(a.Arrivals), Ended: slices.Clone(a.Ended)}
	if a.Owner != nil {
		owner := *a.Owner
		out.Owner = &owner
	}
	for _, c := range a.Codes {
		if now.Before(c.Expires) {
			out.Codes = append(out.Codes, c)
		}
	}
	return out
}

// Waits returns who made the pending request with a code.
func (s *Store) Waits(bot, code string) (who Person, ok bool) {
	s.view(bot, func(a *Account) {
		if i := a.find(code, false, s.now()); i >= 0 {
			who, ok = *a.Codes[i].For, true
		}
	})
	return who, ok
}

// Shown records that the owner was asked about a request.
func (s *Store) Shown(ctx context.Context, bot, code string) error {
	return s.change(ctx, bot, func(a *Account) error {
		i := a.find(code, false, s.now())
		if i < 0 {
			return errSame
		}
		a.Codes[i].Shown = s.now().UTC()
		return nil
	})
}

// Arrived removes an arrival once the person was notified of their access.
func (s *Store) Arrived(ctx context.Context, bot, code string) error {
	return s.change(ctx, bot, func(a *Account) error {
		before := len(a.Arrivals)
		a.Arrivals = slices.DeleteFunc(a.Arrivals, func(x Arrival) bool { return x.Code == code })
		if len(a.Arrivals) == before {
			return errSame
		}
		return nil
	})
}

// Meet records the id of the owner's private chat.
func (s *Store) Meet(ctx context.Context, bot, chat string) error {
	return s.change(ctx, bot, func(a *Account) error {
		if a.Owner == nil || a.Owner.Chat == chat {
			return errSame
		}
		a.Owner.Chat = chat
		return nil
	})
}

// Remove revokes a person's access, also the owner's, and lifts a block. It returns false if there
// was neither.
func (s *Store) Remove(ctx context.Context, bot, person string) (bool, error) {
	was := false
	err := s.change(ctx, bot, func(a *Account) error {
		if was = a.role(person) != platform.RoleStranger; !was {
			return errSame
		}
		if a.Owner != nil && a.Owner.ID == person {
			a.Owner = nil
		}
		a.People = slices.DeleteFunc(a.People, func(p Person) bool { return p.ID == person })
		a.Private = slices.DeleteFunc(a.Private, func(p PrivateChat) bool { return p.Person == person })
		a.Blocked = slices.DeleteFunc(a.Blocked, func(p Person) bool { return p.ID == person })
		return nil
	})
	return was && err == nil, err
}

// AllowGroup gives a group access.
func (s *Store) AllowGroup(ctx context.Context, bot, group, title, by string) error {
	return s.change(ctx, bot, func(a *Account) error {
		if a.allows(group) {
			return errSame
		}
		a.allow(Group{ID: group, Title: title, By: by, At: s.now().UTC()})
		return nil
	})
}

// allow gives a group access, which ends its request and lifts a block.
func (a *Account) allow(g Group) {
	a.Groups = append(a.Groups, g)
	if i := a.waiting(g.ID); i >= 0 {
		a.end(i, platform.LetIn, g.At)
	}
	a.Blocked = slices.DeleteFunc(a.Blocked, func(p Person) bool { return p.ID == g.ID })
}

// Listen gives a group access, and records what the bot listens to there. If listens is empty, the
// settings decide.
func (s *Store) Listen(ctx context.Context, bot, group, title, by, listens string) error {
	return s.change(ctx, bot, func(a *Account) error {
		i := slices.IndexFunc(a.Groups, func(g Group) bool { return g.ID == group })
		switch {
		case i < 0:
			a.allow(Group{ID: group, Title: title, By: by, At: s.now().UTC(), Listens: listens})
		case a.Groups[i].Listens == listens:
			return errSame
		default:
			a.Groups[i].Listens = listens
		}
		return nil
	})
}

// ForbidGroup revokes a group's access; it returns false if it had none.
func (s *Store) ForbidGroup(ctx context.Context, bot, group string) (bool, error) {
	was := false
	err := s.change(ctx, bot, func(a *Account) error {
		if was = a.allows(group); !was {
			return errSame
		}
		a.Groups = slices.DeleteFunc(a.Groups, func(g Group) bool { return g.ID == group })
		return nil
	})
	return was && err == nil, err
}
