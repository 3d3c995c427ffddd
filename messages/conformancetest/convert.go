package conformancetest

import (
	"fmt"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Convert converts a list of messages one by one.
func Convert(list []uimessage.Message, opts modelmessage.Options) ([]modelmessage.Message, error) {
	out := make([]modelmessage.Message, 0, len(list)+len(list)/2)
	for i := range list {
		var err error
		if out, err = modelmessage.AppendConverted(out, &list[i], opts); err != nil {
			return nil, fmt.Errorf("convert message %d: %w", i, err)
		}
	}
	return out, nil
}
