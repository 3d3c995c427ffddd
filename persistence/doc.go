// Package persistence is the contract of stores: for chats, tasks, memories, skills and grants.
// What a chat stores, its facts and the state derived from them, is in package journal.
//
// Stores are subpackages and know nothing of runs; storetest is the test suite that each store of
// chats passes.
package persistence
