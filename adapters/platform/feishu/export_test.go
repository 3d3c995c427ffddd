package feishu

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// MapForTest maps an event of a kind that goes to chats.
func MapForTest(kind string, event []byte) (platform.Inbound, bool) {
	r, err := decodeArrived(kind, event)
	if err != nil {
		return platform.Inbound{}, false
	}
	m := mapper{bot: "ou_bot", commands: []string{"stop"}}
	if r.Message.Recalled {
		return m.recalled(r.Message), true
	}
	return m.inbound(r).in, true
}

// ForwardsForTest maps the service's list of what a message contains.
func ForwardsForTest(list []byte) (platform.Inbound, bool) {
	var items []listed
	if json.Unmarshal(list, &items) != nil {
		return platform.Inbound{}, false
	}
	msg := message{ID: "om_1", Chat: "oc_1", Kind: kindForwards, found: found{Forwards: forwardsOf("om_1", items)}}
	return mapper{}.inbound(received{Message: msg}).in, true
}

// MissingForTest decodes the service's list of scopes.
func MissingForTest(list []byte) ([]Need, bool) {
	var grants []scopeGrant
	if json.Unmarshal(list, &grants) != nil {
		return nil, false
	}
	return missing(Options{}.Needs(), grants), true
}
