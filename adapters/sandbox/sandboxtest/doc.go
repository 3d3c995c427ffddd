// Package sandboxtest has the tests that every sandbox must pass, with real programs on the real kernel. An
// implementation's TestMain calls Main, and its tests call the functions here by their own names.
package sandboxtest
