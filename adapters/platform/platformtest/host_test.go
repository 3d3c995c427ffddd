package platformtest_test

import (
	"errors"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
)

func TestHostKnowsWhatItTook(t *testing.T) {
	h := platformtest.NewHost()
	no := errors.New("no")
	h.Refuse(func(in platform.Inbound) error {
		if in.IngressID == "2" {
			return no
		}
		return nil
	})
	in := []platform.Inbound{{ChatKey: "a", IngressID: "1"}, {ChatKey: "a", IngressID: "2"}, {ChatKey: "b", IngressID: "1"}, {ChatKey: "a", IngressID: "1"}}
	got := h.Accept(t.Context(), in)
	if got[0].Err != nil || !errors.Is(got[1].Err, no) || got[2].Duplicate || !got[3].Duplicate {
		t.Errorf("got %+v", got)
	}
	if len(h.Accepted()) != 2 || len(h.Offered()) != 4 {
		t.Errorf("taken %d, offered %d", len(h.Accepted()), len(h.Offered()))
	}
	h.Status(true, "")
	h.AwaitUp(t)
}
