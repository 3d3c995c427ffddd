// Package archtest holds the tests of how this code base is shaped: who may
// import whom, what every package and file keeps to, what lies where, and which
// licences come with the binary. It has no code of its own.
package archtest
