package errand

import "github.com/shipmyagent/shipmyagent/messages/plainjson"

// Line is a turn as the model reads it. What an errand leaves unset is left out.
type Line struct {
	N    int    `json:"n,omitempty"`
	At   string `json:"at,omitempty"`
	Who  string `json:"who"`
	From string `json:"from,omitempty"`
	ID   string `json:"id,omitempty"`
	// Forwarded is set if the words are not those of the sender.
	Forwarded bool   `json:"forwarded,omitempty"`
	Text      string `json:"text,omitempty"`
	Calls     []Call `json:"calls,omitempty"`
}

// Call is a call of a [Line].
type Call struct {
	Tool string `json:"tool"`
	In   string `json:"in,omitempty"`
	Out  string `json:"out,omitempty"`
}

// AppendLine appends the line as JSON, with the newline.
func AppendLine(dst []byte, l Line) []byte {
	dst, _ = plainjson.Append(dst, l) // Strings and numbers always encode.
	return append(dst, '\n')
}
