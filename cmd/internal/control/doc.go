// Package control holds the routes by which an operator asks a running host and gives it orders: over the control
// socket and, behind the table of package webconsole, in a browser.
//
// The routes trust their clients. Whoever mounts them decides who may connect and what they may use. Everything is safe
// for concurrent use.
package control
