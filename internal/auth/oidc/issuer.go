package oidc

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	coreos "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

const (
	askWait      = 10 * time.Second // for one request to the issuer
	userInfoWait = 5 * time.Second  // part of it for UserInfo, which often is needed for the name only
	retryAfter   = 3 * time.Second  // between discovery attempts, so that many sign-ins do not overload a failing issuer
)

// Options identify the issuer and this client.
type Options struct {
	Issuer      string // https://…, as in its tokens; http on loopback only
	ClientID    string
	Secret      string           // "" for a public client; PKCE protects the code either way
	RedirectURL string           // exact, as registered at the issuer
	GroupsClaim string           // claim, or path to a nested one; "" is groups
	NameClaim   string           // claim with the display name; "" is preferred_username
	Authorities *x509.CertPool   // that the issuer's certificate may be from; nil: those of the system
	Scopes      []string         // nil is openid, profile and email; openid is always requested
	Now         func() time.Time // nil is time.Now
	Log         *slog.Logger     // nil discards
}

// Issuer implements auth.Issuer. Safe for concurrent use.
type Issuer struct {
	o      Options
	client *http.Client

	mu      sync.Mutex
	found   *coreos.Provider
	tried   time.Time // when discovery last failed
	failure error
	style   oauth2.AuthStyle // how the issuer accepted the secret; zero: not known yet
}

var _ auth.Issuer = (*Issuer)(nil)

// New checks the options and makes no request.
func New(o Options) (*Issuer, error) {
	if o.Issuer == "" || o.ClientID == "" || o.RedirectURL == "" {
		return nil, fault.New(fault.Invalid, "Sign-in by OIDC needs --oidc-issuer and --oidc-client-id.")
	}
	u, err := url.Parse(o.Issuer)
	if err != nil || !protected(u) {
		return nil, fault.New(fault.Invalid, "The OIDC issuer %q is not an https:// address.", o.Issuer)
	}
	if o.GroupsClaim == "" {
		o.GroupsClaim = "groups"
	}
	if o.NameClaim == "" {
		o.NameClaim = "preferred_username"
	}
	for flag, claim := range map[string]string{"--oidc-groups-claim": o.GroupsClaim, "--oidc-name-claim": o.NameClaim} {
		if !auth.PlainName(claim) {
			return nil, fault.New(
				fault.Invalid,
				"%s is not the name of a claim: %q. It is a name like groups or a path like realm_access.roles, of at most 200 printable characters.",
				flag,
				claim,
			)
		}
	}
	if o.Scopes, err = checkScopes(o.Scopes); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Issuer{o: o, client: client(o.Authorities)}, nil
}

// protected reports whether nobody on the way can read or change what is sent to an address: https,
// or this machine.
func protected(u *url.URL) bool {
	return u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()))
}

func (i *Issuer) config(p *coreos.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID:     i.o.ClientID,
		ClientSecret: i.o.Secret,
		Endpoint:     p.Endpoint(),
		RedirectURL:  i.o.RedirectURL,
		Scopes:       i.o.Scopes,
	}
}

// Address is where the browser is sent to sign in.
func (i *Issuer) Address(ctx context.Context, state, nonce, verifier string) (string, error) {
	ctx, cancel := context.WithTimeout(coreos.ClientContext(ctx, i.client), askWait)
	defer cancel()
	p, err := i.provider(ctx)
	if err != nil {
		return "", err
	}
	return i.config(p).AuthCodeURL(state, coreos.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), nil
}
