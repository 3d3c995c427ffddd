package messages

import "strings"

// Skill is a line of the skills that a chat can load.
type Skill struct{ Name, Description string }

// SkillPin is a skill that a chat has loaded, at the digest that a person agreed to.
type SkillPin struct{ Name, Digest string }

// String is the form that chats store: the name, an @ and the digest.
func (p SkillPin) String() string { return p.Name + "@" + p.Digest }

// ParseSkillPin reads the stored form. What has no digest is a skill that no bytes
// are known of, so that none are used.
func ParseSkillPin(s string) SkillPin {
	name, digest, _ := strings.Cut(s, "@")
	return SkillPin{name, digest}
}

// SkillText is a loaded skill as the model reads it.
type SkillText struct {
	Text   string
	Folder string // where its files are, as tools name it
	// Tools are the only ones that may be called while it is loaded; nil: all.
	Tools []string
}

// SkillOrder is an order of a tool to load a skill into its chat, or to put it away
// if it names no digest. The zero value is none.
type SkillOrder struct {
	Name   string `json:"name,omitempty"`
	Digest string `json:"digest,omitempty"`
}
