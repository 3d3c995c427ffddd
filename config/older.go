package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/config/internal/jsonpos"
)

// olderKey is a key of an earlier ShipMyAgent.
type olderKey struct {
	// note says what to do instead; to is the key that takes its value over.
	note, to string
}

// olderKeys lists the keys of earlier versions. A block that is not listed itself
// is recognised by the keys listed below it.
func olderKeys() map[string]olderKey {
	const (
		listen  = `set adapters.web.listen, such as "127.0.0.1:3000"`
		dropped = "nothing replaces it"
		asks    = "changes ask for an approval, see permissions.exec"
	)
	keys := map[string]olderKey{
		"start.port":                         {note: listen},
		"start.host":                         {note: listen},
		"start.interactiveWeb":               {note: "set adapters.web.enabled"},
		"start.interactivePort":              {note: "pages and API share adapters.web.listen"},
		"llm.logMessages":                    {note: "the texts of messages are never logged"},
		"llm.temperature":                    {note: "set llm.models.<model>.temperature"},
		"llm.maxTokens":                      {note: "set llm.maxOutputTokens"},
		"llm.topP":                           {note: dropped},
		"llm.frequencyPenalty":               {note: dropped},
		"llm.presencePenalty":                {note: dropped},
		"llm.anthropicVersion":               {note: dropped},
		"permissions.read_repo":              {note: "reading inside the project is always possible"},
		"permissions.write_repo":             {note: asks},
		"permissions.exec_shell":             {note: "set permissions.exec.allow and permissions.exec.deny; what is in neither asks"},
		"permissions.open_pr":                {note: asks},
		"permissions.merge":                  {note: asks},
		"integrations":                       {to: "adapters"},
		"adapters.telegram.chatId":           {note: "the bot answers where it is addressed, see adapters.telegram.access and .groups"},
		"adapters.telegram.followupWindowMs": {note: "adapters.telegram.groups says which messages of a group are answered"},
		"adapters.telegram.groupAccess":      {note: "set adapters.telegram.access"},
		"adapters.feishu.domain":             {to: "adapters.feishu.baseUrl"},
		"adapters.feishu.adminUserIds":       {note: "set permissions.exec.approvers"},
		"adapters.qq":                        {note: "QQ is not supported"},
		"adapters.discord":                   {note: "Discord is not supported"},
	}
	addOlderContext(keys)
	return keys
}

func addOlderContext(keys map[string]olderKey) {
	const keepLast = "context.history.keepLastMessages"
	budget := olderKey{note: "set context.history.maxInputTokensApprox"}
	for _, block := range []string{"context.chatHistory.", "context.history.", "context."} {
		keys[block+"transcriptMaxMessages"] = olderKey{note: "set " + keepLast}
		keys[block+"transcriptMaxChars"] = budget
		keys[block+"inMemoryMaxMessages"] = budget
		keys[block+"compactKeepLastMessages"] = olderKey{to: keepLast}
	}
	for _, name := range []string{"activeMaxMessages", "activeMaxChars", "maxTurns", "maxChars"} {
		keys["context.contexts."+name] = olderKey{note: "snapshots are kept whole; set context.history.maxInputTokensApprox"}
	}
	queue := olderKey{note: `set context.chatQueue.mode, which is "merge" by default, and context.chatQueue.maxQueued`}
	for _, name := range []string{"enableCorrectionMerge", "correctionMaxRounds", "correctionMaxMergedMessages", "correctionMaxChars"} {
		keys["context.chatQueue."+name] = queue
	}
	keys["context.chatQueue.maxConcurrency"] = olderKey{note: "chats no longer wait for each other; set llm.maxConcurrency"}
	keys["context.chatEgress.chatSendIdempotency"] = olderKey{to: "context.chatEgress.idempotency"}
}

// older reports a key of an earlier version, and keeps its value if a key of now
// takes it over. It is false for keys that never were.
func (d *decoder) older(o Origin, key string, n *jsonpos.Node) bool {
	keys := olderKeys()
	if k, ok := keys[key]; ok {
		d.reportOlder(o, key, k, n)
		return true
	}
	isBlock := false
	for k := range keys {
		isBlock = isBlock || strings.HasPrefix(k, key+".")
	}
	if !isBlock || n.Kind != jsonpos.Object {
		return false
	}
	for _, m := range d.lastMembers(key, n) {
		inner := d.at(m.Place)
		if !d.older(inner, key+"."+m.Key, m.Value) {
			d.reportOlder(inner, key+"."+m.Key, olderKey{note: "nothing replaces it"}, m.Value)
		}
	}
	return true
}

func (d *decoder) reportOlder(o Origin, key string, k olderKey, n *jsonpos.Node) {
	if k.to != "" {
		d.moved = append(d.moved, movedValue{to: k.to, node: n})
		d.owner.report(Warn, o, key, fmt.Sprintf("%s is now called %s; its value counts where that is not set, but please rename it", key, k.to))
		return
	}
	d.owner.report(d.owner.unknownSeverity(), o, key, fmt.Sprintf("%s is a key of an earlier version and has no effect; %s", key, k.note))
}

// readMoved reads the values of older keys where the key of now is not set. Of
// blocks, this goes for each of their keys.
func (d *decoder) readMoved(root keyValue) {
	for len(d.moved) > 0 {
		m := d.moved[0]
		d.moved = d.moved[1:]
		k, ok := keyAt(root.value, m.to)
		if _, set := d.owner.origins[m.to]; set && ok && isBlock(k.value.Type()) {
			m.node.Members = slices.DeleteFunc(m.node.Members, func(inner jsonpos.Member) bool {
				_, set := d.owner.origins[joinKey(m.to, inner.Key)]
				return set
			})
		} else if set {
			continue
		}
		if ok {
			d.value(k, m.node)
		}
	}
}
