package host

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The start message says which bot it is and how to open it, once the service has reported that.
func TestSummaryNamesTheBot(t *testing.T) {
	p := newProject(t)
	h := p.start(t, Options{}, telegramFlags(p))
	summary, err := h.Summary(t.Context())
	stdtest.Must(t, err)
	got := map[string]string{}
	for _, s := range summary.Platforms {
		if s.Bot != "" {
			got[s.Name] = s.Bot + " " + s.Link
		}
	}
	stdtest.Diff(t, "", map[string]string{"telegram": "@sample_bot https://t.me/sample_bot"}, got)
}
