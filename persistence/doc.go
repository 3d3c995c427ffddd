// Package persistence is the contract with stores: what chats, tasks, memories, skills
// and grants are kept in. What a chat keeps, its facts and the state that follows from
// them, is package journal.
//
// Stores are one level deeper and know nothing of runs; storetest is the suite that each
// store of chats passes.
package persistence
