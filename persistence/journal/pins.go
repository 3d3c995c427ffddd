package journal

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
)

// MaxPinned is how many skills a chat can have loaded at once. Loading another one unloads the oldest.
const MaxPinned = 8

// pin carries out an order to load or unload a skill. Loading an unchanged skill again has no effect, so that the
// system text does not change.
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

// Pins returns the loaded skills in the order of loading.
func (s *State) Pins() []messages.SkillPin {
	out := make([]messages.SkillPin, len(s.Pinned))
	for i, p := range s.Pinned {
		out[i] = messages.ParseSkillPin(p)
	}
	return out
}
