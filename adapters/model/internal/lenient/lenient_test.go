package lenient

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A server may send anything. A long row of brackets must not exhaust the stack, which would end the process.
func TestDeepJSONIsNotValid(t *testing.T) {
	if deep := append([]byte(`{"choices":`), bytes.Repeat([]byte("["), 15<<20)...); Valid(deep) {
		t.Error("a row of brackets is valid")
	}
	long, err := json.Marshal(map[string]string{"text": string(bytes.Repeat([]byte("a"), 4<<20))})
	stdtest.Must(t, err)
	if !Valid(long) || Valid(long[1:]) {
		t.Error("a long object is not what it is")
	}
}
