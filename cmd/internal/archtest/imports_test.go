package archtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		for _, fault := range importFaults(p) {
			t.Error(fault)
		}
	}
}

// importFaults checks a package against the import rules. Tests may import everything that is not forbidden for all.
func importFaults(p pkg) []string {
	var out []string
	fault := func(format string, args ...any) {
		out = append(out, p.rel()+" "+fmt.Sprintf(format, args...))
	}
	from := p.rel()
	for _, path := range p.Imports {
		if path == "text/template" || path == "html/template" {
			fault("imports %s: the linker then keeps every exported method of the program, which makes it 5 MB larger", path)
		}
		if strings.HasPrefix(path, "github.com/asynkron/protoactor-go") && top(from) != "actors" && top(from) != "cmd" {
			fault("imports %s: only actors and cmd may", path)
		}
		if slices.Contains(pure, from) && slices.Contains([]string{"context", "crypto/rand", "io", "io/fs", "log/slog", "math/rand/v2", "net", "os", "sync", "sync/atomic"}, path) {
			fault("imports %s: what follows from facts follows from them alone", path)
		}
		if under(from, "actors/chat/machine") && (strings.HasPrefix(path, "github.com/asynkron/protoactor-go") || slices.Contains(impure, path)) {
			fault("imports %s: a chat decides by what it is given", path)
		}
		if top(from) == "actors" && !strings.HasSuffix(from, "test") && (path == "sync" || path == "sync/atomic") {
			fault("imports %s: an actor's state has one owner", path)
		}
	}
	for _, to := range p.own() {
		switch {
		case under(from, "actors/chat/machine") && to == "persistence":
			fault("imports the store: the shell reads and writes")
		case slices.Contains(pure, from) && top(to) != "messages" && !slices.Contains(pure, to):
			fault("imports %s, which is not pure", to)
		case under(to, from):
		case isImplementation(to) && top(from) != "cmd" && !sameImplementation(from, to):
			fault("imports the implementation %s: only cmd may", to)
		case isTestPackage(to) && !isTestPackage(from):
			fault("imports %s, which is for tests", to)
		case to == "config" && top(from) != "cmd" && top(from) != "config":
			fault("imports config: only cmd may; take an Options struct")
		case top(from) == "messages" && top(to) != "messages":
			fault("imports %s: messages know nothing of the rest", to)
		case slices.Contains([]string{"persistence", "adapters", "config"}, top(from)) && slices.Contains([]string{"actors", "cmd"}, top(to)):
			fault("imports %s: contracts and implementations know nothing of actors", to)
		case top(from) == "actors" && top(to) == "cmd":
			fault("imports %s: nothing imports cmd", to)
		case isActor(from) && isActor(to):
			fault("imports the actor package %s: take its Props as a function", to)
		}
	}
	return out
}

// pure are packages without a clock, a store, randomness or actors: what they decide depends only
// on what they are given.
var pure = []string{
	"persistence/chatpath", "persistence/contextsearch", "persistence/journal", "persistence/memories", "persistence/permission", "persistence/runlog", "persistence/timetable",
}

// impure are packages of the standard library through which a decision could depend on
// anything but its input.
var impure = []string{"crypto/rand", "hash/maphash", "io", "io/fs", "math/rand", "math/rand/v2", "net", "os", "sync", "sync/atomic"}

// shared are packages below a contract that hold no implementation of it, but what several
// implementations are made of.
var shared = []string{"persistence/document"}

// isImplementation: one level below a contract, tests' packages and what is pure or shared aside.
func isImplementation(rel string) bool {
	parts := strings.Split(rel, "/")
	switch {
	case slices.Contains(parts, "internal"), isTestPackage(rel), slices.Contains(pure, rel), slices.Contains(shared, rel):
		return false
	case parts[0] == "adapters":
		return len(parts) > 2
	case parts[0] == "persistence":
		return len(parts) > 1
	default:
		return false
	}
}

// sameImplementation: an implementation may be made of several packages.
func sameImplementation(a, b string) bool {
	return implementationRoot(a) != "" && implementationRoot(a) == implementationRoot(b)
}

func implementationRoot(rel string) string {
	parts := strings.Split(rel, "/")
	depth := map[string]int{"adapters": 3, "persistence": 2}[parts[0]]
	if depth == 0 || len(parts) < depth {
		return ""
	}
	return strings.Join(parts[:depth], "/")
}

// isTestPackage: suites and fakes.
func isTestPackage(rel string) bool {
	for part := range strings.SplitSeq(rel, "/") {
		if strings.HasSuffix(part, "test") {
			return true
		}
	}
	return false
}

// isActor: a package with one actor in it.
func isActor(rel string) bool {
	parts := strings.Split(rel, "/")
	return len(parts) == 2 && parts[0] == "actors" && parts[1] != "internal" && !isTestPackage(rel)
}

func TestImportRulesBite(t *testing.T) {
	tests := []struct {
		name, from, to string
		bad            bool
	}{
		{"cmd wires implementations", "cmd/internal/host", "adapters/platform/telegram", false},
		{"an actor imports an implementation", "actors/run", "adapters/model/provider", true},
		{"one implementation imports another", "adapters/platform/web", "adapters/platform/telegram", true},
		{"a contract imports its implementation", "persistence", "persistence/filestore/internal/vfs", false},
		{"an implementation of several packages", "adapters/platform/web", "adapters/platform/web/stream", false},
		{"an adapter keeps a small document", "adapters/platform/access", "persistence/document", false},
		{"a helper of all adapters", "adapters/platform/telegram", "adapters/internal/markup", false},
		{"an actor imports a contract", "actors/run", "adapters/model", false},
		{"production code imports a suite", "cmd/internal/host", "persistence/storetest", true},
		{"a suite imports a suite", "adapters/platform/platformtest", "adapters/model/modeltest", false},
		{"settings in an implementation", "adapters/platform/telegram", "config", true},
		{"settings in a command", "cmd/internal/cli", "config", false},
		{"settings import their own parts", "config", "config/internal/jsonpos", false},
		{"an actor imports facts", "actors/chat", "persistence/journal", false},
		{"facts import a contract of stores", "persistence/journal", "persistence", true},
		{"facts import messages", "persistence/journal", "messages/uimessage", false},
		{"messages import the store", "messages", "persistence", true},
		{"messages import messages", "messages", "messages/uimessage", false},
		{"a store imports actors", "persistence/filestore", "actors/chat", true},
		{"actors import cmd", "actors/chat", "cmd/internal/host", true},
		{"an actor imports an actor", "actors/shard", "actors/chat", true},
		{"an actor imports a pure part", "actors/run", "actors/internal/loop", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pkg{ImportPath: modulePath + "/" + tt.from, Imports: []string{modulePath + "/" + tt.to}}
			if got := importFaults(p); (len(got) > 0) != tt.bad {
				t.Errorf("faults = %q, want some: %v", got, tt.bad)
			}
		})
	}
	outside := pkg{ImportPath: modulePath + "/actors/chat", Imports: []string{"sync", "github.com/asynkron/protoactor-go/actor"}}
	stdtest.Diff(t, "faults", []string{"actors/chat imports sync: an actor's state has one owner"}, importFaults(outside))
	if got := importFaults(pkg{ImportPath: modulePath + "/config", Imports: []string{"github.com/asynkron/protoactor-go/actor"}}); len(got) != 1 {
		t.Errorf("protoactor in config: faults = %q, want one", got)
	}
}
