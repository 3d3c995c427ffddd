package access

import (
	"context"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// Settle carries out an operator's choice, to let in or to block, about somebody who asks for
// access, a person who has it, or somebody who is blocked. ok is false if there is nothing to
// change; owners are not blocked.
func (s *Store) Settle(ctx context.Context, bot, id string, choice platform.Choice) (who Person, ok bool, err error) {
	if code, _ := s.pending(bot, id); code != "" {
		return s.Decide(ctx, bot, code, choice, false)
	}
	err = s.change(ctx, bot, func(a *Account) error {
		is := func(p Person) bool { return p.ID == id }
		blocked, known := slices.IndexFunc(a.Blocked, is), slices.IndexFunc(a.People, is)
		switch {
		case choice == platform.LetIn && blocked >= 0:
			who = a.Blocked[blocked]
			a.Blocked = slices.Delete(a.Blocked, blocked, blocked+1)
			who.At = s.now().UTC()
			if who.Group {
				a.Groups = append(a.Groups, Group{ID: id, Title: who.Name, At: who.At})
			} else {
				a.People = append(a.People, who)
			}
		case choice == platform.Block && known >= 0:
			who = a.People[known]
			a.People = slices.Delete(a.People, known, known+1)
			a.Private = slices.DeleteFunc(a.Private, func(p PrivateChat) bool { return p.Person == id })
			who.At = s.now().UTC()
			a.Blocked = append(a.Blocked, who)
		default:
			return errSame
		}
		ok = true
		return nil
	})
	return who, ok && err == nil, err
}
