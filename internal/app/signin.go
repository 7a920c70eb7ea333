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

// Auth says how people come in. The zero Auth is refused: that nobody has to
// sign in is always somebody's choice.
type Auth struct {
	Mode string        // as auth.ParseMode reads it: "local", "local,oidc", "none", "demo"
	Idle time.Duration // 0 is the default of package auth, as for Max
	Max  time.Duration
	OIDC OIDC

	ProxyHeader     string
	ProxyRoleHeader string
	ProxyRole       string
	ProxyCIDRs      []string // whose headers are believed: the name, and the client's address

	Leaked string // file of leaked passwords, which nobody may have; "" is none

	Cost auth.Cost // of a password's hash; zero is the default. For tests
}

// OIDC says which issuer, who we are to it, and what its groups may.
type OIDC struct {
	Issuer      string
	ClientID    string
	SecretFile  string            // "" for a public client
	GroupsClaim string            // a name or a path with dots; "" is groups
	NameClaim   string            // likewise; "" is preferred_username
	Scopes      []string          // nil is openid, profile and email
	Roles       map[string]string // group to role
}

// options makes what package auth needs. public is where browsers come to.
func (c Config) authOptions(s store.Store, public string) (auth.Options, error) {
	mode := auth.Mode(c.Auth.Mode)
	var err error
	o := auth.Options{Store: s, Log: c.Log, Mode: mode, PublicURL: public, Secure: c.overTLS(), Idle: c.Auth.Idle, Max: c.Auth.Max, Cost: c.Auth.Cost,
		Proxy: auth.ProxyOptions{Header: c.Auth.ProxyHeader, RoleHeader: c.Auth.ProxyRoleHeader, Role: auth.Role(c.Auth.ProxyRole)}}
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

// proxies are the networks whose headers are believed.
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

// overTLS tells whether browsers come by https.
func (c Config) overTLS() bool { return c.TLSCert != "" || c.TLSByProxy }

// checkExposure refuses what would let in the wrong people, with one sentence
// that says what to add.
func (c Config) checkExposure() error {
	near, err := ListensNear(c.Listen)
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
		return fault.New(fault.Invalid, "Refusing --auth demo over a cluster that is not simulated: everybody would be its operator. Use --auth local, oidc or proxy, or --auth none for scripts and tests on loopback.")
	case mode.Has(auth.ModeDemo) && !near:
		return fault.New(fault.Invalid, "Refusing to listen on %q: nobody has to sign in to a demo, so it is for this machine only. Choose a --listen on loopback (127.0.0.1, ::1 or localhost).", c.Listen)
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return fault.New(fault.Invalid, "TLS needs both --tls-cert and --tls-key.")
	case mode.Off() && !near:
		return fault.New(fault.Invalid, "Refusing to listen on %q while nobody has to sign in (%s): use --auth local, oidc or proxy together with TLS, or listen on loopback (127.0.0.1, ::1 or localhost).", c.Listen, mode)
	case mode.Off() && c.PublicURL != "" && !nearURL(c.PublicURL):
		return fault.New(fault.Invalid, "Refusing to serve %s while nobody has to sign in (%s): use --auth local, oidc or proxy.", c.PublicURL, mode)
	case mode.Off() && far:
		return fault.New(fault.Invalid, "Refusing to answer as --host %s while nobody has to sign in (%s): use --auth local, oidc or proxy.", farHost, mode)
	case !near && !c.overTLS():
		return fault.New(fault.Invalid, "Refusing to listen on %q without TLS: passwords and sessions could be read on the way. Add --tls-cert and --tls-key, or --tls-terminated-by-proxy when a proxy in front does it, or listen on loopback.", c.Listen)
	case !near && c.PublicURL == "":
		return fault.New(fault.Invalid, "Refusing to listen on %q without --public-url https://…: requests under any other host name are refused, so shardboard has to know its own.", c.Listen)
	case c.TLSByProxy && c.PublicURL == "":
		return fault.New(fault.Invalid, "--tls-terminated-by-proxy needs --public-url https://…: links and cookies are for the address that the proxy has, and only who starts shardboard knows it.")
	case c.overTLS() && c.PublicURL != "" && !strings.HasPrefix(c.PublicURL, "https://"):
		return fault.New(fault.Invalid, "The public URL %s has to begin with https:// when browsers come by TLS.", c.PublicURL)
	case !c.overTLS() && strings.HasPrefix(c.PublicURL, "https://"):
		return fault.New(fault.Invalid, "The public URL %s is https, and nothing here says who does TLS: add --tls-cert and --tls-key, or --tls-terminated-by-proxy.", c.PublicURL)
	case c.PublicURL != "" && !c.overTLS() && !nearURL(c.PublicURL):
		return fault.New(fault.Invalid, "The public URL %s is not https: add TLS, for passwords and sessions could be read on the way.", c.PublicURL)
	}
	return nil
}

// ListensNear tells whether only this machine can connect to a listen address.
func ListensNear(addr string) (bool, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false, fault.Wrap(fault.Invalid, err, "The listen address %q is not host:port.", addr)
	}
	if port == "" {
		return false, fault.New(fault.Invalid, "The listen address %q has no port.", addr)
	}
	return nearHost(host), nil
}

func nearURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && nearHost(u.Hostname())
}

// hosts are the Host values to accept besides loopback.
func (c Config) hosts() []string {
	out := append([]string(nil), c.Hosts...)
	if u, err := url.Parse(c.PublicURL); err == nil && u.Host != "" {
		out = append(out, u.Host)
	}
	return out
}

// ReadSecret takes a secret from a file that no other user can read; no secret has
// a flag, for everybody on the machine can read a command line.
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
