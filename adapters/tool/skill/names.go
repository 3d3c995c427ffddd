package skill

import (
	"slices"
	"strings"
)

// claudeNames are the tools that stand for names which skills of others use. A name
// without one here, and that is none of ours, means nothing.
func claudeNames() map[string][]string {
	shell := []string{"exec_shell", "shell_read", "shell_status", "shell_stop", "shell_write"}
	return map[string][]string{
		"bash": shell, "shell": shell, "bashoutput": {"shell_read", "shell_status"}, "killshell": {"shell_stop"}, "killbash": {"shell_stop"},
		"read": {"read_file"}, "write": {"write_file"}, "edit": {"edit_file"}, "multiedit": {"edit_file"},
		"grep": {"search_files"}, "glob": {"list_files"}, "ls": {"list_files"}, "webfetch": {"web_fetch"}, "skill": {"skills_load"},
	}
}

// ownTools maps the names of a skill's allowed-tools to ours, sorted. What follows a
// name in brackets says more than we can hold a tool to, and is left to the tool's
// own approvals. unknown are the names that mean nothing; if no other is there, the
// list does not limit anything, since it was not written for us.
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
