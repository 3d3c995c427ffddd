package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	schemacheck "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestGolden loads every project in testdata. NAME.json is its ship.json. NAME.env is the
// environment, with one NAME=value per line: flag:KEY=value sets a flag, and strict=1 sets
// Options.Strict. NAME.want is the expected output: all findings for invalid projects; for valid
// ones every value that is not a default, with its origin, and the warnings. The schema must
// accept every valid project too.
func TestGolden(t *testing.T) {
	schema := compileSchema(t)
	for _, kind := range []string{"good", "warned", "bad"} {
		files, err := filepath.Glob(filepath.Join("testdata", kind, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s projects: %v", kind, err)
		}
		for _, file := range files {
			base := strings.TrimSuffix(file, ".json")
			t.Run(kind+"/"+filepath.Base(base), func(t *testing.T) {
				got := describe(t, kind != "bad", goldenOptions(t, base))
				compareGolden(t, base+".want", got)
				text := stdtest.Read(t, file)
				// An empty file is fine for Load, but no JSON.
				if doc, err := schemacheck.UnmarshalJSON(bytes.NewReader(text)); kind == "good" && len(bytes.TrimSpace(text)) > 0 && (err != nil || schema.Validate(doc) != nil) {
					t.Errorf("the schema refuses it: %v, %v", err, schema.Validate(doc))
				}
			})
		}
	}
}

func goldenOptions(t *testing.T, base string) Options {
	t.Helper()
	text, err := os.ReadFile(base + ".json")
	stdtest.Must(t, err)
	o := Options{Dir: project(t, string(text), ""), Flags: map[string]string{}}
	vars := map[string]string{}
	lines, err := os.ReadFile(base + ".env")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key, ok := strings.CutPrefix(name, "flag:"); ok {
			o.Flags[key] = value
		} else {
			vars[name] = value
		}
	}
	o.Strict = vars["strict"] == "1"
	o.Env = environment(vars)
	return o
}

func describe(t *testing.T, good bool, o Options) string {
	t.Helper()
	loaded, err := Load(o)
	invalid, isInvalid := errors.AsType[*InvalidError](err)
	if good != (err == nil) || (!good && !isInvalid) {
		t.Fatalf("Load: %v", err)
	}
	var b strings.Builder
	findings := func(all []Finding) {
		for _, f := range all {
			b.WriteString(string(f.Severity) + " " + f.String() + "\n")
		}
	}
	if !good {
		findings(invalid.Findings)
		return b.String()
	}
	effective, err := loaded.Effective()
	stdtest.Must(t, err)
	for _, k := range effective {
		if k.Origin.Source != FromDefault {
			b.WriteString(k.Key + " = " + string(k.Value) + " (" + k.Origin.String() + ")\n")
		}
	}
	findings(loaded.Findings)
	return b.String()
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if updating() {
		write(t, file, got, 0o600)
		return
	}
	want := stdtest.Read(t, file)
	stdtest.Diff(t, file, string(want), got)
}

func TestShow(t *testing.T) {
	loaded, err := Load(Options{
		Dir: project(t, `{"llm": {"apiKey": "${KEY}", "baseUrl": "https://a.example/v1?x"}}`, "KEY=sk-canary-1\n"),
		Env: environment(map[string]string{"SMA_LLM_BASE_URL": "https://b.example/v1", "SMA_ADAPTERS_WEB_TOKEN": "canary-2-canary-2"}),
	})
	stdtest.Must(t, err)
	text, err := loaded.Show(true)
	stdtest.Must(t, err)
	if strings.Contains(string(text), "canary") {
		t.Fatalf("a secret is shown:\n%s", text)
	}
	var shown struct {
		Settings struct {
			LLM struct{ Provider, BaseURL, APIKey, RequestsPerMinute string }
		}
		Origins map[string]string
	}
	stdtest.Must(t, json.Unmarshal(text, &shown))
	llm := shown.Settings.LLM
	for _, tt := range []struct{ name, got, want string }{
		{"key", llm.APIKey, keys.Stars},
		{"base URL", llm.BaseURL, "https://b.example/v1"},
		{"off", llm.RequestsPerMinute, "off"},
		{"origin of file and variable", shown.Origins["llm.apiKey"], "ship.json:1:20 via ${KEY}"},
		{"origin of variable", shown.Origins["llm.baseUrl"], "SMA_LLM_BASE_URL"},
		{"origin of consequence", shown.Origins["llm.provider"], "follows from llm.apiKey"},
		{"origin of default", shown.Origins["log.level"], "default"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s = %q, want %q", tt.name, tt.got, tt.want)
		}
	}
	plain, err := loaded.Show(false)
	if err != nil || !json.Valid(plain) || strings.Contains(string(plain), "origins") {
		t.Errorf("Show(false) = %v\n%s", err, plain)
	}
}
