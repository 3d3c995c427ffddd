package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// narrowed denies a call that the loaded skills leave no room for. What a person
// agreed to was asked for before they did, and passes.
func (r *run) narrowed(c loop.Call) (tool.Verdict, bool) {
	if r.start.Only == nil || !r.gate.begun || r.gate.approved[c.ID] || slices.Contains(r.start.Only, c.Name) {
		return tool.Verdict{}, false
	}
	return tool.Verdict{Decision: tool.Deny, Reason: fmt.Sprintf(
		"a loaded skill limits the tools to %s; if its work is done, put it away with skills_load and unload: true, and call again",
		strings.Join(r.start.Only, ", "),
	)}, true
}
