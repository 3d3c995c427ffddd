// Package clock has the tool time_now, which tells the time in the project's zone or any other. The system text
// contains no time, so that prompts stay cacheable.
package clock

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// Name is the name of the tool.
const Name = "time_now"

//go:embed *.md *.schema.json
var docs embed.FS

// Clock is the tool time_now.
type Clock struct {
	tool.Described

	zone *time.Location
}

// New makes the tool, which tells the time in a time zone unless the model asks for another.
func New(zone *time.Location) *Clock {
	return &Clock{tool.DescribedBy(docs, "now", &tool.Spec{
		Name: Name, Title: "Look at the clock", ReadOnly: true, Repeatable: true, Deadline: 5 * time.Second,
	}), zone}
}

// Invoke implements [tool.Tool].
func (c *Clock) Invoke(_ context.Context, call tool.Call) (tool.Result, error) {
	var in struct {
		Zone string `json:"zone"`
	}
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	zone := c.zone
	if in.Zone != "" {
		z, err := time.LoadLocation(in.Zone)
		if err != nil || in.Zone == "Local" {
			return tool.Result{}, fmt.Errorf("%w: /zone: %q is not a time zone; names look like Europe/Berlin or UTC", tool.ErrInput, in.Zone)
		}
		zone = z
	}
	now := time.Now().In(zone)
	abbreviation, _ := now.Zone()
	return tool.Answer(struct {
		Time    string `json:"time"`
		Weekday string `json:"weekday"`
		Zone    string `json:"zone"`
		Short   string `json:"abbreviation"`
	}{now.Format(time.RFC3339), now.Weekday().String(), zone.String(), abbreviation}, now.Format("Mon 2 Jan 2006, 15:04 MST"))
}
