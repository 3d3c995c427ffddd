// Package demo is the built-in model for trying the host: it needs no key and no network, always
// gives the same answer to the same request, and says that it is a demo.
//
// It understands the prompts that the web page offers (a greeting, "show streaming", "use a tool",
// "ask first", "slow answer"), in English and Chinese, and echoes everything else. For "ask first"
// it calls remember_note, which a person has to approve. It answers every user turn since the last
// assistant turn; if there are several, or they arrived during its work, it names and quotes each,
// so that merging is visible. Where chat_send is offered it answers through it.
package demo
