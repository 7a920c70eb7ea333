package app

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/fault"
)

// exposed tells whether others than this machine may ask: who connects to the
// listener, or to a proxy or tunnel in front of it, which is what every option
// about one says. What Host a proxy then sends says nothing about who asks.
func (c Config) exposed(listens string) bool {
	_, far := c.farHost()
	return !nearHost(listens) || c.TLSByProxy || len(c.Auth.ProxyCIDRs) > 0 || far || c.PublicURL != "" && !nearURL(c.PublicURL)
}

// farHost is the first of the accepted hosts that is not this machine's own.
func (c Config) farHost() (string, bool) {
	for _, h := range c.Hosts {
		if name, ok := hostName(h); !ok || !nearHost(name) {
			return h, true
		}
	}
	return "", false
}

// checkHosts refuses what no browser sends as Host: it would let nobody in, and
// say nothing.
func (c Config) checkHosts() error {
	for _, h := range c.Hosts {
		if _, ok := hostName(h); !ok {
			return fault.New(fault.Invalid, "The --host %q is not a host name like board.example or board.example:8443: no scheme, path or *, and non-ASCII names as xn--….", h)
		}
	}
	return nil
}

// hostName takes the port off a host; false when it is none.
func hostName(text string) (name string, ok bool) {
	if addr, err := netip.ParseAddr(text); err == nil { // an IPv6 address without brackets too
		return text, addr.Zone() == ""
	}
	u, err := url.Parse("//" + text)
	if err != nil || u.Host != text || strings.HasSuffix(text, ":") {
		return "", false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '0' {
			return "", false
		}
	}
	name = u.Hostname()
	if addr, err := netip.ParseAddr(name); err == nil {
		return name, addr.Zone() == "" && (addr.Is4() || strings.HasPrefix(text, "["))
	}
	return name, len(name) <= 253 && namelike(name)
}

// namelike tells whether a name is labels with dots between, as DNS has them;
// underscores occur in the names of containers.
func namelike(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return false
		}
	}
	return true
}
