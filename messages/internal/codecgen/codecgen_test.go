package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The files in the repository are those that go generate writes.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	for _, dir := range []string{"../../uimessage", "../../uistream", "../../modelmessage"} {
		want, err := generate(dir)
		stdtest.Must(t, err)
		got, err := os.ReadFile(filepath.Join(dir, output))
		stdtest.Must(t, err)
		if string(got) != string(want) {
			t.Errorf("%s is stale; run go generate ./messages/...", filepath.Join(dir, output))
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	for name, src := range map[string]string{
		"a type that is not a struct":   "package p\n\n//codec:object\ntype T []string\n",
		"a variant like no earlier one": "package p\n\n//codec:type t\ntype T U\n\n//codec:type u\ntype U struct{}\n",
		"an object like a variant":      "package p\n\n//codec:type u\ntype U struct{}\n\n//codec:object\ntype T U\n",
		"an option that is not known":   "package p\n\n//codec:object\ntype T struct {\n\tA string `codec:\"a,requird\"`\n}\n",
		"a directive that is not known": "package p\n\n//codec:objekt\ntype T struct{}\n",
	} {
		dir := t.TempDir()
		stdtest.Must(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(src), 0o600))
		if out, err := generate(dir); !errors.Is(err, errTable) {
			t.Errorf("%s: %v and\n%s", name, err, out)
		}
	}
}
