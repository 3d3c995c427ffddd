package files

import (
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// Write is the tool write_file.
type Write struct{ changer }

func writeInput(call tool.Call) (path string, how rewrite, err error) {
	var in struct{ Path, Content string }
	err = call.Read(&in)
	return in.Path, func([]byte, bool, bool) ([]byte, error) { return []byte(in.Content), nil }, err
}
