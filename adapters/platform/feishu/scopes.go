package feishu

import (
	"context"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
)

// Need is a feature for which the app needs one of several scopes.
type Need struct {
	Scopes []string // any one suffices; the first is the one to request
	For    string   // what is missing without it
	// Must: the bot cannot answer at all without it.
	Must bool
}

// Scope returns the scope to request.
func (n Need) Scope() string { return n.Scopes[0] }

// Needs returns the scopes that the app needs with its options.
func (o Options) Needs() []Need {
	o = o.withDefaults()
	needs := []Need{
		{Scopes: []string{"im:message:send_as_bot", "im:message"}, For: "nothing can be sent", Must: true},
		{Scopes: []string{"im:message.p2p_msg:readonly", "im:message.p2p_msg"}, For: "messages of one person are not heard", Must: true},
		{Scopes: []string{"im:message.group_at_msg:readonly", "im:message.group_at_msg"}, For: "mentions in groups are not heard"},
		{Scopes: []string{"im:message", "im:message:readonly"}, For: "files and forwarded messages of people cannot be fetched, and answers to the bot are not known as such"},
		{Scopes: []string{"im:resource", "im:resource:upload"}, For: "files cannot be sent"},
		{Scopes: []string{scopeNames}, For: "people are shown by their ids instead of their names"},
	}
	if o.Drafts == DraftsCard {
		needs = append(needs, Need{Scopes: []string{"cardkit:card:write"}, For: "answers are not shown while they are written"},
			Need{Scopes: []string{"cardkit:card:read"}, For: "an answer that a restart interrupted is sent anew instead of in its card"})
	}
	if o.Administered {
		needs = append(needs, Need{Scopes: []string{"im:chat:readonly", "im:chat"}, For: "administrators of groups are not known, so that they cannot decide"})
	}
	for _, g := range o.Groups {
		if g.Addressed == platform.GroupsAll {
			needs = append(needs, Need{Scopes: []string{"im:message.group_msg"}, For: "messages in groups that mention nobody are not heard"})
			break
		}
	}
	return needs
}

// scopeNames is for requesting the names of people.
const scopeNames = "contact:user.basic_profile:readonly"

// granted is the status of a scope that the app has.
const granted = 1

// Missing asks the service which needed scopes the app lacks. This request needs no scope itself.
// If the id or secret is wrong, the error is [ErrSecret].
func (p *Platform) Missing(ctx context.Context) ([]Need, error) {
	if err := p.identify(ctx); err != nil {
		if isSecretRefused(err) {
			err = ErrSecret
		}
		return nil, err
	}
	got, err := api.Get[struct {
		Scopes []scopeGrant `json:"scopes"`
	}](ctx, p.client, "/open-apis/application/v6/scopes", nil)
	if err != nil {
		return nil, err
	}
	return missing(p.opts.Needs(), got.Scopes), nil
}

// scopeGrant is the status of one scope.
type scopeGrant struct {
	Name   string `json:"scope_name"`
	Status int    `json:"grant_status"`
	Type   string `json:"scope_type"` // for a person (user) or the app; empty if unknown
}

func missing(needs []Need, grants []scopeGrant) []Need {
	has := func(scope string) bool {
		return slices.ContainsFunc(grants, func(g scopeGrant) bool {
			return g.Name == scope && g.Status == granted && !strings.EqualFold(g.Type, "user")
		})
	}
	return slices.DeleteFunc(needs, func(n Need) bool { return slices.ContainsFunc(n.Scopes, has) })
}
