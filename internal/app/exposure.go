package app

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web"
)

// exposed reports whether clients on other machines can send requests, directly or through a proxy
// or tunnel. Every option about a proxy counts, because the Host that a proxy sends does not say
// where the client is.
func (c Config) exposed(listens string) bool {
	_, far := c.farHost()
	return !isLoopbackHost(listens) || c.TLSByProxy || len(c.Auth.ProxyCIDRs) > 0 || far || c.PublicURL != "" && !isLoopbackURL(c.PublicURL)
}

// Check refuses what a start would refuse before it opens anything: sign-in that does not fit a listener which
// others reach, or approval.
func (c Config) Check() error {
	_, err := c.checked()
	return err
}

// checked is Check, with the ways to sign in written in their own form.
func (c Config) checked() (Config, error) {
	mode, err := auth.ParseMode(c.Auth.Mode)
	if err != nil {
		return c, err
	}
	c.Auth.Mode = string(mode)
	if err := c.Approval.checkSignIn(c.Auth.Mode); err != nil {
		return c, err
	}
	if err := c.checkSessionKey(); err != nil {
		return c, err
	}
	if err := c.checkRoot(); err != nil {
		return c, err
	}
	if err := c.checkOperations(); err != nil {
		return c, err
	}
	if err := c.checkFrameAncestors(); err != nil {
		return c, err
	}
	if _, err := readAuthorities(c.Auth.OIDC.CAFile); err != nil {
		return c, err
	}
	return c, c.checkExposure()
}

// root is the path of the public URL, "" without one.
func (c Config) root() string {
	root, _ := auth.PublicRoot(c.PublicURL) // checkRoot has said what is wrong with it
	return root
}

// checkRoot refuses a path that begins like the addresses of pages: a proxy may take the path off or not, and the two
// could not be told apart.
func (c Config) checkRoot() error {
	if c.PublicURL == "" {
		return nil
	}
	root, err := auth.PublicRoot(c.PublicURL)
	if err != nil {
		return err
	}
	if first, _, _ := strings.Cut(strings.TrimPrefix(root, "/"), "/"); first != "" && web.Begins(first) {
		return fault.New(fault.Invalid, "The path of the public URL %s begins with /%s, as addresses of shardboard itself do: choose another "+
			"one, such as /shardboard or /tools/%[2]s.", c.PublicURL, first)
	}
	return nil
}

// farHost returns the first accepted host that is not this machine.
func (c Config) farHost() (string, bool) {
	for _, h := range c.Hosts {
		if name, ok := hostName(h); !ok || !isLoopbackHost(name) {
			return h, true
		}
	}
	return "", false
}

// checkHosts rejects values that no browser sends as Host: they would silently match nothing.
func (c Config) checkHosts() error {
	for _, h := range c.Hosts {
		if _, ok := hostName(h); !ok {
			return fault.New(
				fault.Invalid,
				"The --host %q is not a host name like board.example or board.example:8443: no scheme, path or *, and non-ASCII names as xn--….",
				h,
			)
		}
	}
	return nil
}

// hostName removes the port from a host; false if it is not a host.
func hostName(text string) (name string, ok bool) {
	if addr, err := netip.ParseAddr(text); err == nil { // also IPv6 without brackets
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
	return name, len(name) <= 253 && isDNSName(name)
}

// isDNSName reports whether a name consists of DNS labels. Underscores are allowed because
// container names have them.
func isDNSName(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return false
		}
	}
	return true
}

// checkFrameAncestors takes origins only: a pattern or a scheme alone would let pages in that nobody thought of.
func (c Config) checkFrameAncestors() error {
	for _, origin := range c.FrameAncestors {
		if origin == "self" {
			continue
		}
		u, err := url.Parse(origin)
		if err == nil && origin == u.Scheme+"://"+u.Host && (u.Scheme == "https" || u.Scheme == "http" && isLoopbackHost(u.Hostname())) {
			if _, ok := hostName(u.Host); ok {
				continue
			}
		}
		return fault.New(fault.Invalid, "--frame-ancestors %q is not an origin like https://portal.example, and not self: no path, no *, "+
			"http:// for this machine only.", origin)
	}
	return nil
}

// frameAncestors are the origins as a content security policy has them.
func (c Config) frameAncestors() (out []string) {
	for _, origin := range c.FrameAncestors {
		if origin == "self" {
			origin = "'self'"
		}
		out = append(out, origin)
	}
	return out
}
