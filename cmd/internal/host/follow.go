package host

import (
	"encoding/json"
	"net/http"

	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

// gauges serves GET /control/gauges: the current values of the metrics that are gauges without labels.
func (c *control) gauges(w http.ResponseWriter, _ *http.Request) {
	all, err := c.host.registry.Gather()
	out := map[string]float64{}
	for _, family := range all {
		for _, m := range family.GetMetric() {
			if m.GetGauge() != nil && len(m.GetLabel()) == 0 {
				out[family.GetName()] = m.GetGauge().GetValue()
			}
		}
	}
	reply(w, out, err)
}

// follow serves GET /control/follow: what happens in a chat, one JSON object per line, until the client disconnects or
// the chat is passivated. Clients may follow it again.
func (c *control) follow(w http.ResponseWriter, r *http.Request) {
	key, err := messages.ParseChatKey(r.URL.Query().Get("key"))
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	if err := query.Present(c.host.store, key); err != nil {
		reply(w, nil, err)
		return
	}
	for _, p := range c.host.ports { // any of them reaches every chat
		frames, err := p.port.Watch(r.Context(), key)
		if err != nil {
			reply(w, nil, err)
			return
		}
		lines, out := json.NewEncoder(w), http.NewResponseController(w)
		for h := range query.Happenings(frames) {
			if lines.Encode(h) != nil || out.Flush() != nil {
				return // the client has disconnected
			}
		}
		return
	}
}
