package grant

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/programs"
)

//go:embed policy.json
var shipped []byte

// Styles of options.
const (
	StyleGNU  = "gnu"  // --name=V, --name V, -xV, -x V, clusters of letters
	StyleGo   = "go"   // -name=V or -name V with one dash or two, no clusters
	StyleFind = "find" // listed words only, the value is the next word
)

// ErrPolicy is wrapped by every error about a list.
var ErrPolicy = errors.New("approval policy")

// Lists are the contents of a policy, in the format of policy.json.
type Lists struct {
	Version int    `json:"version,omitempty"`
	Note    string `json:"note,omitempty"`
	// Runners are programs that run other programs or code. An open rule for one of them covers nothing.
	Runners []string `json:"runners,omitempty"`
	// MultiCommandTools need a subcommand in the rule before its open end covers anything.
	MultiCommandTools []string `json:"multi_command_tools,omitempty"`
	// RunnerSubcommands are subcommands that run or change something, each as two words: the tool and the subcommand.
	RunnerSubcommands []string `json:"runner_subcommands,omitempty"`
	// ProtectedNames are names of files and folders that operands must not contain.
	ProtectedNames []string `json:"protected_names,omitempty"`
	// SafeOptions are allowed in addition to what a rule spells out. The key is a program, or a program and its
	// subcommand.
	SafeOptions map[string]Options `json:"safe_options,omitempty"`
}

// Options are the harmless options of one program.
type Options struct {
	Flags   []string `json:"flags,omitempty"`   // options without a value
	Values  []string `json:"values,omitempty"`  // options with one
	Style   string   `json:"style,omitempty"`   // how options are written
	Numeric bool     `json:"numeric,omitempty"` // numbers such as -20 are options too
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
func Shipped() (*Policy, error) {
	lists, err := ParseLists(shipped)
	if err != nil {
		return nil, err
	}
	return NewPolicy(lists)
}

// ParseLists parses lists in the format of policy.json. Unknown keys are an error, so that a misspelled list is not
// ignored.
func ParseLists(data []byte) (Lists, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var lists Lists
	if err := dec.Decode(&lists); err != nil {
		return Lists{}, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Lists{}, fmt.Errorf("%w: more than one value", ErrPolicy)
	}
	return lists, nil
}

// NewPolicy builds a policy from lists, which must not be changed afterwards. The error lists all problems.
func NewPolicy(lists Lists) (*Policy, error) {
	p := &Policy{
		runners:     lowered(lists.Runners, evaluators()),
		tools:       lowered(lists.MultiCommandTools, programs.Tools()),
		subcommands: lowered(lists.RunnerSubcommands, programs.Subcommands()),
		protected:   protect(lists.ProtectedNames),
		options:     make(map[string]optionSet, len(lists.SafeOptions)),
	}
	var faults []error
	for _, name := range lists.ProtectedNames {
		if name == "" || strings.ContainsAny(name, "/:") {
			faults = append(faults, fmt.Errorf("protected name %q is not a name of a file", name))
		}
	}
	for _, sub := range lists.RunnerSubcommands {
		if len(strings.Fields(sub)) != 2 {
			faults = append(faults, fmt.Errorf("subcommand %q has not two words", sub))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(lists.SafeOptions)) {
		set, err := newOptionSet(lists.SafeOptions[key])
		if n := len(strings.Fields(key)); err == nil && (n < 1 || n > 2) {
			err = errors.New("the key has not one or two words")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("options of %q: %w", key, err))
		}
		p.options[key] = set
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrPolicy, errors.Join(faults...))
	}
	return p, nil
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
