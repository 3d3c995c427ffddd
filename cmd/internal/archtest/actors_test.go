package archtest_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const (
	// maxActorFiles is how many files the package of one actor may have.
	maxActorFiles = 12
	// maxPackageLines is how long a package may be, without its tests and what is generated.
	maxPackageLines = 3500
	// maxShellLines is how long the actor of a chat may be: it writes and carries out what its machine decides.
	maxShellLines = 900
)

// TestActorPackages: a package of the actors can be read from top to bottom: its files call each
// other in one direction only, and one actor has few of them.
func TestActorPackages(t *testing.T) {
	byPackage := map[string][]source{}
	for _, s := range sources(t) {
		if rel := filepath.ToSlash(filepath.Dir(s.rel)); under(rel, "actors") && !isTestPackage(rel) && !strings.HasSuffix(s.rel, "_test.go") {
			byPackage[rel] = append(byPackage[rel], s)
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(byPackage)) {
		for _, fault := range packageFaults(rel, byPackage[rel]) {
			t.Errorf("%s %s", rel, fault)
		}
	}
}

// packageFaults holds the files of one package against the rules.
func packageFaults(rel string, files []source) []string {
	var out []string
	if isActor(rel) && len(files) > maxActorFiles {
		out = append(out, fmt.Sprintf("has %d files, more than %d", len(files), maxActorFiles))
	}
	for _, circle := range circles(fileCalls(files)) {
		out = append(out, "has files that call each other in a circle: "+strings.Join(circle, ", "))
	}
	return out
}

// calls are, by file, the files whose functions and methods it uses, each with an example.
type calls map[string]map[string]string

// fileCalls finds the calls between the files of a package. Only the package itself is
// type-checked: what it imports calls nothing of it by name.
func fileCalls(files []source) calls {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	parsed := make([]*ast.File, len(files))
	for i, s := range files {
		parsed[i] = s.file
	}
	checked, _ := conf.Check(files[0].file.Name.Name, files[0].fset, parsed, info) // it lacks its imports
	out := calls{}
	for _, s := range files {
		from := path.Base(filepath.ToSlash(s.rel))
		out[from] = map[string]string{}
		ast.Inspect(s.file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			f, ok := info.Uses[id].(*types.Func)
			if !ok || f.Pkg() != checked || ofInterface(f) {
				return true
			}
			if to := fileOf(files, f.Pos()); to != "" && to != from {
				out[from][to] = f.Name()
			}
			return true
		})
	}
	return out
}

// ofInterface reports a method of an interface, whose callers do not know the implementation.
func ofInterface(f *types.Func) bool {
	recv := f.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

func fileOf(files []source, pos token.Pos) string {
	for _, s := range files {
		if s.file.FileStart <= pos && pos <= s.file.FileEnd {
			return path.Base(filepath.ToSlash(s.rel))
		}
	}
	return ""
}

// noImports imports nothing.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not imported") }

// circles are the sets of files that reach each other, sorted.
func circles(g calls) [][]string {
	reach := map[string]map[string]bool{}
	for from := range g {
		reach[from] = map[string]bool{}
		var walk func(string)
		walk = func(at string) {
			for to := range g[at] {
				if !reach[from][to] {
					reach[from][to] = true
					walk(to)
				}
			}
		}
		walk(from)
	}
	var out [][]string
	seen := map[string]bool{}
	for _, from := range slices.Sorted(maps.Keys(g)) {
		if seen[from] || !reach[from][from] {
			continue
		}
		var circle []string
		for _, to := range slices.Sorted(maps.Keys(g)) {
			if reach[from][to] && reach[to][from] {
				circle, seen[to] = append(circle, to), true
			}
		}
		out = append(out, circle)
	}
	return out
}

func TestActorPackageRulesBite(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  []string
	}{
		{"one direction", []string{"func a() { b() }", "func b() {}"}, nil},
		{"a circle", []string{"func a() { b() }", "func b() { a() }"}, []string{"has files that call each other in a circle: 0.go, 1.go"}},
		{
			"a circle of methods",
			[]string{"type x struct{}\nfunc (y x) a() { y.b() }", "func (y *x) b() { y.c() }", "func (y x) c() { _ = y.a }"},
			[]string{"has files that call each other in a circle: 0.go, 1.go, 2.go"},
		},
		{"a method of somebody else", []string{"import \"io\"\nfunc a(w io.Closer) { w.Close() }", "type x struct{}\nfunc (x) Close() { a(nil) }"}, nil},
		{"a method of an interface", []string{"type x interface{ a() }\nfunc f() { g(nil) }", "func g(y x) { y.a() }"}, nil},
		{"types are free", []string{"type x struct{ of *y }\nfunc (x) a() {}", "type y struct{ of *x }\nfunc (z y) b() { z.of.a() }"}, nil},
		{"too many files", slices.Repeat([]string{""}, maxActorFiles+1), []string{"has 13 files, more than 12"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fset := token.NewFileSet()
			var files []source
			for i, text := range tt.files {
				name := fmt.Sprintf("%d.go", i)
				files = append(files, parseInto(t, fset, name, name, "package run\n"+text))
			}
			stdtest.Diff(t, "faults", tt.want, packageFaults("actors/run", files))
		})
	}
}

// TestPackageSizes: no package of the program or of its test kits is longer than one person can keep
// in mind.
func TestPackageSizes(t *testing.T) {
	lines := map[string]int{}
	for _, s := range sources(t) {
		if !strings.HasSuffix(s.rel, "_test.go") && !ast.IsGenerated(s.file) {
			lines[filepath.ToSlash(filepath.Dir(s.rel))] += s.lines()
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(lines)) {
		limit := maxPackageLines
		if rel == "actors/chat" {
			limit = maxShellLines
		}
		if lines[rel] > limit {
			t.Errorf("%s has %d lines, more than %d", rel, lines[rel], limit)
		}
	}
}
