package main

import (
	"strings"
	"time"

	"shardboard/internal/app"
	"shardboard/internal/fault"
)

// signInFlags configure sign-in and how browsers connect.
type signInFlags struct {
	Auth      string `default:"local" env:"SHARDBOARD_AUTH" help:"How people sign in: local, oidc, proxy, several with commas; or none, for scripts and tests on loopback: then every visitor may do everything."`
	FirstLink bool   `name:"first-admin-link" env:"SHARDBOARD_FIRST_ADMIN_LINK" help:"Print a link that makes an admin also if somebody has been admin by the issuer or the proxy, as long as there is no account. Without it only while nobody has been admin."`
	PublicURL string `name:"public-url" env:"SHARDBOARD_PUBLIC_URL" help:"https://host or https://host/path as browsers use it; needed off loopback."`
	TLSCert   string `name:"tls-cert" env:"SHARDBOARD_TLS_CERT" help:"File of the TLS certificate; read again when it is replaced."`
	TLSKey    string `name:"tls-key" env:"SHARDBOARD_TLS_KEY" help:"File of its key; others must not be able to read it."`
	TLSProxy  bool   `name:"tls-terminated-by-proxy" env:"SHARDBOARD_TLS_TERMINATED_BY_PROXY" help:"A proxy in front terminates TLS, and clients cannot bypass it."`

	FrameAncestors []string `name:"frame-ancestors" env:"SHARDBOARD_FRAME_ANCESTORS" placeholder:"ORIGIN,…" help:"Origins whose pages may show shardboard in a frame, such as https://portal.example, or self. Sign-in works in a frame of the same site (portal.example and board.portal.example) only. Default: no page may."`

	OIDCIssuer   string            `name:"oidc-issuer" env:"SHARDBOARD_OIDC_ISSUER" help:"OpenID Connect issuer, https://…"`
	OIDCClientID string            `name:"oidc-client-id" env:"SHARDBOARD_OIDC_CLIENT_ID" help:"Id of shardboard at the issuer."`
	OIDCSecret   string            `name:"oidc-client-secret-file" env:"SHARDBOARD_OIDC_CLIENT_SECRET_FILE" help:"File of the client's secret; none for a public client."`
	OIDCCA       string            `name:"oidc-ca-file" type:"path" env:"SHARDBOARD_OIDC_CA_FILE" placeholder:"FILE" help:"Certificate authorities, in PEM format, that the issuer's certificate may be from; default: those of the system. Read at the start."`
	OIDCGroups   string            `name:"oidc-groups-claim" default:"groups" env:"SHARDBOARD_OIDC_GROUPS_CLAIM" help:"Claim that lists a person's groups, by name or by path: groups, realm_access.roles. UserInfo is read when the ID token lacks it."`
	OIDCName     string            `name:"oidc-name-claim" default:"preferred_username" env:"SHARDBOARD_OIDC_NAME_CLAIM" help:"Claim that has the name to show, by name or by path; without it the e-mail address, the name or sub is shown."`
	OIDCScopes   []string          `name:"oidc-scopes" default:"openid,profile,email" env:"SHARDBOARD_OIDC_SCOPES" placeholder:"SCOPE,…" help:"Scopes to ask the issuer for; openid is always among them."`
	OIDCRoles    map[string]string `name:"oidc-role-map" env:"SHARDBOARD_OIDC_ROLE_MAP" placeholder:"GROUP=ROLE;…" help:"Which group has which role: viewer, support, operator or admin. People without a role are refused."`

	OIDCEnd bool `name:"oidc-end-session" env:"SHARDBOARD_OIDC_END_SESSION" help:"Signing out here signs out at the issuer too, if it offers that; its end leads back to /login under --public-url, which has to be allowed there."`

	ProxyHeader     string   `name:"proxy-header" env:"SHARDBOARD_PROXY_HEADER" help:"Header in which the proxy gives the person's name."`
	ProxyRoleHeader string   `name:"proxy-role-header" env:"SHARDBOARD_PROXY_ROLE_HEADER" help:"Header in which the proxy gives the role; without it everybody is a viewer."`
	ProxyCIDR       []string `name:"proxy-cidr" env:"SHARDBOARD_PROXY_CIDR" help:"Addresses or networks from which the proxy connects; from anywhere else its headers are ignored, X-Forwarded-For too."`

	Leaked string `name:"leaked-passwords" type:"path" env:"SHARDBOARD_LEAKED_PASSWORDS" placeholder:"FILE" help:"File of leaked passwords, which nobody may set: a SHA-1 in hexadecimal a line, sorted, with or without :COUNT. It is searched in place, whatever its size."`

	SessionIdle   time.Duration `name:"session-idle" default:"8h" env:"SHARDBOARD_SESSION_IDLE" help:"A session ends this long after its last use."`
	AccountsApart time.Duration `name:"accounts-apart" default:"24h" env:"SHARDBOARD_ACCOUNTS_APART" placeholder:"TIME" help:"An account that somebody made, or whose password or role they set, cannot approve that person's plans for so long, up to 720h, nor they its plans. 0 turns it off. Accounts of an issuer or a proxy are exempt. Default 24h."`
	SessionMax    time.Duration `name:"session-max" default:"168h" env:"SHARDBOARD_SESSION_MAX" help:"A session ends this long after its start; with OIDC after 12h, with the break-glass account after 1h at the latest."`
}

// checkTimes rejects lifetimes too short to work with, and 0, which looks like "unlimited" but
// means the default to package auth.
func (f signInFlags) checkTimes() error {
	if f.AccountsApart < 0 || f.AccountsApart > 720*time.Hour {
		return fault.New(fault.Invalid, "--accounts-apart is a time up to 720h, or 0 to turn it off, not %s.", f.AccountsApart)
	}
	if f.SessionIdle < time.Second || f.SessionMax < time.Second {
		return fault.New(fault.Invalid, "--session-idle and --session-max must be one second or more, like 8h; sessions cannot be unlimited.")
	}
	return nil
}

func (f signInFlags) addTo(c *app.Config) {
	c.FrameAncestors = f.FrameAncestors
	c.PublicURL, c.TLSCert, c.TLSKey, c.TLSByProxy = f.PublicURL, f.TLSCert, f.TLSKey, f.TLSProxy
	c.Auth = app.Auth{
		Mode: f.Auth, Idle: f.SessionIdle, Max: f.SessionMax, Apart: f.AccountsApart, Leaked: f.Leaked,
		FirstLink: f.FirstLink, EndIssuer: f.OIDCEnd,
		OIDC: app.OIDC{
			Issuer:      f.OIDCIssuer,
			ClientID:    f.OIDCClientID,
			SecretFile:  f.OIDCSecret,
			CAFile:      f.OIDCCA,
			GroupsClaim: f.OIDCGroups,
			NameClaim:   f.OIDCName,
			Scopes:      scopes(f.OIDCScopes),
			Roles:       f.OIDCRoles,
		},
		ProxyHeader: f.ProxyHeader, ProxyRoleHeader: f.ProxyRoleHeader, ProxyCIDRs: f.ProxyCIDR,
	}
}

// scopes also splits at spaces, as OAuth writes lists of scopes.
func scopes(list []string) (out []string) {
	for _, s := range list {
		out = append(out, strings.Fields(s)...)
	}
	return out
}
