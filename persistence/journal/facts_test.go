package journal

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// packageFiles returns the parsed files of the package, and the export data of the packages that it imports.
func packageFiles(t *testing.T, fset *token.FileSet) (files []*ast.File, exports map[string]string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", `{{.ImportPath}} {{.Export}} {{if not .DepOnly}}{{join .GoFiles " "}}{{end}}`, ".")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports = map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		export, names, _ := strings.Cut(rest, " ")
		exports[path] = export
		for name := range strings.FieldsSeq(names) {
			file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			stdtest.Must(t, err)
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		t.Fatal("no files")
	}
	return files, exports
}

// declaredFacts returns the names of all types of the package that are facts according to the compiler: types with
// their own method kind, by value or pointer, declared in any file. A type that only embeds a fact does not count.
func declaredFacts(t *testing.T) []string {
	t.Helper()
	fset := token.NewFileSet()
	files, exports := packageFiles(t, fset)
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	conf := types.Config{Importer: imports, IgnoreFuncBodies: true}
	pkg, err := conf.Check("persistence", fset, files, nil)
	stdtest.Must(t, err)
	fact, ok := pkg.Scope().Lookup("Fact").Type().Underlying().(*types.Interface)
	if !ok {
		t.Fatal("Fact is not an interface")
	}
	var names []string
	for _, name := range pkg.Scope().Names() {
		typ, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || types.IsInterface(typ.Type()) || typ.IsAlias() {
			continue
		}
		if kind := types.NewMethodSet(types.NewPointer(typ.Type())).Lookup(pkg, "kind"); kind == nil || len(kind.Index()) > 1 {
			continue
		}
		switch {
		case types.Implements(typ.Type(), fact):
			names = append(names, name)
		case types.Implements(types.NewPointer(typ.Type()), fact):
			t.Errorf("%s is a fact by pointer only: give kind a value receiver", name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "UnknownFact" })
}

func typeNames(facts []Fact) []string {
	var names []string
	for _, f := range facts {
		names = append(names, reflect.TypeOf(f).Name())
	}
	slices.Sort(names)
	return names
}

// Every fact type must have one row in the table, and must be in the list for the round-trip test and the seeds of the
// fuzz test. This test names kinds of facts that are missing somewhere.
func TestEveryFactIsInTheTable(t *testing.T) {
	declared := declaredFacts(t)
	if len(declared) < 20 {
		t.Fatalf("only %d facts were found: %v", len(declared), declared)
	}
	if diff := cmp.Diff(declared, typeNames(everyFact())); diff != "" {
		t.Errorf("everyFact (-declared +listed):\n%s", diff)
	}
	var rows []string
	kinds := map[string]bool{}
	for _, row := range factKinds() {
		if kinds[row.name] || row.name == "" {
			t.Errorf("kind %q is in the table twice, or has no name", row.name)
		}
		kinds[row.name] = true
		rows = append(rows, rowType(t, row))
	}
	slices.Sort(rows)
	if diff := cmp.Diff(declared, rows); diff != "" {
		t.Errorf("table (-declared +rows):\n%s", diff)
	}
}

// rowType returns the fact type that a row parses and whose kind it has. The type must be applied to a state.
func rowType(t *testing.T, row factKind) string {
	t.Helper()
	for _, zero := range everyFact() {
		if zero.kind() != row.name {
			continue
		}
		r := Record{N: 1, TS: 1, Fact: filled(zero)}
		body, err := without(AppendRecord(nil, r), "n", "ts", "kind")
		stdtest.Must(t, err)
		name := reflect.TypeOf(zero).Name()
		if f, ok := row.parse(body); !ok || reflect.TypeOf(f) != reflect.TypeOf(zero) {
			t.Errorf("row %q parses a %s as %T", row.name, name, f)
		}
		s, err := Replay(Snapshot{})
		stdtest.Must(t, err)
		if err := s.Apply(r); err != nil {
			t.Errorf("a %s is not applied: %v", name, err)
		}
		return name
	}
	return fmt.Sprintf("no type for kind %q", row.name)
}

// A fact that contains a whole message must report if the message is missing, so that the line of a newer version does
// not become an empty turn.
func TestFactsAboutMessagesAreComplete(t *testing.T) {
	message := reflect.TypeFor[uimessage.Message]()
	for _, zero := range everyFact() {
		typ := reflect.TypeOf(zero)
		for field := range typ.Fields() {
			at := field.Type
			if at.Kind() == reflect.Pointer {
				at = at.Elem()
			}
			if _, ok := zero.(aboutMessage); at == message && !ok {
				t.Errorf("%s.%s is a message, and %s has no method complete", typ.Name(), field.Name, typ.Name())
			}
		}
	}
}

// The table is the only list of kinds: no other code of the package switches over facts, except for writing a record
// and for what is carried over.
func TestNoOtherListOfFacts(t *testing.T) {
	declared := declaredFacts(t)
	fset := token.NewFileSet()
	files, _ := packageFiles(t, fset)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			list, ok := n.(*ast.TypeSwitchStmt)
			if !ok {
				return true
			}
			cases := 0
			for _, clause := range list.Body.List {
				if clause, ok := clause.(*ast.CaseClause); ok {
					for _, e := range clause.List {
						if id, ok := e.(*ast.Ident); ok && slices.Contains(declared, id.Name) {
							cases++
						}
					}
				}
			}
			if cases > 3 {
				t.Errorf("%s: a switch over %d kinds of facts beside the table", fset.Position(list.Pos()), cases)
			}
			return true
		})
	}
}

// A crash may hide a send of a row that waits. A row that was parked was not being sent.
func TestParkedRowIsNotDelivered(t *testing.T) {
	key := RowKey{"a", 1}
	journal := []Record{
		{N: 1, Fact: EgressQueued{Row: Row{Key: key, Text: "an answer"}}},
		{N: 2, Fact: EgressSettled{Key: key, Outcome: EgressParked, Reason: "forbidden"}},
		{N: 3, Fact: EgressRetried{Key: key}},
	}
	for n, want := range []bool{1: true, 2: false, 3: true} {
		s, err := Replay(Snapshot{Journal: journal[:n]})
		stdtest.Must(t, err)
		if n > 0 && s.Row(key).Maybe != want {
			t.Errorf("after %d records, people may have it is %v, want %v", n, !want, want)
		}
	}
}
