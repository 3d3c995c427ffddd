package archtest_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

var update = flag.Bool("update", false, "write the reference of metrics anew")

// TestToolsAndPlatformsAreWired holds the recipes of CONTRIBUTING.md: what implements a tool or a platform
// is put together by the host, and a platform passes the suite of its contract.
func TestToolsAndPlatformsAreWired(t *testing.T) {
	all := packages(t)
	var wired []string
	for _, p := range all {
		if under(p.rel(), "cmd/internal") {
			wired = append(wired, p.own()...)
		}
	}
	for _, p := range all {
		parent := filepath.Dir(p.rel())
		if parent != "adapters/tool" && parent != "adapters/platform" || isTestPackage(p.rel()) || p.rel() == "adapters/tool/words" {
			continue
		}
		if !slices.Contains(wired, p.rel()) {
			t.Errorf("%s is not put together by the host", p.rel())
		}
		suite := modulePath + "/adapters/platform/platformtest"
		if parent == "adapters/platform" && p.rel() != "adapters/platform/access" && !slices.Contains(slices.Concat(p.TestImports, p.XTestImports), suite) {
			t.Errorf("%s does not run the suite of platforms", p.rel())
		}
	}
}

// TestServicesAreDescribedInOnePlace: what the host and the commands know about a service with bots is in its
// descriptor. Neither names a service in code; the examples in the help of commands may.
func TestServicesAreDescribedInOnePlace(t *testing.T) {
	var names []string
	for _, src := range sources(t) {
		if name := strings.TrimSuffix(filepath.Base(src.rel), ".go"); under(src.rel, "cmd/internal/platforms") && !src.test && name != "platforms" {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		t.Fatalf("cmd/internal/platforms describes %q, want every service in a file named after it", names)
	}
	for _, src := range sources(t) {
		if src.test || !under(src.rel, "cmd/internal/host") && !under(src.rel, "cmd/internal/cli") {
			continue
		}
		ast.Inspect(src.file, func(n ast.Node) bool {
			word := ""
			switch n := n.(type) {
			case *ast.Ident:
				word = strings.ToLower(n.Name)
			case *ast.BasicLit:
				word = strings.Trim(n.Value, `"`)
			}
			for _, name := range names {
				_, isLiteral := n.(*ast.BasicLit)
				if strings.Contains(word, name) && !isLiteral || word == name || strings.HasPrefix(word, name+"@") || strings.HasSuffix(word, "/"+name) {
					t.Errorf("%s:%d names %s: put it into the descriptor in cmd/internal/platforms", src.rel, src.line(n), name)
				}
			}
			return true
		})
	}
}

// TestMetricsAreDocumented: the reference has every metric with its help, and no other.
func TestMetricsAreDocumented(t *testing.T) {
	var rows []string
	for _, src := range sources(t) {
		if src.test {
			continue
		}
		ast.Inspect(src.file, func(n ast.Node) bool {
			if name, help := metricOf(n); name != "" {
				rows = append(rows, fmt.Sprintf("| `%s` | %s |", name, help))
			}
			return true
		})
	}
	slices.Sort(rows)
	want := "# Metrics\n\nWhat `/metrics` serves in addition to the metrics of the Go runtime and of the process.\n\n| metric | what it says |\n|---|---|\n" +
		strings.Join(slices.Compact(rows), "\n") + "\n"
	file := filepath.Join(root(t), "docs", "reference", "metrics.md")
	if *update {
		stdtest.Must(t, os.WriteFile(file, []byte(want), 0o644))
	}
	got := stdtest.Read(t, file)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/reference/metrics.md (-code +file; go test ./cmd/internal/archtest -run Metrics -update writes it):\n%s", diff)
	}
}

func metricOf(n ast.Node) (name, help string) {
	lit, ok := n.(*ast.CompositeLit)
	if !ok {
		return "", ""
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, _ := kv.Key.(*ast.Ident)
		value, _ := kv.Value.(*ast.BasicLit)
		if key == nil || value == nil || value.Kind != token.STRING {
			continue
		}
		text, err := strconv.Unquote(value.Value)
		switch {
		case err != nil:
		case key.Name == "Name":
			name = text
		case key.Name == "Help":
			help = text
		}
	}
	if help == "" || !strings.HasPrefix(name, "sma_") && !strings.HasPrefix(name, "gen_ai_") {
		return "", ""
	}
	return name, help
}
