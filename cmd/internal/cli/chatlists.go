package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// chatList is what chats have to list: of one, or of all. It comes from the host, or
// from the files while none runs.
type chatList[T any] struct {
	route  string // of the control socket
	unread string // says that it cannot be read
	files  func(context.Context, *filestore.Store, messages.ChatKey) ([]T, error)
}

// run reads the list of the chat that the arguments name, or of all, and has it shown.
func (l chatList[T]) run(a *app, c *cobra.Command, args []string, show func([]T) error) error {
	key, err := chatArg(args)
	if err != nil {
		return err
	}
	return a.withChats(c.Context(), func(s source, _ string) error {
		lines, err := l.read(c.Context(), s, key)
		if err != nil {
			return listFailure(l.unread, key, err)
		}
		return show(lines)
	})
}

func (l chatList[T]) read(ctx context.Context, s source, key messages.ChatKey) ([]T, error) {
	if s.store != nil {
		return l.files(ctx, s.store, key)
	}
	var lines []T
	err := s.control.get(ctx, "/control/"+l.route+"?key="+url.QueryEscape(string(key)), &lines)
	if errors.Is(err, errNotRunning) && key == "" {
		return []T{}, nil
	}
	return lines, err
}

// orderChat has a chat carry out an order. Only a running host can; idle says so.
func orderChat[R any](ctx context.Context, a *app, route, idle, unread string, key messages.ChatKey, order any) (R, error) {
	var result R
	_, state, err := a.folders(nil)
	if err != nil {
		return result, err
	}
	err = newControl(state).post(ctx, "/control/"+route, order, &result)
	switch {
	case errors.Is(err, errNotRunning):
		return result, &Failure{Code: CodeFailed, What: idle, Help: "sma run"}
	case err != nil:
		return result, listFailure(unread, key, err)
	default:
		return result, nil
	}
}

// post sends one document and reads the one that answers it.
func (c control) post(ctx context.Context, path string, doc, into any) error {
	body, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encode the order: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://host"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	return c.do(req, into)
}

// chatArg is the chat that is named, if any.
func chatArg(args []string) (messages.ChatKey, error) {
	if len(args) == 0 {
		return "", nil
	}
	key, err := messages.ParseChatKey(args[0])
	if err != nil {
		return "", &Failure{Code: CodeUsage, What: "that is no chat key", Why: err, Help: "sma chats list"}
	}
	return key, nil
}

// listFailure is for people: there is no such chat, or it cannot be read.
func listFailure(unread string, key messages.ChatKey, err error) error {
	if errors.Is(err, platform.ErrNotFound) || errors.Is(err, errNoChat) || errors.Is(err, errNotRunning) {
		return &Failure{Code: CodeFailed, What: "there is no chat " + string(key), Help: "sma chats list"}
	}
	return &Failure{Code: CodeFailed, What: unread, Why: err, Help: "sma doctor"}
}
