package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
)

// maxOrder bounds the body of an order, in bytes.
const maxOrder = 1 << 20

// subject is what an audit line says of an order: whom or what it was about. Texts, codes and tokens are left out.
type subject struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Do      string           `json:"do"`
	Bot     string           `json:"bot"`
	ID      string           `json:"id"`
	Name    string           `json:"name"`
	Digest  string           `json:"digest"`
	Memory  string           `json:"memory"`
	Server  string           `json:"server"`
	Tool    string           `json:"tool"`
	Paused  *bool            `json:"paused"`
	Restart *bool            `json:"restart"`
}

// String lists the members that the order has.
func (s subject) String() string {
	var b strings.Builder
	for _, m := range []struct{ name, value string }{
		{"do", s.Do},
		{"bot", s.Bot},
		{"id", s.ID},
		{"name", s.Name},
		{"memory", s.Memory},
		{"server", s.Server},
		{"tool", s.Tool},
		{"paused", word(s.Paused)},
		{"restart", word(s.Restart)},
	} {
		if m.value != "" {
			fmt.Fprintf(&b, "%s=%s ", m.name, m.value)
		}
	}
	return strings.TrimSpace(b.String())
}

// word is true or false, or empty if the order does not say.
func word(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

// answered is a response that remembers its status.
type answered struct {
	http.ResponseWriter

	status int
}

// WriteHeader implements [http.ResponseWriter].
func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// recorded has an order carried out and then audited: who gave it, about what, and whether it was carried out.
func (o Options) recorded(name string, carryOut http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxOrder))
		if err != nil {
			Refuse(w, http.StatusBadRequest, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		to := subject{ID: r.URL.Query().Get("id")}
		_ = json.Unmarshal(body, &to) // the order itself refuses what it cannot read
		answer := &answered{w, http.StatusOK}
		carryOut(answer, r)
		result := "ok"
		if answer.status != http.StatusOK {
			result = "refused"
		}
		o.Audit(decision.AuditEntry{Event: decision.AuditOrder, ChatKey: to.ChatKey, Name: name, By: o.By, Digest: to.Digest, Result: result, Reason: to.String()})
	}
}
