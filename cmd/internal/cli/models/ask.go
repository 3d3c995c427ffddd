package models

import (
	"context"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/cmd/internal/endpoints"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// askWithin bounds one question to a model.
const askWithin = 90 * time.Second

// reply says how a model answered a question.
type reply struct {
	took  time.Duration
	usage model.Usage
	err   error // an [*model.Error], unless the time was over
}

// askModel asks one model a question of one line, as the host would ask it, but without its fallbacks and without a
// second attempt. The service may charge for it.
func askModel(ctx context.Context, llm config.LLM, f config.Fallback, addressKey string) reply {
	transport := provider.NewTransport()
	defer transport.CloseIdleConnections()
	e := endpoints.Of(llm, f)
	e.AddressKey = addressKey
	return timed(ctx, func(ctx context.Context, r *reply) error {
		m, err := provider.New(provider.Options{
			Endpoint: e, FirstByteTimeout: time.Duration(llm.FirstByteS) * time.Second, IdleTimeout: time.Duration(llm.IdleTimeoutS) * time.Second,
			MaxAttempts: 1, Transport: transport,
		})
		if err != nil {
			return &model.Error{Reason: model.ReasonAddress, Message: err.Error()}
		}
		req := model.Request{ID: "check", Messages: []modelmessage.Message{{Role: modelmessage.RoleUser, Text: "Answer with the word OK."}}}
		for event, err := range m.Stream(ctx, req) {
			if err != nil {
				return err
			}
			if event.Kind == model.EventFinish {
				r.usage = event.Usage
			}
		}
		return nil
	})
}

// askEmbeddings asks the embedding model for the vector of one word.
func askEmbeddings(ctx context.Context, llm config.LLM, name string) reply {
	transport := provider.NewTransport()
	defer transport.CloseIdleConnections()
	f := llm.Main()
	f.Model = name
	return timed(ctx, func(ctx context.Context, _ *reply) error {
		embedder, err := provider.NewEmbedder(endpoints.Of(llm, f), transport, nil)
		if err != nil {
			return &model.Error{Reason: model.ReasonAddress, Message: err.Error()}
		}
		_, err = embedder.Embed(ctx, model.Payer{}, []string{"OK"})
		return err
	})
}

func timed(ctx context.Context, ask func(context.Context, *reply) error) (r reply) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	began := time.Now()
	r.err = ask(ctx, &r)
	r.took = time.Since(began)
	return r
}
