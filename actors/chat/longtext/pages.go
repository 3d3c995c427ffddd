package longtext

import (
	"encoding/json"
	"errors"

	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Pages is a long text of which a part was sent. It is kept in a file with the chat, so that the rest survives a
// restart.
type Pages struct {
	V   int            `json:"v"`
	Row journal.RowKey `json:"row"` // of the first page
	// Text is the full text, and At is how much of it has been sent.
	Text string `json:"text"`
	At   int    `json:"at"`
	// By is the ingress that last asked for a page, and From is where that page began: the same ingress, repeated
	// after a crash, gets the same page.
	By   string `json:"by,omitempty"`
	From int    `json:"from,omitempty"`
}

// ReadPages decodes the contents of a file. It returns nil for an empty file.
func ReadPages(data []byte) (*Pages, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var p Pages
	err := json.Unmarshal(data, &p)
	if err == nil && (p.V != 1 || p.From < 0 || p.From > p.At || p.At > len(p.Text)) {
		err = errors.New("the positions do not fit the text")
	}
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// Encode returns the contents of the file; nil for no pages.
func (p *Pages) Encode() []byte {
	if p == nil {
		return nil
	}
	data, _ := json.Marshal(p) // numbers and strings only, so it cannot fail
	return data
}

// Next returns where the page begins that an ingress asks for, or false if everything was sent.
func (p *Pages) Next(ingressID string) (from int, more bool) {
	from = p.At
	if p.By == ingressID {
		from = p.From
	}
	return from, from < len(p.Text)
}

// Rest returns everything from an offset on.
func (p *Pages) Rest(from int) string { return fenceAt(p.Text, from) + p.Text[from:] }

// Turned returns the pages after an ingress got the text between two offsets.
func (p *Pages) Turned(ingressID string, from, to int) *Pages {
	return &Pages{V: 1, Row: p.Row, Text: p.Text, At: to, By: ingressID, From: from}
}
