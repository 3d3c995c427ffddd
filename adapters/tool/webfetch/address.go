package webfetch

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/shipmyagent/shipmyagent/adapters/internal/netguard"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// parse checks a URL. The result has an ASCII host and no fragment. The host's IP address is checked when the
// connection is made.
func parse(text string) (*url.URL, error) {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: /url: %s", tool.ErrInput, fmt.Sprintf(format, args...))
	}
	if len(text) > maxURL {
		return nil, bad("it has %d bytes, at most %d are taken", len(text), maxURL)
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }) || strings.Contains(text, `\`) {
		return nil, bad("it holds blanks, backslashes or characters that cannot be seen")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, bad("it is not an address")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, bad("only http and https are fetched, as https://example.org/page")
	case u.User != nil:
		return nil, bad("it holds a name or a password in front of the host; leave it out")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, bad("it names no host")
	}
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return nil, bad("%s is not a name of a host", strconv.Quote(tool.Head(u.Hostname(), 100)))
	}
	port := u.Port()
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || netguard.CheckPort(uint16(n)) != nil {
			return nil, bad("port %s is not fetched; there are 80, 443 and those from 1024 on", tool.Head(port, 10))
		}
		port = ":" + strconv.FormatUint(n, 10)
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	u.Host, u.Fragment, u.RawFragment = host+port, "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u, nil
}

// asciiHost is the ASCII form of a host name.
func asciiHost(name string) (string, error) {
	if strings.Contains(name, ":") {
		return strings.ToLower(name), nil // IPv6; invalid addresses fail to connect
	}
	host, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return "", err
	}
	host = strings.ToLower(host)
	if strings.Trim(host, ".") == "" {
		return "", fmt.Errorf("%q names nothing", name)
	}
	if again, err := idna.Lookup.ToASCII(host); err != nil || again != host {
		return "", fmt.Errorf("%q can be read in two ways", name)
	}
	return host, nil
}

// allows reports whether a URL may be fetched without approval.
func (f *Fetch) allows(u *url.URL) bool {
	if f.opts.Allow == nil {
		return false
	}
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return slices.ContainsFunc(f.opts.Allow(), func(rule string) bool {
		if rule == "*" {
			return true
		}
		host, wild := strings.CutPrefix(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(rule)), "."), "*.")
		ascii, err := asciiHost(host)
		switch {
		case err != nil, ascii == "*":
			return false
		case wild:
			return strings.HasSuffix(name, "."+ascii) && len(name) > len(ascii)+1
		}
		return name == ascii
	})
}

// same reports whether two URLs have the same host, with or without www.
func same(a, b *url.URL) bool {
	plain := func(u *url.URL) string {
		return strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), "www.")
	}
	return plain(a) == plain(b)
}
