package access

import (
	"context"
	"errors"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// OwnerCode makes the code that the first start prints: whoever sends it becomes
// the bot's owner. It replaces the one before. A bot that has an owner gets none:
// the code is empty.
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

// Redeem spends an owner's code and returns the bearer's role. A wrong, spent or
// expired code changes nothing. Who is paired already keeps their role, unless the
// code makes them more. ErrTooMany: this person has tried too many wrong ones.
func (s *Store) Redeem(ctx context.Context, bot, code string, by platform.Person) (string, error) {
	if s.exhausted(bot, by.ID) {
		return RoleStranger, ErrTooMany
	}
	role := RoleStranger
	err := s.change(ctx, bot, func(a *Account) error {
		role = a.role(by.ID)
		i := a.find(code, true, s.now())
		if i < 0 || by.ID == "" || a.Owner != nil {
			return errSame
		}
		a.Codes = slices.Delete(a.Codes, i, i+1)
		a.Owner, role = &Person{ID: by.ID, Name: by.Name, At: s.now().UTC()}, RoleOwner
		a.People = slices.DeleteFunc(a.People, func(p Person) bool { return p.ID == by.ID })
		return nil
	})
	if err != nil {
		return RoleStranger, err
	}
	if role == RoleStranger {
		s.missed(bot, by.ID)
	}
	return role, nil
}

func (s *Store) exhausted(bot, person string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.tries.exhausted(bot+" "+person, s.now())
}

func (s *Store) missed(bot, person string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries.note(bot+" "+person, s.now())
}

// Request gives a person a code that the owner can approve. While an earlier one
// holds it is that, and fresh is false.
func (s *Store) Request(ctx context.Context, bot string, by platform.Person) (code string, fresh bool, err error) {
	if by.ID == "" {
		return "", false, errors.New("access: a person without an id")
	}
	if code := s.pending(bot, by.ID); code != "" {
		return code, false, nil
	}
	err = s.change(ctx, bot, func(a *Account) error {
		if len(a.Codes) >= maxCodes {
			return ErrCrowded
		}
		code, fresh = newCode(), true
		a.Codes = append(a.Codes, Code{Code: code, Expires: s.now().Add(codeLife).UTC(), For: &Person{ID: by.ID, Name: by.Name}})
		return nil
	})
	if err != nil {
		return "", false, err
	}
	return code, fresh, nil
}

// pending is the code that a person has. It reads memory only, so that people
// who go on writing cost nothing.
func (s *Store) pending(bot, person string) string {
	code := ""
	s.view(bot, func(a *Account) {
		for _, c := range a.Codes {
			if c.For != nil && c.For.ID == person && s.now().Before(c.Expires) {
				code = c.Code
			}
		}
	})
	return code
}

// Approve lets the person in to whom Request gave a code.
func (s *Store) Approve(ctx context.Context, bot, code string) (who platform.Person, ok bool, err error) {
	err = s.change(ctx, bot, func(a *Account) error {
		i := a.find(code, false, s.now())
		if i < 0 {
			return errSame
		}
		asked := *a.Codes[i].For
		asked.At = s.now().UTC()
		who, ok = platform.Person{ID: asked.ID, Name: asked.Name}, true
		a.Codes = slices.Delete(a.Codes, i, i+1)
		if a.role(asked.ID) == RoleStranger {
			a.People = append(a.People, asked)
		}
		return nil
	})
	if err != nil {
		return platform.Person{}, false, err
	}
	return who, ok, nil
}

// Remove takes a person's access, also the owner's; false: they had none.
func (s *Store) Remove(ctx context.Context, bot, person string) (bool, error) {
	was := false
	err := s.change(ctx, bot, func(a *Account) error {
		if was = a.role(person) != RoleStranger; !was {
			return errSame
		}
		if a.Owner != nil && a.Owner.ID == person {
			a.Owner = nil
		}
		a.People = slices.DeleteFunc(a.People, func(p Person) bool { return p.ID == person })
		return nil
	})
	return was && err == nil, err
}

// AllowGroup lets a group in.
func (s *Store) AllowGroup(ctx context.Context, bot, group, title, by string) error {
	return s.change(ctx, bot, func(a *Account) error {
		if a.allows(group) {
			return errSame
		}
		a.Groups = append(a.Groups, Group{ID: group, Title: title, By: by, At: s.now().UTC()})
		return nil
	})
}

// Listen lets a group in, and keeps what the bot listens to there; empty: as the
// settings say.
func (s *Store) Listen(ctx context.Context, bot, group, title, by, listens string) error {
	return s.change(ctx, bot, func(a *Account) error {
		i := slices.IndexFunc(a.Groups, func(g Group) bool { return g.ID == group })
		switch {
		case i < 0:
			a.Groups = append(a.Groups, Group{ID: group, Title: title, By: by, At: s.now().UTC(), Listens: listens})
		case a.Groups[i].Listens == listens:
			return errSame
		default:
			a.Groups[i].Listens = listens
		}
		return nil
	})
}

// ForbidGroup takes a group's access; false: it had none.
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
