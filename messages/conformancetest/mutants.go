// Package conformancetest plays conformance vectors of the AI SDK, and shows that a test reads
// what its cases say: it changes one member of one case at a time and looks whether the test fails.
package conformancetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ReadsEveryMember is TestConformanceReadsEveryMember of a package: it changes each member of the
// cases in [Dir] in turn and fails if no change of one makes TestConformance of the running test
// binary fail, except for members that cannot matter to what is checked there, which are given
// with the reasons. A member is its path in the case, after the kind: list elements are [], names
// of tools are *. Of each file, perMember cases are changed for each member, each in up to two
// places and in two ways.
func ReadsEveryMember(t *testing.T, perMember int, cannotMatter map[string]string, kinds ...string) {
	t.Helper()
	got := map[string]bool{}
	for _, member := range unnoticed(t, perMember, kinds) {
		got[member] = true
		if cannotMatter[member] == "" {
			t.Errorf("no change of %q is noticed", member)
		}
	}
	for member := range cannotMatter {
		if !got[member] {
			t.Errorf("%q is said not to matter, and does", member)
		}
	}
}

// unnoticed returns the members of which no change is noticed.
func unnoticed(t *testing.T, perMember int, kinds []string) []string {
	t.Helper()
	m := &mutants{perMember: perMember, dir: t.TempDir(), members: map[string]int{}, of: map[string]string{}, plain: map[string]string{}}
	eachFile(t, Dir, func(path string, raw []byte) error {
		value, err := parse(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		file, ok := value.(*object)
		if !ok {
			return fmt.Errorf("%s is not a file of cases", path)
		}
		if kind, _ := file.values["kind"].(string); slices.Contains(kinds, kind) {
			return m.add(kind, file)
		}
		return nil
	})
	failed := m.run(t)
	noticed := map[string]bool{}
	for name, member := range m.of {
		if member != "" {
			noticed[member] = noticed[member] || failed[name] && !failed[m.plain[name]]
		}
	}
	maps.DeleteFunc(noticed, func(_ string, was bool) bool { return was })
	return slices.Sorted(maps.Keys(noticed))
}

// mutants are the changed cases in a folder of their own.
type mutants struct {
	perMember int

	dir     string
	files   int
	members map[string]int    // how many cases of the file were changed, by member
	of      map[string]string // the member of a changed case, by name; empty: it is unchanged
	plain   map[string]string // the unchanged case of a changed one, by name
}

// add writes a file with the changed cases of another one.
func (m *mutants) add(kind string, file *object) error {
	clear(m.members)
	cases, _ := file.values["cases"].([]any)
	var changed []any
	for _, c := range cases {
		if c, ok := c.(*object); ok {
			changed = append(changed, m.mutate(kind, c)...)
		}
	}
	file.set("cases", changed)
	raw, err := json.Marshal(file)
	if err != nil {
		return fmt.Errorf("encode the changed cases: %w", err)
	}
	m.files++
	return os.WriteFile(filepath.Join(m.dir, strconv.Itoa(m.files)+".json"), raw, 0o600)
}

// mutate makes the changed copies of a case.
func (m *mutants) mutate(kind string, c *object) []any {
	places := map[string][][]any{}
	each(c, nil, func(path []any) {
		member := pattern(kind, path)
		places[member] = append(places[member], path)
	})
	delete(places, kind+" name")
	// A case that fails unchanged shows nothing.
	unchanged := m.named(c, "", "")
	out := []any{unchanged}
	plain, _ := unchanged.values["name"].(string)
	for _, member := range slices.Sorted(maps.Keys(places)) {
		if m.members[member] >= m.perMember {
			continue
		}
		all := places[member]
		n := m.members[member] % len(all) // other places in every case
		m.members[member]++
		for _, path := range slices.CompactFunc([][]any{all[n], all[len(all)-1-n]}, slices.Equal) {
			last := len(path) - 1
			dropped, changed := m.named(c, member, plain), m.named(c, member, plain)
			at(dropped, path[:last], func(parent any) any { return without(parent, path[last]) })
			at(changed, path, other)
			out = append(out, dropped, changed)
		}
	}
	return out
}

// named is a copy of a case under a name by which its member is found again.
func (m *mutants) named(c *object, member, plain string) *object {
	out := clone(c)
	name := "mutant-" + strconv.Itoa(len(m.of))
	out.set("name", name)
	m.of[name], m.plain[name] = member, plain
	return out
}

// whole are members whose value is the case's own, and compared or used as a whole.
var whole = regexp.MustCompile(`^(input|output|inputSchema|outputSchema|metadata|messageMetadata|\w*[pP]roviderMetadata|\w*[pP]roviderOptions|data|value|result|error|body|json|usage|headers|return\w*|yield)$`)

// each visits the members of a value, outer ones first, in the order of their names.
func each(v any, path []any, visit func([]any)) {
	switch v := v.(type) {
	case *object:
		for _, k := range slices.Sorted(slices.Values(v.names)) {
			here := append(slices.Clone(path), k)
			visit(here)
			if !whole.MatchString(k) {
				each(v.values[k], here, visit)
			}
		}
	case []any:
		for i, e := range v {
			each(e, append(slices.Clone(path), i), visit)
		}
	}
}

func pattern(kind string, path []any) string {
	var b strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case int:
			b.WriteString("[]")
			continue
		case string:
			if i > 0 {
				b.WriteByte('.')
			}
			if i > 0 && path[i-1] == "tools" {
				step = "*"
			}
			b.WriteString(step)
		}
	}
	return kind + " " + b.String()
}

func at(v any, path []any, change func(any) any) any {
	if len(path) == 0 {
		return change(v)
	}
	switch step := path[0].(type) {
	case string:
		if o, ok := v.(*object); ok {
			o.set(step, at(o.values[step], path[1:], change))
		}
	case int:
		if l, ok := v.([]any); ok {
			l[step] = at(l[step], path[1:], change)
		}
	}
	return v
}

func without(parent, name any) any {
	if o, ok := parent.(*object); ok {
		o.drop(fmt.Sprint(name))
	}
	return parent
}

// other is a different value of the same kind.
func other(v any) any {
	switch v := v.(type) {
	case string:
		return v + " changed"
	case float64:
		return v + 1
	case bool:
		return !v
	case []any:
		if len(v) > 0 {
			return v[:len(v)-1]
		}
		return []any{"changed"}
	case *object:
		out := &object{names: slices.Clone(v.names), values: maps.Clone(v.values)}
		out.set("changed", true)
		return out
	}
	return "changed"
}

func clone(c *object) *object {
	raw, _ := json.Marshal(c) // it came from JSON
	value, _ := parse(raw)
	out, _ := value.(*object)
	return out
}

var result = regexp.MustCompile(`--- (FAIL|PASS|SKIP): TestConformance/(?:\S*/)?(mutant-\d+)(\s|/)`)

// run runs TestConformance over the changed cases and returns which of them failed.
func (m *mutants) run(t *testing.T) map[string]bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestConformance$", "-test.v")
	cmd.Env = append(os.Environ(), "CONFORMANCE_DIR="+m.dir)
	out, _ := cmd.CombinedOutput() // it fails, as it should
	failed, seen := map[string]bool{}, map[string]bool{}
	for line := range bytes.SplitSeq(out, []byte("\n")) {
		if found := result.FindSubmatch(line); found != nil {
			name := string(found[2])
			seen[name] = true
			failed[name] = failed[name] || string(found[1]) == "FAIL"
		}
	}
	if len(seen) != len(m.of) {
		t.Fatalf("%d of %d changed cases were played:\n%.3000s", len(seen), len(m.of), out[max(0, len(out)-3000):])
	}
	maps.DeleteFunc(failed, func(_ string, was bool) bool { return !was })
	t.Logf("%d changed cases, %d were noticed", len(seen), len(failed))
	return failed
}
