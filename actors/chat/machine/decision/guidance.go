package decision

import "strings"

// MemorySection returns the section of Agent.md whose heading mentions memory.
func MemorySection(agent string) string {
	var out []string
	level := 0
	for line := range strings.Lines(agent) {
		if n := headingLevel(line); n > 0 {
			switch title := strings.ToLower(line); {
			case level > 0 && n <= level:
				return strings.TrimSpace(strings.Join(out, ""))
			case level == 0 && (strings.Contains(title, "memory") || strings.Contains(title, "记忆")):
				level = n
				continue
			}
		}
		if level > 0 {
			out = append(out, line)
		}
	}
	return strings.TrimSpace(strings.Join(out, ""))
}

func headingLevel(line string) int {
	n := 0
	for n < len(line) && line[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n == len(line) || line[n] != ' ' {
		return 0
	}
	return n
}
