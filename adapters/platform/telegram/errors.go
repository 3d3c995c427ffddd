package telegram

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/httpcall"
)

// ErrToken means that the server refuses the bot's token. It ends Receive.
var ErrToken = errors.New("telegram refuses the bot token: copy it again from @BotFather (/mybots, API Token), set TELEGRAM_BOT_TOKEN, and start anew")

// isTokenRefused recognizes the answers to a wrong token: 401, or 404 to a malformed one.
func isTokenRefused(err error) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && (e.Code == http.StatusUnauthorized || e.Code == http.StatusNotFound)
}

// sendError converts the error of a send, if there is one.
func sendError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*apiError](err); ok {
		return refusal(e)
	}
	return httpcall.SendFailed(err)
}

// refusal classifies a refusal by the server.
func refusal(e *apiError) *platform.Error {
	out := &platform.Error{Reason: platform.SendRefused, Err: e}
	switch {
	case e.MigrateTo != 0:
		out.Reason, out.NewChat = platform.SendMigrated, strconv.FormatInt(e.MigrateTo, 10)
	case e.Code == http.StatusTooManyRequests:
		out.Reason, out.Retryable, out.RetryAfter = platform.SendRate, true, max(e.RetryAfter, time.Second)
	case e.Code >= http.StatusInternalServerError:
		out.Reason, out.Retryable = platform.SendServer, true
	case e.Code == http.StatusUnauthorized, e.Code == http.StatusNotFound:
		out.Reason = platform.SendAuth
	case e.Code == http.StatusForbidden, says(e, "not enough rights", "have no rights", "have no write access", "chat_write_forbidden", "topic_closed",
		"need administrator rights", "chat_restricted", "user_is_blocked", "chat_send_"):
		out.Reason = platform.SendForbidden
	case says(e, "chat not found", "thread not found", "topic_deleted", "message to edit not found", "message_id_invalid",
		"peer_id_invalid", "user not found", "group chat was deleted", "message to be replied not found", "deactivated"):
		out.Reason = platform.SendNotFound
	}
	return out
}

// says reports whether a description contains one of some words, which are in lower case.
func says(e *apiError, words ...string) bool { return botkit.Says(e.Description, words...) }

// isMarkupRefused reports that the server cannot parse the markup, or that the text is too long
// with it: markup may add up to 32 KiB. Nothing was sent.
func isMarkupRefused(err error) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && e.Code == http.StatusBadRequest && says(e, "can't parse entities", "text is too long", "entity_", "entities_")
}

func isUnchanged(err error) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && e.Code == http.StatusBadRequest && says(e, "message is not modified")
}
