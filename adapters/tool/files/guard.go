package files

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/steering"
	"github.com/shipmyagent/shipmyagent/messages/secretfile"
)

// ward describes the special treatment of a path.
type ward struct {
	noRead, noWrite string // the reason, or empty if it is allowed
	// behaviour says what the file is to the agent, as named in the texts of requests: agent, skill, task, profile or
	// memory. It is empty for other files.
	behaviour string
	// steers is set for files that control other programs, see package steering.
	steers bool
}

// refused is the error about a path for one of the reasons, or nil without a reason.
func refused(path, why string) error {
	if why == "" {
		return nil
	}
	return fmt.Errorf("%w: %s is not for tools: %s", ErrRefused, shown(path), why)
}

// The reasons of refusals.
const (
	whySecret   = "it may hold keys or passwords"
	whyState    = "it belongs to the host"
	whySettings = "it may hold keys, and decides what tools may do; a person sees the settings with `sma config show`"
	whyChange   = "it decides what tools may do; a person changes it in an editor, and `sma config check` finds mistakes"
	whyTasks    = "tasks belong to their chats; the task tools list them"
)

// guard knows the special paths. Names are compared without regard to case, Unicode normal form and invisible
// characters, as some file systems do.
type guard struct {
	refused, skills [][]string
}

func newGuard(refused, skills []string) guard {
	normalize := func(paths []string) [][]string {
		var out [][]string
		for _, p := range paths {
			if parts := components(p); len(parts) > 0 {
				out = append(out, parts)
			}
		}
		return out
	}
	return guard{refused: normalize(refused), skills: append(normalize(skills), []string{".claude", "skills"})}
}

// of returns the treatment of a path without links.
func (g guard) of(path string) ward {
	parts := components(path)
	closed := func(why string) ward { return ward{noRead: why, noWrite: why} }
	switch {
	case slices.ContainsFunc(parts, secretName):
		return closed(whySecret)
	case slices.ContainsFunc(parts, secretfile.Aside):
		return closed(whyState)
	}
	for _, r := range g.refused {
		if within(parts, r) {
			return closed(whyState)
		}
	}
	if i := slices.Index(parts, ".ship"); i >= 0 {
		return ofState(parts[i+1:])
	}
	switch {
	case slices.ContainsFunc(parts, secretfile.Own): // the settings and copies of them
		return ward{noRead: whySettings, noWrite: whyChange}
	case len(parts) == 1 && parts[0] == "agent.md":
		return ward{behaviour: "agent"}
	}
	for _, s := range g.skills {
		if within(parts, s) {
			return ward{behaviour: "skill"}
		}
	}
	if slices.ContainsFunc(parts, steering.Named) {
		return ward{steers: true}
	}
	return ward{}
}

// ofState is for paths in the state folder: files that define the agent may be read, and changed with approval; those
// of chats and of the host may not.
func ofState(parts []string) ward {
	first, second := "", ""
	if len(parts) > 0 {
		first = parts[0]
	}
	if len(parts) > 1 {
		second = parts[1]
	}
	switch {
	case first == "skills":
		return ward{behaviour: "skill"}
	case first == "tasks" && second != "":
		return ward{noRead: whyTasks, behaviour: "task"}
	case first == "profile":
		return ward{behaviour: "profile"}
	case first == "memory" && second == "project.md" && len(parts) == 2:
		return ward{behaviour: "memory"}
	default:
		return ward{noRead: whyState, noWrite: whyState}
	}
}

// within reports whether a path is a folder or below it.
func within(parts, folder []string) bool {
	return len(parts) >= len(folder) && slices.Equal(parts[:len(folder)], folder)
}

// secretName reports whether a part of a path is named like a file with keys or passwords. This includes version
// control folders, whose settings and packs may contain both.
func secretName(part string) bool { return secretfile.Possible(part) || secretfile.Store(part) }

// components are the parts of a path, normalized like in the most lenient file system.
func components(path string) []string {
	parts := split(strings.ReplaceAll(path, "\\", "/"))
	for i, part := range parts {
		parts[i] = secretfile.Normalize(part)
	}
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}
