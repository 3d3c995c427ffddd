package archtest_test

import (
	"fmt"
	"go/ast"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// reliabilityRows are the rows that docs/reliability.md has to show, by group.
func reliabilityRows() []string {
	var out []string
	for _, group := range []struct {
		name string
		n    []int
	}{
		{"ST", upTo(19)},
		{"IO", upTo(14)},
		{"RL", upTo(16)},
		{"CO", upTo(6)},
		{"CL", append(upTo(4), 9, 10)},
		{"OV", upTo(5)},
		{"AP", upTo(14)},
		{"SB", upTo(10)},
		{"SE", upTo(5)},
		{"WE", upTo(12)},
		{"PI", upTo(8)},
		{"SU", []int{1, 2, 4}},
	} {
		for _, n := range group.n {
			out = append(out, fmt.Sprintf("%s%d", group.name, n))
		}
	}
	return out
}

func upTo(last int) []int {
	var out []int
	for n := range last {
		out = append(out, n+1)
	}
	return out
}

// TestReliability: every row of the page on reliability names tests that there
// are, in the package that it says, and that are called by the row.
func TestReliability(t *testing.T) {
	text := stdtest.Read(t, filepath.Join(root(t), "docs", "reliability.md"))
	tests := map[string]bool{}
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test && f.Recv == nil {
				tests[filepath.ToSlash(filepath.Dir(s.rel))+"."+f.Name.Name] = true
			}
		}
	}
	for _, fault := range reliabilityFaults(string(text), reliabilityRows(), tests) {
		t.Error(fault)
	}
}

// reliabilityFaults holds a page against the rows that there have to be and the
// tests that there are, as package.TestName.
func reliabilityFaults(page string, want []string, tests map[string]bool) (faults []string) {
	row := regexp.MustCompile(`(?m)^\| ([A-Z]{2}\d+) \|(.*)\|(.*)\|(.*)\|$`)
	named := regexp.MustCompile("`(\\w+)` \\(`([\\w/]+)`\\)")
	seen := map[string]bool{}
	for _, r := range row.FindAllStringSubmatch(page, -1) {
		id := r[1]
		if seen[id] {
			faults = append(faults, id+" is there twice")
		}
		seen[id] = true
		shown := named.FindAllStringSubmatch(r[3], -1)
		if len(shown) == 0 {
			faults = append(faults, id+" names no test as `TestName` (`package`)")
		}
		if strings.TrimSpace(r[2]) == "" || strings.TrimSpace(r[4]) == "" {
			faults = append(faults, id+" says nothing of the behaviour, or nothing of what was measured")
		}
		for _, m := range shown {
			if rest, ok := strings.CutPrefix(m[1], "Test"+id); !ok || rest == "" || rest[0] >= '0' && rest[0] <= '9' {
				faults = append(faults, id+" names "+m[1]+", which is not called Test"+id+"…")
			}
			if !tests[m[2]+"."+m[1]] {
				faults = append(faults, fmt.Sprintf("%s names %s, which is not in %s", id, m[1], m[2]))
			}
		}
	}
	for _, id := range want {
		if !seen[id] {
			faults = append(faults, id+" has no row")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		if !slices.Contains(want, id) {
			faults = append(faults, id+" is not a row of the list")
		}
	}
	return faults
}

func TestReliabilityBites(t *testing.T) {
	tests := map[string]bool{"persistence/filestore.TestST1Kills": true, "persistence/filestore.TestST10Kills": true}
	tests["cmd/sma.TestST1Again"] = true
	cases := []struct {
		name, page string
		want       int
	}{
		{"fine", "| ST1 | a → b | `TestST1Kills` (`persistence/filestore`), `TestST1Again` (`cmd/sma`) | 5 |\n", 0},
		{"nothing", "", 1},
		{"twice", "| ST1 | a | `TestST1Kills` (`persistence/filestore`) | 5 |\n| ST1 | a | `TestST1Kills` (`persistence/filestore`) | 5 |\n", 1},
		{"no test", "| ST1 | a | later | 5 |\n", 1},
		{"no figure", "| ST1 | a | `TestST1Kills` (`persistence/filestore`) | |\n", 1},
		{"a test of another row", "| ST1 | a | `TestST10Kills` (`persistence/filestore`) | 5 |\n", 1},
		{"a test that there is not", "| ST1 | a | `TestST1Gone` (`persistence/filestore`) | 5 |\n", 1},
		{"another package", "| ST1 | a | `TestST1Kills` (`persistence`) | 5 |\n", 1},
		{"a row too many", "| ST1 | a | `TestST1Kills` (`persistence/filestore`) | 5 |\n| ZZ1 | a | `TestZZ1` (`x`) | 5 |\n", 4 - 1},
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			if got := reliabilityFaults(tt.page, []string{"ST1"}, tests); len(got) != tt.want {
				t.Errorf("faults = %q, want %d", got, tt.want)
			}
		})
	}
}
