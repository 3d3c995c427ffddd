package tool

import (
	"bytes"
	"encoding/json"
	"slices"
)

// shown is a schema as the model reads it: without the keywords that only limit values, which the text of a fault
// names when a call breaks one. The order of members is kept. A schema that it cannot read is returned unchanged.
func shown(schema json.RawMessage) json.RawMessage {
	limits := []string{
		"additionalProperties", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern",
	}
	return eachMember(schema, func(key string, value json.RawMessage) json.RawMessage {
		switch {
		case slices.Contains(limits, key):
			return nil
		case key == "items":
			return shown(value)
		case key == "properties":
			return eachMember(value, func(_ string, of json.RawMessage) json.RawMessage { return shown(of) })
		}
		return value
	})
}

// eachMember rewrites the values of an object, and leaves out those that become nil.
func eachMember(object json.RawMessage, rewrite func(key string, value json.RawMessage) json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(object))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return object
	}
	out := []byte{'{'}
	for dec.More() {
		var value json.RawMessage
		key, err := dec.Token()
		if err != nil || dec.Decode(&value) != nil {
			return object
		}
		name, _ := key.(string) // keys are strings
		if value = rewrite(name, value); value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, encode(name)...), ':'), value...)
	}
	return append(out, '}')
}
