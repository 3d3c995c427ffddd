package messages

import "strings"

// Skill is the name and description of a skill that a chat can load.
type Skill struct{ Name, Description string }

// SkillPin is a skill that a chat has loaded, at the digest that a person approved.
type SkillPin struct{ Name, Digest string }

// String is the form that chats store: the name, an @ and the digest.
func (p SkillPin) String() string { return p.Name + "@" + p.Digest }

// ParseSkillPin reads the stored form. A pin without a digest matches no version of the
// skill, so that none is used.
func ParseSkillPin(s string) SkillPin {
	name, digest, _ := strings.Cut(s, "@")
	return SkillPin{name, digest}
}

// SkillText is a loaded skill as the model reads it.
type SkillText struct {
	Text   string
	Folder string // where its files are, as tools name the folder
	// Tools are the only ones that may be called while it is loaded, or nil for all.
	Tools []string
}

// SkillOrder is a tool's order to load a skill into its chat, or to unload it if there is
// no digest. The zero value is not an order.
type SkillOrder struct {
	Name   string `json:"name,omitempty"`
	Digest string `json:"digest,omitempty"`
}
