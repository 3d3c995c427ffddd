package control

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

// JSON responds with a document.
func JSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a client that disconnected needs no answer
}

// Refuse responds with the reason why there is no document.
func Refuse(w http.ResponseWriter, code int, err error) {
	JSON(w, code, map[string]string{"error": err.Error()})
}

// Reply responds with a document, or with the reason why there is none.
func Reply(w http.ResponseWriter, doc any, err error) {
	switch {
	case errors.Is(err, platform.ErrNotFound):
		Refuse(w, http.StatusNotFound, err)
	case err != nil:
		Refuse(w, http.StatusServiceUnavailable, err)
	default:
		JSON(w, http.StatusOK, doc)
	}
}

// ReadOrder reads the body of a request.
func ReadOrder(w http.ResponseWriter, r *http.Request, order any) error {
	return json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder)).Decode(order)
}

// Answers serves the answer of a desk to a query, about the chat named by the parameter key or about all chats.
func Answers[T any](answer func(context.Context, query.Asked) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		params := r.URL.Query()
		q := query.Asked{Words: params.Get("q")}
		q.Limit, _ = strconv.Atoi(params.Get("limit")) // without one, the default
		if text := params.Get("key"); text != "" {
			var err error
			if q.ChatKey, err = messages.ParseChatKey(text); err != nil {
				Refuse(w, http.StatusBadRequest, err)
				return
			}
		}
		doc, err := answer(r.Context(), q)
		Reply(w, doc, err)
	}
}

// obeys has a desk carry out the order in the body of a request.
func obeys[O query.Order, R any](carryOut func(context.Context, O) (R, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var order O
		err := ReadOrder(w, r, &order)
		if err == nil {
			_, err = messages.ParseChatKey(string(order.To()))
		}
		if err != nil {
			Refuse(w, http.StatusBadRequest, err)
			return
		}
		result, err := carryOut(r.Context(), order)
		Reply(w, result, err)
	}
}

// ordered has an order carried out that is about no chat.
func ordered(carryOut func(ctx context.Context, order []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var order json.RawMessage
		if err := ReadOrder(w, r, &order); err != nil {
			Refuse(w, http.StatusBadRequest, err)
			return
		}
		result, err := carryOut(r.Context(), order)
		if err != nil {
			Refuse(w, http.StatusConflict, err)
			return
		}
		JSON(w, http.StatusOK, result)
	}
}
