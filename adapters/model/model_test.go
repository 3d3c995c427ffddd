package model_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

func TestReasonOf(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want model.Reason
	}{
		{"typed", &model.Error{Reason: model.ReasonRate}, model.ReasonRate},
		{"wrapped", fmt.Errorf("ask: %w", &model.Error{Reason: model.ReasonCut}), model.ReasonCut},
		{"foreign", errors.New("x"), model.ReasonInternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := model.ReasonOf(tt.err); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	inner := errors.New("reset")
	tests := []struct {
		name string
		err  *model.Error
		want string
	}{
		{"message", &model.Error{Reason: model.ReasonAuth, Status: 401, Message: "no"}, "model: auth (HTTP 401): no"},
		{"cause", &model.Error{Reason: model.ReasonNetwork, Err: inner}, "model: network: reset"},
		{"bare", &model.Error{Reason: model.ReasonIdle}, "model: idle"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if err := (&model.Error{Err: inner}); !errors.Is(err, inner) {
		t.Error("the cause is not found")
	}
}

func TestMemo(t *testing.T) {
	var none *model.Memo
	none.Keep(1)
	if got := none.Take(); got != nil {
		t.Errorf("a nil memo kept %v", got)
	}
	m := new(model.Memo)
	m.Keep("a")
	m.Keep("b")
	if got := m.Take(); got != "b" {
		t.Errorf("took %v, want b", got)
	}
	if got := m.Take(); got != nil {
		t.Errorf("took %v twice", got)
	}
}
