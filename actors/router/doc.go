// Package router is the one actor that everything for a chat passes: it knows
// nothing but which shard a chat key belongs to. The key decides alone, so all
// messages of a sender to a chat keep their order.
package router
