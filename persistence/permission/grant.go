// Package permission defines what people permit for a chat: the grants. It is pure; the store of
// grants is [github.com/shipmyagent/shipmyagent/persistence.GrantStore].
package permission

// Grant is a person's permission: commands that a rule covers run without approval, or files of a
// folder may be sent, in one chat, for one person, for a time.
type Grant struct {
	// ID is the id of the ingress or the decision that gave it; repeating it does not change the
	// grant.
	ID     string `json:"id"`
	Person string `json:"person,omitempty"` // who gave it, and by default for whom, as <platform>-<userId>
	// For is the platform's id of the person it applies to, if another person gave it.
	For    string `json:"for,omitempty"`
	Folder string `json:"folder,omitempty"`
	Rule   string `json:"rule"`
	// FilesIn is set instead of a rule: files directly in this folder of the project may be sent to
	// the chat.
	FilesIn string `json:"filesIn,omitempty"`
	// Binds are what the rule is bound to if its program runs files: digests of everything that would
	// take effect. Without them the words alone decide.
	Binds []string `json:"binds,omitempty"`
	From  int64    `json:"from"` // unix milliseconds
	// Until is when it ends, in unix milliseconds. 0 means never: it is what people approved under a
	// rule of the operator's.
	Until int64 `json:"until,omitempty"`
	// Boot and Up identify the running system and its monotonic clock when the grant was given; Boot
	// is empty if there is no such clock.
	Boot string `json:"boot,omitempty"`
	Up   int64  `json:"up,omitempty"` // milliseconds
	// N is the number in the grant's name for people, which is g and this number.
	N int `json:"n,omitempty"`
	// Revoked is when it was revoked, in unix milliseconds, or 0. A revoked grant is kept until it
	// would have ended, so that its id and its number are not reused.
	Revoked int64 `json:"revoked,omitempty"`
}

// Covers describes the grant in a few words, for logs.
func (g Grant) Covers() string {
	if g.FilesIn != "" {
		return "files in " + g.FilesIn
	}
	return g.Rule
}

// Number numbers, in place, grants without a number: those of older versions, and new ones.
// It is deterministic.
func Number(list []Grant) {
	last := 0
	for _, g := range list {
		last = max(last, g.N)
	}
	for i := range list {
		if list[i].N == 0 {
			last++
			list[i].N = last
		}
	}
}
