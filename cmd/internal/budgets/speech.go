package budgets

import (
	"context"
	"errors"
	"math"

	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

// Recordings accounts for the recordings that a model turns into text.
func (b *Budgets) Recordings(model string, usdPerMinute float64) speech.Meter {
	return b.speech(ledger.Call{Work: "transcribe", Model: model}, func(seconds int64) ledger.Amount {
		return ledger.Amount{Seconds: seconds, NanoUSD: int64(math.Round(float64(seconds) * usdPerMinute / 60 * nanoPerUSD))}
	})
}

// Texts accounts for the texts that a model speaks.
func (b *Budgets) Texts(model string, usdPerMillion float64) speech.Meter {
	return b.speech(ledger.Call{Work: "speak", Model: model}, func(characters int64) ledger.Amount {
		return ledger.Amount{Characters: characters, NanoUSD: int64(math.Round(float64(characters) * usdPerMillion * nanoPerUSD / 1e6))}
	})
}

// speech accounts for calls whose size is known in advance. They are charged to their chat, not to a person.
func (b *Budgets) speech(call ledger.Call, amount func(size int64) ledger.Amount) speech.Meter {
	return func(ctx context.Context, chat string, size int64) (settle func(paid bool), err error) {
		call := call
		call.Chat = messages.ChatKey(chat)
		cost := amount(size)
		done, err := b.reserve(ctx, call, func() ledger.Amount { return cost })
		exhausted, ok := errors.AsType[*ledger.Exhausted](err)
		switch {
		case ok:
			return nil, &speech.Error{Reason: speech.ReasonRate, Message: exhausted.Error()}
		case err != nil && ctx.Err() != nil:
			return nil, err
		case err != nil:
			return nil, &speech.Error{Reason: speech.ReasonProgram, Message: "what it may use cannot be recorded", Err: err}
		}
		return func(paid bool) {
			if !paid {
				cost = ledger.Amount{}
			}
			done(cost)
		}, nil
	}
}
