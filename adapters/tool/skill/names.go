package skill

import (
	"slices"
	"strings"
)

// claudeNames maps names that skills written for other agents use to tools of ours.
func claudeNames() map[string][]string {
	shell := []string{"exec_shell", "shell_read", "shell_status", "shell_stop", "shell_write"}
	return map[string][]string{
		"bash": shell, "shell": shell, "bashoutput": {"shell_read", "shell_status"}, "killshell": {"shell_stop"}, "killbash": {"shell_stop"},
		"read": {"read_file"}, "write": {"write_file"}, "edit": {"edit_file"}, "multiedit": {"edit_file"},
		"grep": {"search_files"}, "glob": {"list_files"}, "ls": {"list_files"}, "webfetch": {"web_fetch"}, "skill": {"skills_load"},
	}
}

// ownTools maps the names of a skill's allowed-tools to ours, sorted. Restrictions in parentheses after a name are
// ignored; the tool's own approvals apply instead. unknown are the names without a meaning here; if all names are
// unknown, the list restricts nothing, since it was not written for this host.
func ownTools(names []string) (tools, unknown []string) {
	known := claudeNames()
	for _, full := range names {
		name, _, _ := strings.Cut(full, "(")
		switch ours := known[strings.ToLower(name)]; {
		case name == "*":
			return nil, nil
		case ours != nil:
			tools = append(tools, ours...)
		case strings.HasPrefix(name, "mcp__"):
			server, tool, ok := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
			if !ok || server == "" || tool == "" {
				unknown = append(unknown, full)
				continue
			}
			tools = append(tools, server+":"+tool)
		case strings.ToLower(name) == name && strings.ContainsAny(name, "_:"):
			tools = append(tools, name)
		default:
			unknown = append(unknown, full)
		}
	}
	slices.Sort(tools)
	return slices.Compact(tools), unknown
}
