package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The findings of a check are a list for programs, even when there are none.
func TestNoFindingsAreAList(t *testing.T) {
	b, err := json.Marshal(checkOf(nil, nil))
	stdtest.Must(t, err)
	if strings.Contains(string(b), `:null`) {
		t.Errorf("a list is null in %s", b)
	}
}
