package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	schemacheck "github.com/santhosh-tekuri/jsonschema/v6"
)

// expandable matches strings that contain ${…}, whose value is known only when settings are loaded.
const expandable = `\$\{`

func TestSchemaIsCurrent(t *testing.T) {
	got := generateSchema(t)
	if updating() {
		if err := os.WriteFile("ship.schema.json", got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(Schema()), string(got)); diff != "" {
		t.Errorf("ship.schema.json is not what the types say; run go test ./config -update (-file +types):\n%s", diff)
	}
}

// generateSchema makes the schema from the types, their tags and the defaults.
func generateSchema(t *testing.T) []byte {
	t.Helper()
	r := &jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true, Mapper: scalarSchema}
	root := r.Reflect(Settings{})
	root.Title = "ship.json"
	root.Description = "Settings of a ShipMyAgent project. Everything is optional. Strings expand ${NAME}, ${NAME:-text} and ${file:path}."
	addDefaults(root, reflect.ValueOf(Default()))
	group := reflect.New(reflect.TypeFor[Group]()).Elem()
	setDefaults(group)
	adapters, _ := root.Properties.Get("adapters")
	feishu, _ := adapters.Properties.Get("feishu")
	groups, _ := feishu.Properties.Get("groups")
	addDefaults(groups.AdditionalProperties, group)
	allowExpansion(root)
	text, err := encode(root, "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// scalarSchema describes the types that marshal themselves.
func scalarSchema(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[Secret]():
		return &jsonschema.Schema{Type: "string"}
	case reflect.TypeFor[Tags]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "boolean"}, {Type: "string"}, {Type: "array", Items: &jsonschema.Schema{Type: "string"}}}}
	}
	wanted, ok := scalarOf(t)
	if !ok {
		return nil
	}
	low, high := json.Number(fmt.Sprint(wanted.min)), json.Number(fmt.Sprint(wanted.max))
	number := &jsonschema.Schema{Type: "integer", Minimum: low, Maximum: high}
	if wanted.above {
		number = &jsonschema.Schema{Type: "number", ExclusiveMinimum: low, Maximum: high}
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{number, {Const: wanted.word}, {Type: "string", Pattern: expandable}}}
}

// addDefaults writes the defaults into the schema of a block.
func addDefaults(s *jsonschema.Schema, v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		property, _ := s.Properties.Get(f.name)
		switch value := v.Field(f.index); {
		case isBlock(value.Type()):
			addDefaults(property, value)
		case !f.optional || !value.IsZero():
			property.Default = value.Interface()
		}
	}
}

// allowExpansion accepts ${…} in place of an enum value.
func allowExpansion(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Enum) > 0 {
		s.AnyOf = []*jsonschema.Schema{{Enum: s.Enum}, {Pattern: expandable}}
		s.Enum = nil
	}
	allowExpansion(s.AdditionalProperties)
	allowExpansion(s.Items)
	if s.Properties == nil {
		return
	}
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		allowExpansion(pair.Value)
	}
}

func compileSchema(t *testing.T) *schemacheck.Schema {
	t.Helper()
	doc, err := schemacheck.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := schemacheck.NewCompiler()
	if err := c.AddResource("ship.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("ship.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemaAcceptsGoodFiles(t *testing.T) {
	s := compileSchema(t)
	files, err := filepath.Glob("testdata/good/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no good files: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue // An empty file is fine for Load, but no JSON.
		}
		doc, err := schemacheck.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
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
			if err != nil {
				t.Fatal(err)
			}
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
	var walk func(key string, typ reflect.Type)
	walk = func(key string, typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Map || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if !isBlock(typ) {
			return
		}
		for i, f := range fieldsOf(typ) {
			sub := joinKey(key, f.name)
			field := typ.Field(i)
			if text := field.Tag.Get("jsonschema_description"); !strings.HasSuffix(text, ".") {
				t.Errorf("%s: description %q is no sentence", sub, text)
			}
			if (f.min == nil) != (f.max == nil) {
				t.Errorf("%s has only one bound", sub)
			}
			if field.Type == reflect.TypeFor[Secret]() && f.variable == "" {
				t.Errorf("%s: no variable to propose", sub)
			}
			if strings.HasSuffix(f.name, "Url") && !f.address {
				t.Errorf(`%s: an address needs reach:"address"`, sub)
			}
			if field.Type.Kind() == reflect.String && !f.optional && f.initial == "" && len(f.enum) == 0 && !strings.Contains(field.Tag.Get("jsonschema"), "required") {
				t.Errorf("%s: neither a default nor omitempty", sub)
			}
			if strings.Contains((&checker{}).broken(f, "x"), "rule that does not exist") {
				t.Errorf("%s: rule %q does not exist", sub, f.rule)
			}
			checkDefault(t, sub, f, field.Type)
			walk(sub, field.Type)
		}
	}
	walk("", reflect.TypeFor[Settings]())
}

// checkDefault compares a default with the value that the same text has in ship.json.
func checkDefault(t *testing.T, key string, f field, typ reflect.Type) {
	t.Helper()
	if f.initial == "" {
		return
	}
	text := f.initial
	l := &loader{origins: origins{}, settings: Default()}
	got := keyValue{key: key, field: f, value: reflect.New(typ).Elem()}
	l.readText(got, text, Origin{Source: FromFlag})
	c := &checker{}
	got.walk(c.value)
	if len(l.findings) > 0 || len(c.faults) > 0 {
		t.Errorf("%s: the default %q is wrong: %v %v", key, text, l.findings, c.faults)
	}
	block := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "X", Type: typ, Tag: reflect.StructTag(fmt.Sprintf(`json:"x" default:%q`, text))}})).Elem()
	setDefaults(block)
	if diff := cmp.Diff(got.value.Interface(), block.Field(0).Interface()); diff != "" {
		t.Errorf("%s: the default %q is set as something else (-want +got):\n%s", key, text, diff)
	}
}

// TestEveryKeyIsTried: each key is set by a valid project in testdata. Its golden file shows the
// value and where it came from.
func TestEveryKeyIsTried(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.json")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, file := range files {
		loaded, err := Load(goldenOptions(t, strings.TrimSuffix(file, ".json")))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range fixedKeys(settingsValue(&loaded.Settings)) {
			_, inside := loaded.loader.origins[k.key]
			tried[k.key] = tried[k.key] || inside && loaded.Origin(k.key).Source == FromFile
		}
	}
	for _, k := range fixedKeys(settingsValue(&Settings{})) {
		if !tried[k.key] {
			t.Errorf("%s is not set in any project of testdata/good", k.key)
		}
	}
}
