package uistream

import (
	"encoding/json"
	"strconv"
	"unicode/utf16"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// mergeMetadata merges patch into base as the SDK does: objects deeply, all else
// replaced. Names that could reach a prototype are left out of a patch.
func mergeMetadata(base, patch json.RawMessage) (json.RawMessage, error) {
	kind := rawjson.KindOf(base)
	if kind == rawjson.None || kind == rawjson.Null {
		return patch, nil
	}
	result := entriesOf(base)
	index := make(map[string]int, len(result))
	for i, m := range result {
		index[m.Name] = i
	}
	for _, m := range entriesOf(patch) {
		if m.Name == "__proto__" || m.Name == "constructor" || m.Name == "prototype" {
			continue
		}
		if kind != rawjson.Object && kind != rawjson.Array {
			return nil, ErrMetadata
		}
		i, known := index[m.Name]
		if !known {
			index[m.Name] = len(result)
			result = append(result, m)
			continue
		}
		if rawjson.KindOf(result[i].Value) == rawjson.Object && rawjson.KindOf(m.Value) == rawjson.Object {
			merged, err := mergeMetadata(result[i].Value, m.Value)
			if err != nil {
				return nil, err // Unreachable: the base is an object.
			}
			m.Value = merged
		}
		result[i].Value = m.Value
	}
	return rawjson.AppendObject(nil, result), nil
}

// entriesOf are the members of a value as a JavaScript object spread sees them.
func entriesOf(v json.RawMessage) []uimessage.Member {
	var list []uimessage.Member
	switch rawjson.KindOf(v) {
	case rawjson.Object:
		index := map[string]int{}
		for k, e := range rawjson.Members(v) {
			if i, again := index[string(k)]; again {
				list[i].Value = e
				continue
			}
			index[string(k)] = len(list)
			list = append(list, uimessage.Member{Name: string(k), Value: e})
		}
	case rawjson.Array:
		for i, e := range rawjson.Elements(v) {
			list = append(list, uimessage.Member{Name: strconv.Itoa(i), Value: e})
		}
	case rawjson.String:
		text, _ := rawjson.Unquote(v)
		for i, unit := range utf16.Encode([]rune(text)) {
			list = append(list, uimessage.Member{Name: strconv.Itoa(i), Value: rawjson.AppendString(nil, string(rune(unit)))})
		}
	case rawjson.None, rawjson.Null, rawjson.Bool, rawjson.Number:
	}
	return list
}
