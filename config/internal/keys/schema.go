package keys

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// Schema returns the JSON Schema of a table with its defaults.
func (k Key) Schema(title, description string) []byte {
	k.SetDefaults()
	root := append(object{{"$schema", "https://json-schema.org/draft/2020-12/schema"}}, k.schema()...)
	root = append(root, member{"title", title}, member{"description", description})
	text, _ := Encode(root, "  ") // Marshalling plain values cannot fail.
	return append(text, '\n')
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	Name  string
	Value any
}

// MarshalJSON writes the members.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range o {
		b.WriteByte("{,"[min(i, 1)])
		for j, v := range []any{m.Name, m.Value} {
			text, err := Encode(v, "")
			if err != nil {
				return nil, err
			}
			b.WriteString([]string{"", ":"}[j])
			b.Write(text)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (k Key) schema() object {
	o := k.valueSchema()
	if k.About != "" {
		o = append(o, member{"description", k.About})
	}
	isText := k.Value.Kind() == reflect.String || k.Optional
	if IsBlock(k.Value.Type()) || k.Name == "" || isText && k.Value.IsZero() {
		return o
	}
	return append(o, member{"default", k.Value.Interface()})
}

func (k Key) valueSchema() object {
	expandable := member{"pattern", `\$\{`} // What ${…} becomes is known only when settings are loaded.
	text, number := object{{"type", "string"}}, object{{"type", "integer"}}
	t := k.Value.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Float64 {
		number = object{{"type", "number"}}
	}
	scalar, isScalar := scalarOf(t)
	switch {
	case isScalar:
		least := "minimum"
		if scalar.above {
			least = "exclusiveMinimum"
		}
		number = append(number, member{"maximum", scalar.Max}, member{least, scalar.Min})
		return object{{"anyOf", []object{number, {{"const", scalar.word}}, append(text, expandable)}}}
	case t == reflect.TypeFor[Tags]():
		return object{{"anyOf", []object{{{"type", "boolean"}}, text, {{"items", text}, {"type", "array"}}}}}
	case IsBlock(t):
		return k.blockSchema()
	case t.Kind() == reflect.Map:
		element, _ := k.Child("")
		return object{{"additionalProperties", element.schema()}, {"type", "object"}}
	case t.Kind() == reflect.Slice:
		element := Key{Value: reflect.New(t.Elem()).Elem()}
		return object{{"items", element.schema()}, {"type", "array"}}
	case t.Kind() == reflect.Bool:
		return object{{"type", "boolean"}}
	case len(k.Words) > 0:
		return append(object{{"anyOf", []object{{{"enum", k.Words}}, {expandable}}}}, text...)
	case k.Max != nil:
		return append(number, member{"maximum", *k.Max}, member{"minimum", *k.Min})
	}
	return text
}

func (k Key) blockSchema() object {
	var properties object
	var required []string
	for _, c := range k.Children() {
		properties = append(properties, member{c.Name, c.schema()})
		if c.Required {
			required = append(required, c.Name)
		}
	}
	o := object{{"properties", properties}, {"additionalProperties", false}, {"type", "object"}}
	if required != nil {
		o = append(o, member{"required", required})
	}
	return o
}

// Encode writes a value as JSON, without escapes for HTML.
func Encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
