package plainjson_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

func TestAppend(t *testing.T) {
	got, err := plainjson.Append([]byte("x "), map[string]string{"a": "<b> & \n"})
	if want := `x {"a":"<b> & \n"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if got, err = plainjson.Append([]byte("x"), func() {}); err == nil || string(got) != "x" {
		t.Errorf("a function was encoded: %s, %v", got, err)
	}
}
