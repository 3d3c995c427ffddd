package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

func TestSE3ToolsAreMasked(t *testing.T) {
	m := masker{func(raw json.RawMessage) json.RawMessage {
		return bytes.ReplaceAll(raw, []byte("sk-canary"), []byte("***"))
	}}
	in := tool.Result{Output: json.RawMessage(`{"text":"sk-canary"}`), Summary: "read sk-canary\n", Final: true}
	got, err := m.result(in, nil)
	want := tool.Result{Output: json.RawMessage(`{"text":"***"}`), Summary: "read ***\n", Final: true}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("result %v (-want +got):\n%s", err, diff)
	}
	_, err = m.result(tool.Result{}, fmt.Errorf("%w: sk-canary\nis wrong", tool.ErrInput))
	if err == nil || err.Error() != tool.ErrInput.Error()+": ***\nis wrong" {
		t.Errorf("error %q", err)
	}
	plain := errors.New("plain")
	if _, err := m.result(tool.Result{}, plain); err == nil || err.Error() != "plain" {
		t.Errorf("an error without secrets became %v", err)
	}
	if got, err := (masker{}).result(in, plain); err != plain || !cmp.Equal(got, in) { //nolint:errorlint // the very error
		t.Errorf("without a mask: %v, %v", got, err)
	}
}
