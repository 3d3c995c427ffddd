package config

import (
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
)

// rules are the checks that rows of the table name.
func rules() map[string]keys.Rule {
	form := func(pattern, why string) keys.Rule {
		compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^(?:" + pattern + ")$") })
		return func(text, _ string) string { return unless(compiled().MatchString(text), why) }
	}
	is := func(fits func(string) bool, why string) keys.Rule {
		return func(text, _ string) string { return unless(fits(text), why) }
	}
	host := form(`\*|(\*\.)?[\pL\pN][\pL\pM\pN-]*(\.[\pL\pN][\pL\pM\pN-]*)*`, `wants the name of a host without scheme, port or path, such as "example.org", "*.example.org" for all below it, or "*"`)
	token := form("[a-zA-Z0-9!#$%&'*+.^_`|~-]+", "is not a header that can be sent")
	header := func(name, value string) string {
		if strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
			name = ""
		}
		return token(name, "")
	}
	return map[string]keys.Rule{
		"account":     form(`[a-z0-9_]{1,32}`, "is not an account name; use 1 to 32 small letters, digits and _"),
		"apiVersion":  form(`[A-Za-z0-9._-]*`, `wants a version such as "2024-10-21"`),
		"approver":    form(`owner|initiator|platformAdmins|[0-9]{1,20}|o[un]_[A-Za-z0-9]{1,64}|[a-z]+(@[A-Za-z0-9_-]+)?-[A-Za-z0-9_-]{1,80}`, `wants "owner", "initiator", "platformAdmins" or the id of a person, such as "123456789"; names can be taken over by others`),
		"baseUrl":     func(text, _ string) string { return wrongBaseURL(text) },
		"command":     is(isPlain, `wants the words of a command, such as "git status"`),
		"feishuGroup": form(`\*|oc_[A-Za-z0-9]{1,64}`, "is not named by the id of a group, such as oc_a0553eda9014c201e6969b478895c230, or *"),
		"folder":      is(isPlain, "wants the path of a folder"),
		"header":      header,
		"host": func(text, _ string) string {
			if len(text) > 253 {
				text = ""
			}
			return host(text, "")
		},
		"inside": is(func(text string) bool {
			return filepath.IsLocal(text) && filepath.Clean(text) != "." && !hasControl(text)
		},
			`wants the path of a folder in the project, relative to it, such as "data/archive"`),
		"language":    form(`[a-z]{2}`, `wants two small letters, such as "en" or "zh"`),
		"listen":      is(isAddress, `wants host:port, such as "{default}"`),
		"listenOrOff": is(func(text string) bool { return text == Off || isAddress(text) }, `wants host:port, such as "{default}", or "off"`),
		"modelHeader": func(name, value string) string {
			own := []string{"content-type", "content-length", "host", "accept", "transfer-encoding", "connection", "accept-encoding"}
			if slices.Contains(own, strings.ToLower(name)) {
				return "every request sets by itself; leave it out"
			}
			return header(name, value)
		},
		"parameter": is(func(name string) bool { return name != "" && !hasControl(name) }, "is not a usable name of a parameter"),
		"path":      is(func(text string) bool { return text != "" && !hasControl(text) }, `is not a path; name a file or folder, or "." for the project's folder`),
		"proxy": is(func(text string) bool {
			u, err := url.Parse(text)
			return err == nil && slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) && u.Hostname() != "" && u.User == nil && strings.Trim(u.Path, "/") == ""
		}, `wants http://, https:// or socks5:// with host and port, such as "http://127.0.0.1:3128"; a name and a password go into HTTPS_PROXY`),
		"publicUrl": is(func(text string) bool {
			u, err := url.Parse(text)
			return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
		}, `wants the public https address that Telegram calls, such as "https://bot.example.com/telegram"`),
		"secretWord": form(`[A-Za-z0-9_-]{0,256}`, "wants at most 256 letters, digits, _ and -"),
		"server":     form(`[a-zA-Z0-9][a-zA-Z0-9_-]{0,31}`, "is not the name of a server; use 1 to 32 letters, digits, _ and -"),
		"serverUrl": is(func(text string) bool {
			u, err := url.Parse(text)
			return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
		}, "wants an address such as https://example.com/mcp"),
		"tag": form(`[A-Za-z][A-Za-z0-9_:-]{0,63}`, `wants names of tags without brackets, such as "think"`),
		"timezone": is(func(text string) bool {
			_, err := time.LoadLocation(text)
			return err == nil
		}, `wants the name of a time zone, such as "Europe/Berlin", "Asia/Shanghai" or "UTC"`),
		"urlPath":  form(`(/[A-Za-z0-9._~-]+)+`, `wants a path of letters, digits, ., _, ~ and -, such as "/feishu"`),
		"variable": is(keys.IsVariable, "is not a name of a variable"),
	}
}

func unless(fine bool, message string) string {
	if fine {
		return ""
	}
	return message
}

func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

// isPlain reports whether a text says something on one line.
func isPlain(text string) bool { return strings.TrimSpace(text) != "" && !hasControl(text) }

func wrongBaseURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Opaque != "":
		return `wants an address such as "https://api.example.com/v1"`
	case u.User != nil:
		return "must not hold a name or password; keys have keys of their own"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "must not hold ? or #"
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return unless(u.Port() == "" || err == nil && port > 0, "wants a port from 1 to 65535")
}

// isAddress reports whether a text is host:port with a numeric port.
func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == '/' || r == 0x7f }) {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// sameAddress reports whether two listeners with these addresses would conflict.
func sameAddress(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	wildcard := func(host string) bool {
		ip, err := netip.ParseAddr(host)
		return host == "" || err == nil && ip.IsUnspecified()
	}
	return errA == nil && errB == nil && portA == portB && portA != "0" && (hostA == hostB || wildcard(hostA) || wildcard(hostB))
}

// IsLoopback reports whether an address host:port can be reached from this
// machine only. A host name other than localhost counts as reachable from outside.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// isPublic reports whether an address host:port can be reached from other machines.
func isPublic(address string) bool { return isAddress(address) && !IsLoopback(address) }
