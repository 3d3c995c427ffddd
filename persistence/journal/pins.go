package journal

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
)

// MaxPinned is how many skills a chat has loaded at once; one more puts the oldest
// away.
const MaxPinned = 8

// pin obeys an order. A skill that is loaded again as it is keeps its place, so
// that the system text stays as it was.
func (s *State) pin(order messages.SkillOrder) {
	pin := messages.SkillPin(order)
	if order.Name == "" || slices.Contains(s.Pinned, pin.String()) {
		return
	}
	s.Pinned = slices.DeleteFunc(slices.Clone(s.Pinned), func(p string) bool { return messages.ParseSkillPin(p).Name == order.Name })
	if order.Digest != "" {
		s.Pinned = append(s.Pinned, pin.String())
	}
	s.Pinned = s.Pinned[max(0, len(s.Pinned)-MaxPinned):]
}

// Pins are the skills that the chat has loaded, in the order of loading.
func (s *State) Pins() []messages.SkillPin {
	out := make([]messages.SkillPin, len(s.Pinned))
	for i, p := range s.Pinned {
		out[i] = messages.ParseSkillPin(p)
	}
	return out
}
