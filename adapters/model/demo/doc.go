// Package demo is the built-in model for a first look: it needs no key and no
// network, always answers the same to the same, and says that it is a demo.
//
// It understands the prompts that the web page offers (a greeting, "show
// streaming", "use a tool", "ask first", "slow answer"), in English and Chinese,
// and echoes everything else. To "ask first" it calls remember_note, which a
// person has to approve. It answers every user turn since the last assistant turn, by
// name and with a quote where there are several or where they came in during its
// work, so that merging can be seen. Where chat_send is offered it answers
// through it.
package demo
