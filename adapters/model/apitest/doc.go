// Package apitest starts the strict fake of any protocol by its name, for tests that run with each
// protocol: modeltest.Server, anthropictest.Server or responsestest.Server. It promises nothing beyond
// what they promise.
package apitest
