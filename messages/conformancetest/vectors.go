package conformancetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Dir is the folder of the vectors of the package under test.
const Dir = "testdata/conformance"

// File is one file of conformance vectors.
type File struct {
	Kind     string                     `json:"kind"`
	About    string                     `json:"about"` // for readers
	ToolSets map[string]json.RawMessage `json:"toolSets"`
	Cases    []json.RawMessage          `json:"cases"`
}

// Head are the members of every case.
type Head struct {
	Name     string `json:"name"`
	Note     string `json:"note"`     // for readers
	Optional bool   `json:"optional"` // it contains half a surrogate pair, which is U+FFFD here
}

// Check compares a case of a file with what we do.
type Check func(t *testing.T, file File, raw json.RawMessage)

// Play is TestConformance of a package: it checks every case of these kinds in [Dir], each in a
// test of its own. CONFORMANCE_DIR names another set of vectors, which may lack some of the kinds.
// Other kinds are for other packages.
func Play(t *testing.T, checks map[string]Check) {
	t.Helper()
	dir, other := os.LookupEnv("CONFORMANCE_DIR")
	if !other || dir == "" {
		dir, other = Dir, false
	}
	counts := map[string]int{}
	Each(t, dir, func(name string, file File, raw json.RawMessage) {
		check := checks[file.Kind]
		if check == nil {
			return
		}
		counts[file.Kind]++
		t.Run(name, func(t *testing.T) { check(t, file, raw) })
	})
	for kind := range checks {
		if counts[kind] == 0 && !other {
			t.Errorf("no case of kind %s in %s", kind, dir)
		}
	}
	t.Logf("cases by kind: %v", counts)
}

// Each calls do with every case below a folder. The name of a case begins with that of its file.
func Each(t *testing.T, dir string, do func(name string, file File, raw json.RawMessage)) {
	t.Helper()
	eachFile(t, dir, func(path string, raw []byte) error {
		var file File
		Decode(t, raw, &file)
		name, _ := filepath.Rel(dir, path)
		for _, raw := range file.Cases {
			var head struct{ Name string }
			if err := json.Unmarshal(raw, &head); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			do(strings.TrimSuffix(name, ".json")+"/"+head.Name, file, raw)
		}
		return nil
	})
}

// eachFile calls do with every file of cases below a folder.
func eachFile(t *testing.T, dir string, do func(path string, raw []byte) error) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" || d.Name() == "manifest.json" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return do(path, raw)
	})
	stdtest.Must(t, err)
}

// Tools is a set of tools: an inline one as it is, or the file's set of that name.
func (f File) Tools(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	var name string
	if raw == nil || json.Unmarshal(raw, &name) != nil {
		return raw
	}
	if f.ToolSets[name] == nil {
		t.Fatalf("there is no tool set %q", name)
	}
	return f.ToolSets[name]
}

// Decode is [Strictly], and an error ends the test.
func Decode(t *testing.T, raw []byte, to any) {
	t.Helper()
	if err := Strictly(raw, to); err != nil {
		t.Fatalf("decode %.80s: %v", raw, err)
	}
}

// Strictly refuses unknown members: a case with a member that the test ignores proves nothing.
func Strictly(raw []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// EachTool decodes a set of tools strictly, in the order of the file.
func EachTool[T any](raw []byte, do func(name string, spec T)) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var spec T
		if err := d.Decode(&spec); err != nil {
			return err
		}
		do(fmt.Sprint(name), spec)
	}
	return nil
}

// ModelOutput is a tool's own conversion of its output, described as data.
type ModelOutput struct {
	Kind  string          `json:"kind"`
	Field string          `json:"field"`
	Value json.RawMessage `json:"value"`
}

// Of is the output for the model.
func (s ModelOutput) Of(r CallResult) (modelmessage.Output, error) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(r.Output, &fields) // another kind of output has no fields
	out := modelmessage.Output{Type: modelmessage.OutputJSON}
	var err error
	switch s.Kind {
	case "text-field":
		out.Type = modelmessage.OutputText
		err = json.Unmarshal(fields[s.Field], &out.Text)
	case "content-field":
		out.Type, out.JSON = modelmessage.OutputContent, fields[s.Field]
	case "json-wrap":
		out.JSON, err = json.Marshal(map[string]any{"toolCallId": r.ToolCallID, "input": r.Input, "output": r.Output})
	case "fixed":
		err = json.Unmarshal(s.Value, &out)
	default:
		err = errors.New("unknown kind of model output")
	}
	return out, err
}
