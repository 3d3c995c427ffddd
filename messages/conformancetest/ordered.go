package conformancetest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// object is a JSON object whose members keep their order: that of tools matters.
type object struct {
	names  []string
	values map[string]any
}

func (o *object) MarshalJSON() ([]byte, error) {
	var members []rawjson.Member
	for _, name := range o.names {
		value, err := json.Marshal(o.values[name])
		if err != nil {
			return nil, err
		}
		members = append(members, rawjson.Member{Name: name, Value: value})
	}
	return rawjson.AppendObject(nil, members), nil
}

func (o *object) set(name string, value any) {
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

func (o *object) drop(name string) {
	delete(o.values, name)
	o.names = slices.DeleteFunc(o.names, func(n string) bool { return n == name })
}

// parse reads a value: objects as *object, numbers as float64.
func parse(raw []byte) (any, error) {
	if err := rawjson.Check(raw); err != nil {
		return nil, fmt.Errorf("read a case: %w", err)
	}
	return read(raw)
}

func read(raw []byte) (any, error) {
	var value any
	var err error
	switch rawjson.KindOf(raw) {
	case rawjson.Object:
		out := &object{values: map[string]any{}}
		for name, v := range rawjson.Members(raw) {
			if value, err = read(v); err != nil {
				return nil, err
			}
			out.set(string(name), value)
		}
		return out, nil
	case rawjson.Array:
		out := []any{}
		for _, v := range rawjson.Elements(raw) {
			if value, err = read(v); err != nil {
				return nil, err
			}
			out = append(out, value)
		}
		return out, nil
	default:
		err = json.Unmarshal(raw, &value)
		return value, err
	}
}
