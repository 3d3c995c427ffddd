// Package sandboxtest is what every sandbox has to hold, tried with real programs
// against the real kernel. An implementation's TestMain calls Main, and its tests
// call the functions here by their own names.
package sandboxtest
