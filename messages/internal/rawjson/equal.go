package rawjson

import (
	"encoding/json"
	"reflect"
)

// Equal reports whether two valid values are the same as JavaScript values:
// member order, layout and the spelling of numbers do not count. An absent value
// equals only an absent one.
func Equal(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
