// Package sse finds the events of a response: server-sent events, or the bare objects of a server
// that does not stream. Proxies cut lines anywhere and send arbitrary content types.
package sse
