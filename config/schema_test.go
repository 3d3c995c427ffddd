package config

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	schemacheck "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func compileSchema(t *testing.T) *schemacheck.Schema {
	t.Helper()
	doc, err := schemacheck.UnmarshalJSON(bytes.NewReader(Schema()))
	stdtest.Must(t, err)
	c := schemacheck.NewCompiler()
	stdtest.Must(t, c.AddResource("ship.schema.json", doc))
	s, err := c.Compile("ship.schema.json")
	stdtest.Must(t, err)
	return s
}

// TestSchemaAgreesWithLoad checks that the schema and config check accept the same files.
func TestSchemaAgreesWithLoad(t *testing.T) {
	s := compileSchema(t)
	for _, tt := range []struct {
		name, text string
		good       bool
	}{
		{"nothing", `{}`, true},
		{"unknown key", `{"llm": {"modell": "x"}}`, false},
		{"wrong type", `{"context": {"contexts": {"enabled": "yes"}}}`, false},
		{"null", `{"timezone": null}`, false},
		{"word of an enum", `{"context": {"chatQueue": {"mode": "interrupt"}}}`, true},
		{"other word", `{"context": {"chatQueue": {"mode": "steer"}}}`, false},
		{"expanded enum", `{"log": {"level": "${LEVEL:-info}"}}`, true},
		{"auto", `{"context": {"history": {"maxInputTokensApprox": "auto"}}}`, true},
		{"other word for a budget", `{"context": {"history": {"maxInputTokensApprox": "off"}}}`, false},
		{"budget too small", `{"context": {"history": {"maxInputTokensApprox": 1999}}}`, false},
		{"whole number with a point", `{"context": {"history": {"keepLastMessages": 30.0}}}`, true},
		{"fraction", `{"context": {"history": {"keepLastMessages": 30.5}}}`, false},
		{"below minimum", `{"context": {"history": {"keepLastMessages": 1}}}`, false},
		{"limit off", `{"limits": {"residentMB": "off"}}`, true},
		{"limit zero", `{"limits": {"residentMB": 0}}`, false},
		{"dollars", `{"budget": {"usdPerRun": 0.5}}`, true},
		{"no dollars", `{"budget": {"usdPerRun": 0}}`, false},
		{"list for text", `{"name": ["x"]}`, false},
		{"text for list", `{"skills": {"paths": "x"}}`, false},
		{"group", `{"adapters": {"feishu": {"groups": {"oc_1": {"addressed": "always"}}}}}`, true},
		{"number for a group", `{"adapters": {"feishu": {"groups": {"oc_1": 1}}}}`, false},
		{"telegram at its defaults", `{"adapters": {"telegram": {"access": "paired", "groups": "mention", "rateLimit": "standard", "egress": "tool"}}}`, true},
		{"telegram wide open", `{"adapters": {"telegram": {"access": "open", "groups": "all", "rateLimit": "off", "egress": "direct"}}}`, true},
		{"telegram for the owner", `{"adapters": {"telegram": {"access": "owner"}}}`, true},
		{"telegram groups by id", `{"adapters": {"telegram": {"groups": {"-100": {}}}}}`, false},
		{"telegram rate in numbers", `{"adapters": {"telegram": {"rateLimit": {"perSecond": 20}}}}`, false},
		{"telegram rate by another word", `{"adapters": {"telegram": {"rateLimit": "on"}}}`, false},
		{"egress left to habit", `{"adapters": {"web": {"egress": "auto"}}}`, false},
		{"temperature", `{"llm": {"models": {"m": {"temperature": 0}}}}`, true},
		{"temperature too high", `{"llm": {"models": {"m": {"temperature": 2.1}}}}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := schemacheck.UnmarshalJSON(strings.NewReader(tt.text))
			stdtest.Must(t, err)
			if err := s.Validate(doc); (err == nil) != tt.good {
				t.Errorf("schema says %v, want good = %v", err, tt.good)
			}
			_, err = Load(Options{Dir: project(t, tt.text, ""), Strict: true})
			if (err == nil) != tt.good {
				t.Errorf("Load says %v, want good = %v", err, tt.good)
			}
		})
	}
}

// TestTableIsComplete fails when a row of the table of keys is incomplete or names something
// unknown. CONTRIBUTING.md lists the steps for a new setting.
func TestTableIsComplete(t *testing.T) {
	rules := rules()
	var walk func(k keys.Key)
	walk = func(k keys.Key) {
		if _, ok := rules[k.Rule]; !ok && k.Rule != "" {
			t.Errorf("%s: rule %q does not exist", k.Path, k.Rule)
		}
		if !strings.HasSuffix(k.About, ".") {
			t.Errorf("%s: description %q is not a sentence", k.Path, k.About)
		}
		if (k.Min == nil) != (k.Max == nil) {
			t.Errorf("%s has only one bound", k.Path)
		}
		typ := k.Value.Type()
		if typ == reflect.TypeFor[Secret]() && k.Variable == "" {
			t.Errorf("%s: no variable to propose", k.Path)
		}
		if strings.HasSuffix(k.Name, "Url") && !k.Address {
			t.Errorf(`%s: an address needs reach:"address"`, k.Path)
		}
		if typ.Kind() == reflect.String && !k.Optional && k.Default == "" && len(k.Words) == 0 && !k.Required {
			t.Errorf("%s: neither a default nor omitempty", k.Path)
		}
		checkDefault(t, k)
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Map || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if keys.IsBlock(typ) {
			for _, child := range (keys.Key{Path: k.Path, Value: reflect.New(typ).Elem()}).Children() {
				walk(child)
			}
		}
	}
	for _, k := range keys.Table(&Settings{}).Children() {
		walk(k)
	}
}

// checkDefault compares a default with the value that the same text has in ship.json.
func checkDefault(t *testing.T, k keys.Key) {
	t.Helper()
	if k.Default == "" {
		return
	}
	l := loaderOf(t, Default())
	got := k
	got.Value = reflect.New(k.Value.Type()).Elem()
	l.ReadText(got, k.Default, Origin{Source: FromFlag})
	l.Check(got)
	if len(l.Findings) > 0 {
		t.Errorf("%s: the default %q is wrong: %v", k.Path, k.Default, l.Findings)
	}
}

// loaderOf is a loader with settings that were not read.
func loaderOf(t *testing.T, s Settings) *loader {
	t.Helper()
	l := &loader{}
	var err error
	if l.Reader, err = keys.NewReader(Options{Dir: t.TempDir()}.spec(FileName, olderKeys), keys.Table(&l.settings)); err != nil {
		t.Fatal(err)
	}
	l.settings = s
	return l
}

// faults are the errors of settings that were not read.
func faults(t *testing.T, s Settings) (faults []Finding) {
	t.Helper()
	l := loaderOf(t, s)
	l.validate()
	return slices.DeleteFunc(l.Findings, func(f Finding) bool { return f.Severity != Error })
}

// TestEveryKeyIsTried: each key is set by a valid project in testdata. Its golden file shows the
// value and where it came from.
func TestEveryKeyIsTried(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.json")
	stdtest.Must(t, err)
	tried := map[string]bool{}
	for _, file := range files {
		loaded, err := Load(goldenOptions(t, strings.TrimSuffix(file, ".json")))
		stdtest.Must(t, err)
		for _, k := range keys.Table(&loaded.Settings).Fixed() {
			_, inside := loaded.loader.Origins[k.Path]
			tried[k.Path] = tried[k.Path] || inside && loaded.Origin(k.Path).Source == FromFile
		}
	}
	for _, k := range keys.Table(&Settings{}).Fixed() {
		if !tried[k.Path] {
			t.Errorf("%s is not set in any project of testdata/good", k.Path)
		}
	}
}
