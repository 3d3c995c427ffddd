package feishu

import "github.com/shipmyagent/shipmyagent/adapters/platform"

// MapForTest maps the event of a message.
func MapForTest(event []byte) (platform.Inbound, bool) {
	r, err := decodeReceived(event)
	if err != nil {
		return platform.Inbound{}, false
	}
	return mapper{bot: "ou_bot", commands: map[string]bool{"stop": true}}.inbound(r).in, true
}
