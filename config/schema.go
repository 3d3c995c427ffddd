package config

import (
	"bytes"
	"reflect"
)

// Schema returns the JSON Schema of ship.json, which is made from the table.
func Schema() []byte {
	s := Default()
	root := append(object{{"$schema", "https://json-schema.org/draft/2020-12/schema"}}, table(&s).schema()...)
	root = append(root, member{"title", FileName},
		member{"description", "Settings of a ShipMyAgent project. Everything is optional. Strings expand ${NAME}, ${NAME:-text} and ${file:path}."})
	text, _ := encode(root, "  ") // Marshalling plain values cannot fail.
	return append(text, '\n')
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range o {
		b.WriteByte("{,"[min(i, 1)])
		for j, v := range []any{m.name, m.value} {
			text, err := encode(v, "")
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

// schema describes the values of a key.
func (k keyValue) schema() object {
	o := k.valueSchema()
	about := k.about
	if k.idle != "" && !isBlock(k.value.Type()) {
		about += " No effect yet."
	}
	if about != "" {
		o = append(o, member{"description", about})
	}
	isText := k.value.Kind() == reflect.String || k.optional
	if isBlock(k.value.Type()) || k.name == "" || isText && k.value.IsZero() {
		return o
	}
	return append(o, member{"default", k.value.Interface()})
}

func (k keyValue) valueSchema() object {
	expandable := member{"pattern", `\$\{`} // What ${…} becomes is known only when settings are loaded.
	text, number := object{{"type", "string"}}, object{{"type", "integer"}}
	t := k.value.Type()
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
		number = append(number, member{"maximum", scalar.max}, member{least, scalar.min})
		return object{{"anyOf", []object{number, {{"const", scalar.word}}, append(text, expandable)}}}
	case t == reflect.TypeFor[Tags]():
		return object{{"anyOf", []object{{{"type", "boolean"}}, text, {{"items", text}, {"type", "array"}}}}}
	case isBlock(t):
		return k.blockSchema()
	case t.Kind() == reflect.Map:
		element, _ := k.child("")
		return object{{"additionalProperties", element.schema()}, {"type", "object"}}
	case t.Kind() == reflect.Slice:
		element := keyValue{value: reflect.New(t.Elem()).Elem()}
		return object{{"items", element.schema()}, {"type", "array"}}
	case t.Kind() == reflect.Bool:
		return object{{"type", "boolean"}}
	case len(k.words) > 0:
		return append(object{{"anyOf", []object{{{"enum", k.words}}, {expandable}}}}, text...)
	case k.max != nil:
		return append(number, member{"maximum", *k.max}, member{"minimum", *k.min})
	}
	return text
}

func (k keyValue) blockSchema() object {
	var properties object
	var required []string
	for _, c := range k.children() {
		properties = append(properties, member{c.name, c.schema()})
		if c.required {
			required = append(required, c.name)
		}
	}
	o := object{{"properties", properties}, {"additionalProperties", false}, {"type", "object"}}
	if required != nil {
		o = append(o, member{"required", required})
	}
	return o
}
