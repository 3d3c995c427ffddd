package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// broken says how a text violates the rule of its key, or returns "". The message continues a sentence that begins
// with the key.
func (c *checker) broken(f field, text string) string {
	switch f.rule {
	case "baseUrl":
		return wrongBaseURL(text)
	case "listen":
		return unless(isAddress(text), fmt.Sprintf("wants host:port, such as %q", f.initial))
	case "listenOrOff":
		return unless(text == Off || isAddress(text), fmt.Sprintf(`wants host:port, such as %q, or "off"`, f.initial))
	case "publicUrl":
		u, err := url.Parse(text)
		fine := err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
		return unless(text == "" || fine, `wants the public https address that Telegram calls, such as "https://bot.example.com/telegram"`)
	case "proxy":
		u, err := url.Parse(text)
		fine := err == nil && slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) && u.Hostname() != "" && u.User == nil && strings.Trim(u.Path, "/") == ""
		return unless(text == "" || fine, `wants http://, https:// or socks5:// with host and port, such as "http://127.0.0.1:3128"; a name and a password go into HTTPS_PROXY`)
	case "timezone":
		_, err := time.LoadLocation(text)
		return unless(err == nil, `wants the name of a time zone, such as "Europe/Berlin", "Asia/Shanghai" or "UTC"`)
	case "folder":
		return unless(strings.TrimSpace(text) != "" && !hasControl(text), "wants the path of a folder")
	case "inside":
		fine := filepath.IsLocal(text) && filepath.Clean(text) != "." && !hasControl(text)
		return unless(fine, `wants the path of a folder in the project, relative to it, such as "data/archive"`)
	case "command":
		return unless(strings.TrimSpace(text) != "" && !hasControl(text), `wants the words of a command, such as "git status"`)
	case "host":
		fine := len(text) <= 253 && c.matches(`(\*|(\*\.)?[\pL\pN][\pL\pM\pN-]*(\.[\pL\pN][\pL\pM\pN-]*)*)`, text)
		return unless(fine, `wants the name of a host without scheme, port or path, such as "example.org", "*.example.org" for all below it, or "*"`)
	}
	return c.mismatch(f, text)
}

// mismatch is the part of broken that matches the whole text against a pattern.
func (c *checker) mismatch(f field, text string) string {
	pattern, message := "", ""
	switch f.rule {
	case "":
		return ""
	case "tag":
		pattern, message = `[A-Za-z][A-Za-z0-9_:-]{0,63}`, `wants names of tags without brackets, such as "think"`
	case "language":
		pattern, message = `([a-z]{2})?`, `wants two small letters, such as "en" or "zh"`
	case "secretWord":
		pattern, message = `[A-Za-z0-9_-]{0,256}`, "wants at most 256 letters, digits, _ and -"
	case "urlPath":
		pattern, message = `(/[A-Za-z0-9._~-]+)+`, `wants a path of letters, digits, ., _, ~ and -, such as "/feishu"`
	case "feishuGroup":
		pattern, message = `(\*|oc_[A-Za-z0-9]{1,64})`, "is not named by the id of a group, such as oc_a0553eda9014c201e6969b478895c230, or *"
	case "approver":
		pattern = `(owner|initiator|platformAdmins|[0-9]{1,20}|o[un]_[A-Za-z0-9]{1,64}|[a-z]+(@[A-Za-z0-9_-]+)?-[A-Za-z0-9_-]{1,80})`
		message = `wants "owner", "initiator", "platformAdmins" or the id of a person, such as "123456789"; names can be taken over by others`
	default:
		return "has a rule that does not exist: " + f.rule
	}
	return unless(c.matches(pattern, text), message)
}

func unless(fine bool, message string) string {
	if fine {
		return ""
	}
	return message
}

// matches reports whether a pattern matches a whole text. Patterns are compiled once.
func (c *checker) matches(pattern, text string) bool {
	compiled, ok := c.patterns[pattern]
	if !ok {
		compiled = regexp.MustCompile("^" + pattern + "$")
		if c.patterns == nil {
			c.patterns = map[string]*regexp.Regexp{}
		}
		c.patterns[pattern] = compiled
	}
	return compiled.MatchString(text)
}

func notInToken(r rune) bool { return r <= ' ' || r >= 0x7f }

func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

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

// isHeader reports whether a header has a name and a value that can be sent.
func (c *checker) isHeader(name, value string) bool {
	return c.matches("[a-zA-Z0-9!#$%&'*+.^_`|~-]+", name) && !strings.ContainsAny(value, "\r\n\x00")
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
	if errA != nil || errB != nil || portA != portB || portA == "0" {
		return false
	}
	return hostA == hostB || isWildcard(hostA) || isWildcard(hostB)
}

func isWildcard(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || (err == nil && ip.IsUnspecified())
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

// isLoopbackURL reports whether a URL names a server on this machine.
func isLoopbackURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && IsLoopback(net.JoinHostPort(u.Hostname(), "0"))
}
