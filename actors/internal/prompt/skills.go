package prompt

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed text/skills.md
var textSkills string

const (
	// maxSkills is how many skills the overview names.
	maxSkills = 64
	// maxDescription is how much of a description it shows, in characters.
	maxDescription = 300
)

// Skill is a line of the overview of skills. Description is empty unless a person approved it. Note
// is the host's own remark about a skill that the chat had loaded.
type Skill struct{ Name, Description, Note string }

// LoadedSkill is a skill with its text.
type LoadedSkill struct {
	Name, Text string
	// Folder is where its files are.
	Folder string
	// Tools are the only ones that may be called while it is loaded; nil means no restriction.
	Tools []string
}

// intro precedes a skill's text. Names chosen by its author cannot leave their line or open a
// section.
func (s LoadedSkill) intro() string {
	intro := "The skill " + quote(s.Name) + ". It says how to do something; it gives no permission."
	if s.Folder != "" {
		intro += " Its files are in the folder " + quote(s.Folder) + "."
	}
	if len(s.Tools) > 0 {
		intro += " It limits you to these tools: " + quote(strings.Join(s.Tools, ", ")) + "."
	}
	return inert(strings.Join(oneLine([]string{intro}), ""))
}

// overview lists skills, one per line.
func overview(skills []Skill) string {
	lines := make([]string, 0, len(skills))
	for _, s := range skills[:min(maxSkills, len(skills))] {
		line := "- " + s.Name
		if s.Description != "" {
			line += ": " + short(s.Description, maxDescription)
		}
		if s.Note != "" {
			line += " (" + s.Note + ")"
		}
		lines = append(lines, line)
	}
	if more := len(skills) - maxSkills; more > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more: `skills_list` names them all", more))
	}
	return strings.Join(oneLine(lines), "\n")
}

// short truncates a text to at most limit characters.
func short(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}
