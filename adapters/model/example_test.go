package model_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// parrot is a complete model: it repeats the last message.
type parrot struct{}

func (parrot) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if ctx.Err() != nil {
			yield(model.Event{}, context.Cause(ctx))
			return
		}
		last := req.Messages[len(req.Messages)-1]
		for _, e := range []model.Event{
			{Kind: model.EventTextStart, ID: "txt-0"},
			{Kind: model.EventTextDelta, ID: "txt-0", Delta: last.Text},
			{Kind: model.EventTextEnd, ID: "txt-0"},
			{Kind: model.EventFinish, Finish: model.FinishReason{Unified: "stop"}},
		} {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// A model is one method; its answer is read with a loop.
func Example() {
	var m model.Model = parrot{}
	req := model.Request{Messages: []modelmessage.Message{{Role: modelmessage.RoleUser, Text: "hello"}}}
	for e, err := range m.Stream(context.Background(), req) {
		if err != nil {
			fmt.Println("failed:", model.ReasonOf(err))
			return
		}
		fmt.Printf("%s %q\n", e.Kind, e.Delta)
	}
	// Output:
	// text-start ""
	// text-delta "hello"
	// text-end ""
	// finish ""
}
