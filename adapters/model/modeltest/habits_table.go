package modeltest

import (
	"fmt"
	"slices"
	"strings"
)

func (h habit) outcome() string {
	switch {
	case h.fails.reason == "" && h.heard == nil:
		return "read"
	case h.fails.reason == "":
		finish := h.heard[len(h.heard)-1]
		if finish == "finish stop" || finish == "finish tool-calls" {
			return "read"
		}
		return "read, " + finish
	case h.again():
		return string(h.fails.reason) + ", asked again"
	case h.fails.wait > 0:
		return string(h.fails.reason) + ", asked again later"
	}
	return string(h.fails.reason)
}

// HabitTable describes in Markdown what becomes of answers with the habits that [Suite] plays: first
// those that all protocols can have, then the others.
func HabitTable(names []string, services []Service) string {
	var outcomes []string
	common := map[string][]string{}
	var rows strings.Builder
	rows.WriteString("| habit | outcome | " + strings.Join(names, " | ") + " |\n|---|---|" + strings.Repeat("---|", len(names)) + "\n")
	for _, h := range allHabits() {
		if !slices.ContainsFunc(services, func(s Service) bool { return !s.canHave(h) }) {
			if !slices.Contains(outcomes, h.outcome()) {
				outcomes = append(outcomes, h.outcome())
			}
			common[h.outcome()] = append(common[h.outcome()], h.name)
			continue
		}
		fmt.Fprintf(&rows, "| %s | %s |", h.name, h.outcome())
		for _, s := range services {
			rows.WriteString(map[bool]string{true: " yes |", false: " |"}[s.canHave(h)])
		}
		rows.WriteByte('\n')
	}
	var text strings.Builder
	for _, outcome := range outcomes {
		text.WriteString(wrapped("- **" + outcome + ":** " + strings.Join(common[outcome], "; ")))
	}
	return text.String() + "\n" + rows.String()
}

// wrapped breaks an item of a list into lines that fit a screen.
func wrapped(text string) string {
	const width = 118
	var out, line strings.Builder
	for word := range strings.FieldsSeq(text) {
		if line.Len() > 0 && line.Len()+1+len(word) > width {
			out.WriteString(line.String() + "\n")
			line.Reset()
			line.WriteByte(' ')
		}
		if line.Len() > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(word)
	}
	return out.String() + line.String() + "\n"
}
