package app

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
	"shardboard/internal/store"
)

// Auth configures sign-in. The zero Auth is refused, because switching sign-in off must be an
// explicit choice.
type Auth struct {
	Mode string        // see auth.ParseMode: "local", "local,oidc", "none", "demo"
	Idle time.Duration // 0 is the default of package auth, also for Max
	Max  time.Duration
	// Apart is how long whoever made an account, or set its password or role, counts as that person; 0: never.
	Apart time.Duration
	// FirstLink prints a link for an admin also if somebody has been admin by the issuer or a proxy.
	FirstLink bool
	EndIssuer bool // signing out here signs out at the issuer too
	OIDC      OIDC

	ProxyHeader     string
	ProxyRoleHeader string
	ProxyRole       string
	ProxyCIDRs      []string // proxies whose headers are trusted: user name and client address

	Leaked string // file of leaked passwords to reject; "" is none

	Cost auth.Cost // cost of a password hash; zero is the default. For tests
}

// OIDC identifies the issuer and this client, and maps groups to roles.
type OIDC struct {
	Issuer      string
	ClientID    string
	SecretFile  string            // "" for a public client
	CAFile      string            // authorities of the issuer's certificate; "" are those of the system
	GroupsClaim string            // a name or a path with dots; "" is groups
	NameClaim   string            // a claim or path like GroupsClaim; "" is preferred_username
	Scopes      []string          // nil is openid, profile and email
	Roles       map[string]string // role by group
}

// authOptions makes the options of package auth. public is the address that browsers use.
func (c Config) authOptions(s store.Store, public string) (auth.Options, error) {
	mode := auth.Mode(c.Auth.Mode)
	var err error
	o := auth.Options{
		Store:     s,
		Log:       c.Log,
		Mode:      mode,
		PublicURL: public,
		Secure:    c.overTLS(),
		Idle:      c.Auth.Idle,
		Max:       c.Auth.Max,
		Apart:     c.Auth.Apart,
		FirstLink: c.Auth.FirstLink,
		EndIssuer: c.Auth.EndIssuer,
		Cost:      c.Auth.Cost,
		Proxy:     auth.ProxyOptions{Header: c.Auth.ProxyHeader, RoleHeader: c.Auth.ProxyRoleHeader, Role: auth.Role(c.Auth.ProxyRole)},
	}
	if o.Proxy.CIDRs, err = c.proxies(); err != nil {
		return o, err
	}
	o.Forwarded = o.Proxy.CIDRs
	if mode.Has(auth.ModeOIDC) {
		o.Roles = map[string]auth.Role{}
		for group, role := range c.Auth.OIDC.Roles {
			o.Roles[group] = auth.Role(role)
		}
		if o.Issuer, err = newIssuer(c.Auth.OIDC, public+auth.CallbackPath, c.Log); err != nil {
			return o, err
		}
	}
	return o, nil
}

// proxies are the networks of trusted proxies.
func (c Config) proxies() (out []netip.Prefix, err error) {
	for _, text := range c.Auth.ProxyCIDRs {
		p, err := auth.ParseProxy(text)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// overTLS reports whether browsers connect by https.
func (c Config) overTLS() bool { return c.TLSCert != "" || c.TLSByProxy }

// checkExposure rejects configurations that would let the wrong people in; the error says what to
// add.
func (c Config) checkExposure() error {
	near, err := ListensOnLoopback(c.Listen)
	if err != nil {
		return err
	}
	if err := c.checkHosts(); err != nil {
		return err
	}
	mode := auth.Mode(c.Auth.Mode)
	farHost, far := c.farHost()
	switch {
	case mode.Has(auth.ModeDemo) && !c.Demo:
		return fault.New(
			fault.Invalid,
			"Refusing --auth demo for a cluster that is not simulated: every visitor could change it. Use --auth local, oidc or proxy, or "+
				"--auth none for scripts and tests on loopback.",
		)
	case mode.Has(auth.ModeDemo) && !near:
		return fault.New(
			fault.Invalid,
			"Refusing to listen on %q: nobody has to sign in to a demo, so it is for this machine only. Choose a --listen on loopback "+
				"(127.0.0.1, ::1 or localhost).",
			c.Listen,
		)
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return fault.New(fault.Invalid, "TLS needs both --tls-cert and --tls-key.")
	case mode.Off() && !near:
		return fault.New(
			fault.Invalid,
			"Refusing to listen on %q while nobody has to sign in (%s): use --auth local, oidc or proxy together with TLS, or listen on "+
				"loopback (127.0.0.1, ::1 or localhost).",
			c.Listen,
			mode,
		)
	case mode.Off() && c.PublicURL != "" && !isLoopbackURL(c.PublicURL):
		return fault.New(
			fault.Invalid,
			"Refusing to serve %s while nobody has to sign in (%s): use --auth local, oidc or proxy.",
			c.PublicURL,
			mode,
		)
	case mode.Off() && far:
		return fault.New(
			fault.Invalid,
			"Refusing to answer as --host %s while nobody has to sign in (%s): use --auth local, oidc or proxy.",
			farHost,
			mode,
		)
	case !near && !c.overTLS():
		return fault.New(
			fault.Invalid,
			"Refusing to listen on %q without TLS: passwords and sessions could be read on the network. Add --tls-cert and --tls-key, or "+
				"--tls-terminated-by-proxy when a proxy in front does it, or listen on loopback.",
			c.Listen,
		)
	case !near && c.PublicURL == "":
		return fault.New(
			fault.Invalid,
			"Refusing to listen on %q without --public-url https://…: requests under any other host name are refused, so shardboard has to "+
				"know its own.",
			c.Listen,
		)
	case c.TLSByProxy && c.PublicURL == "":
		return fault.New(
			fault.Invalid,
			"--tls-terminated-by-proxy needs --public-url https://…: links and cookies are for the address that the proxy has, which "+
				"shardboard cannot find out by itself.",
		)
	case c.overTLS() && c.PublicURL != "" && !strings.HasPrefix(c.PublicURL, "https://"):
		return fault.New(fault.Invalid, "The public URL %s has to begin with https:// when browsers come by TLS.", c.PublicURL)
	case !c.overTLS() && strings.HasPrefix(c.PublicURL, "https://"):
		return fault.New(
			fault.Invalid,
			"The public URL %s is https, but TLS is not configured: add --tls-cert and --tls-key, or --tls-terminated-by-proxy.",
			c.PublicURL,
		)
	case c.PublicURL != "" && !c.overTLS() && !isLoopbackURL(c.PublicURL):
		return fault.New(
			fault.Invalid,
			"The public URL %s is not https: add TLS, because passwords and sessions could be read on the network.",
			c.PublicURL,
		)
	}
	return nil
}

// ListensOnLoopback reports whether only this machine can connect to a listen address.
func ListensOnLoopback(addr string) (bool, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false, fault.Wrap(fault.Invalid, err, "The listen address %q is not host:port.", addr)
	}
	if port == "" {
		return false, fault.New(fault.Invalid, "The listen address %q has no port.", addr)
	}
	return isLoopbackHost(host), nil
}

func isLoopbackURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && isLoopbackHost(u.Hostname())
}

// hosts are the Host headers to accept besides loopback. A proxy may leave the port of the public URL out.
func (c Config) hosts() []string {
	out := append([]string(nil), c.Hosts...)
	if u, err := url.Parse(c.PublicURL); err == nil && u.Host != "" {
		out = append(out, u.Hostname())
	}
	return out
}

// origin is that of the public URL, as browsers send it; "" without one.
func (c Config) origin() string {
	u, err := url.Parse(strings.ToLower(c.PublicURL))
	if err != nil || u.Host == "" {
		return ""
	}
	if port := u.Port(); port == "443" && u.Scheme == "https" || port == "80" && u.Scheme == "http" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return u.Scheme + "://" + u.Host
}

// ReadSecret reads a secret from a file that no other user can read. Secrets have no flags, because
// everybody on the machine can read command lines.
func ReadSecret(what, path string) (string, error) {
	text, err := fileperm.ReadSecret("file of the "+what, path, 64<<10)
	if err != nil {
		return "", err
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", fault.New(fault.Invalid, "The file of the %s, %s, is empty.", what, path)
	}
	return secret, nil
}
