package grant

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/programs"
)

//go:embed policy.json
var shipped []byte

// Styles of options besides the usual one: --name=V, --name V, -xV, -x V, clusters of letters.
const (
	styleGo   = "go"   // -name=V or -name V with one dash or two, no clusters
	styleFind = "find" // listed words only, the value is the next word
)

// lists are the contents of policy.json.
type lists struct {
	// Runners are programs that run other programs or code. An open rule for one of them covers nothing.
	Runners []string
	// MultiCommandTools need a subcommand in the rule before its open end covers anything.
	MultiCommandTools []string `json:"multi_command_tools"`
	// RunnerSubcommands are subcommands that run or change something, each as two words: the tool and the subcommand.
	RunnerSubcommands []string `json:"runner_subcommands"`
	// ProtectedNames are names of files and folders that operands must not contain.
	ProtectedNames []string `json:"protected_names"`
	// SafeOptions are allowed in addition to what a rule spells out. The key is a program, or a program and its
	// subcommand.
	SafeOptions map[string]options `json:"safe_options"`
}

// options are the harmless options of one program.
type options struct {
	Flags   []string // options without a value
	Values  []string // options with one
	Style   string   // how options are written
	Numeric bool     // numbers such as -20 are options too
}

// Policy is a set of lists prepared for lookup. It never changes and is safe for concurrent use.
type Policy struct {
	runners     map[string]bool // in lower case
	tools       map[string]bool
	subcommands map[string]bool
	protected   protected
	options     map[string]optionSet
}

// Shipped returns the policy that comes with the program.
func Shipped() *Policy {
	var l lists
	if json.Unmarshal(shipped, &l) != nil {
		return nil // Unreachable: a test reads it
	}
	return newPolicy(l)
}

func newPolicy(l lists) *Policy {
	p := &Policy{
		runners:     lowered(l.Runners, evaluators()),
		tools:       lowered(l.MultiCommandTools, programs.Tools()),
		subcommands: lowered(l.RunnerSubcommands, programs.Subcommands()),
		protected:   protect(l.ProtectedNames),
		options:     make(map[string]optionSet, len(l.SafeOptions)),
	}
	for key, o := range l.SafeOptions {
		p.options[key] = newOptionSet(o)
	}
	return p
}

// evaluators are shell builtins that run their operands as code, like the runners in the lists.
func evaluators() []string {
	return []string{"trap", "unset", "read", "mapfile", "readarray"}
}

// lowered returns a set of names in lower case, because some file systems ignore case.
func lowered(lists ...[]string) map[string]bool {
	set := make(map[string]bool)
	for _, list := range lists {
		for _, name := range list {
			set[strings.ToLower(name)] = true
		}
	}
	return set
}
