package feishu

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/httpcall"
)

// ErrSecret means that the service refuses the app's id or secret. It ends Receive.
var ErrSecret = errors.New("feishu refuses the app: copy App ID and App Secret again from the developer console (Credentials & Basic Info), set FEISHU_APP_SECRET, and start anew")

// Error codes of the service, by their meaning to us.
const (
	codeInvalidApp    = 10003
	codeInvalidSecret = 10014
	codeScope         = 99991672 // the app lacks the scope
	codeRate          = 99991400
	codeRateChat      = 230020
	codeRateService   = 11232  // rate limit for creating messages
	codeSending       = 230049 // the message with this uuid is being sent
	codeBadRequest    = 230001
	codeCardContent   = 230099
	codeTooLong       = 230025
)

// isSecretRefused recognizes the answers to a wrong id or secret.
func isSecretRefused(err error) bool {
	e, ok := errors.AsType[*api.Error](err)
	return ok && (e.Code == codeInvalidSecret || e.Code == codeInvalidApp || e.Code == 1000040351)
}

// sendError converts the error of a send, if there is one.
func sendError(err error) error {
	if _, ok := errors.AsType[*platform.Error](err); ok || err == nil {
		return err
	}
	if e, ok := errors.AsType[*api.Error](err); ok {
		return refusal(e)
	}
	return httpcall.SendFailed(err)
}

// refusal classifies a refusal by the service.
func refusal(e *api.Error) *platform.Error {
	out := &platform.Error{Reason: platform.SendRefused, Err: e}
	is := func(codes ...int) bool { return slices.Contains(codes, e.Code) }
	switch {
	case is(codeRate, codeRateChat, codeRateService, codeSending) || e.Status == http.StatusTooManyRequests:
		out.Reason, out.Retryable, out.RetryAfter = platform.SendRate, true, max(e.RetryAfter, time.Second)
	case e.Status >= http.StatusInternalServerError:
		out.Reason, out.Retryable = platform.SendServer, true
	case is(codeInvalidApp, codeInvalidSecret) || e.IsTokenStale():
		out.Reason = platform.SendAuth
	// Not in the chat, bot feature disabled, no right to write, not available to the person, muted.
	case is(230002, 230006, 230013, 230017, 230018, 230027, 230035, 230038, 230053, codeScope):
		out.Reason = platform.SendForbidden
	// The chat, the topic or the replied-to message is gone.
	case is(230011, 230019, 230110, 232006, 232009, 232010), e.Code == codeBadRequest && says(e, "receive_id", "invalid ids", "open_message_id"):
		out.Reason = platform.SendNotFound
	}
	return out
}

// says reports whether a description contains one of some words, which are in lower case.
func says(e *api.Error, words ...string) bool { return botkit.Says(e.Message, words...) }

// isMarkupRefused reports that the service cannot parse the content of a message; nothing was sent.
func isMarkupRefused(err error) bool {
	e, ok := errors.AsType[*api.Error](err)
	return ok && (e.Code == codeCardContent || e.Code == codeTooLong || e.Code == codeBadRequest && says(e, "content"))
}
