package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	coreos "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

const (
	askWait    = 10 * time.Second // for one exchange with the issuer
	retryAfter = 3 * time.Second  // so that a crowd at the door does not knock a sick issuer over
)

// Options say which issuer, and who we are to it.
type Options struct {
	Issuer      string // https://…, as in its tokens; http on loopback only
	ClientID    string
	Secret      string // "" for a public client; PKCE protects the code either way
	RedirectURL string // exact, as registered at the issuer
	GroupsClaim string // "" is groups
	Scopes      []string
	Now         func() time.Time // nil is time.Now
}

// Issuer is an auth.Issuer. Safe for concurrent use.
type Issuer struct {
	o      Options
	client *http.Client

	mu      sync.Mutex
	found   *coreos.Provider
	tried   time.Time // of the last attempt that failed
	failure error
}

var _ auth.Issuer = (*Issuer)(nil)

// New checks the options and asks nobody.
func New(o Options) (*Issuer, error) {
	if o.Issuer == "" || o.ClientID == "" || o.RedirectURL == "" {
		return nil, fault.New(fault.Invalid, "Sign-in by OIDC needs --oidc-issuer and --oidc-client-id.")
	}
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Host == "" || u.User != nil || !(u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())) {
		return nil, fault.New(fault.Invalid, "The OIDC issuer %q is not an https:// address.", o.Issuer)
	}
	if o.GroupsClaim == "" {
		o.GroupsClaim = "groups"
	}
	if o.Scopes == nil {
		o.Scopes = []string{coreos.ScopeOpenID, "profile", "email"}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Issuer{o: o, client: client()}, nil
}

func unavailable(err error) error {
	return fault.Wrap(fault.Unavailable, err, "The sign-in service does not answer as it should. Try again in a minute; the log has the cause.")
}

// provider asks the issuer for its addresses until that worked once.
func (i *Issuer) provider(ctx context.Context) (*coreos.Provider, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.found != nil {
		return i.found, nil
	}
	now := i.o.Now()
	if i.failure != nil && now.Sub(i.tried) < retryAfter {
		return nil, i.failure
	}
	found, err := coreos.NewProvider(ctx, i.o.Issuer)
	if err != nil {
		i.tried, i.failure = now, unavailable(fmt.Errorf("discover %s: %w", i.o.Issuer, err))
		return nil, i.failure
	}
	i.found, i.failure = found, nil
	return found, nil
}

func (i *Issuer) config(p *coreos.Provider) *oauth2.Config {
	return &oauth2.Config{ClientID: i.o.ClientID, ClientSecret: i.o.Secret, Endpoint: p.Endpoint(), RedirectURL: i.o.RedirectURL, Scopes: i.o.Scopes}
}

// Address is where the browser goes to sign in.
func (i *Issuer) Address(ctx context.Context, state, nonce, verifier string) (string, error) {
	ctx, cancel := context.WithTimeout(coreos.ClientContext(ctx, i.client), askWait)
	defer cancel()
	p, err := i.provider(ctx)
	if err != nil {
		return "", err
	}
	return i.config(p).AuthCodeURL(state, coreos.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), nil
}

// algorithms are asymmetric: with "none" or a shared secret anybody, or any
// client of the issuer, could sign.
func algorithms() []string {
	return []string{coreos.RS256, coreos.RS384, coreos.RS512, coreos.PS256, coreos.PS384, coreos.PS512, coreos.ES256, coreos.ES384, coreos.ES512, coreos.EdDSA}
}

// Exchange turns a code into claims.
func (i *Issuer) Exchange(ctx context.Context, code, nonce, verifier string) (auth.Claims, error) {
	ctx, cancel := context.WithTimeout(coreos.ClientContext(ctx, i.client), askWait)
	defer cancel()
	p, err := i.provider(ctx)
	if err != nil {
		return auth.Claims{}, err
	}
	token, err := i.config(p).Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		var refused *oauth2.RetrieveError
		if errors.As(err, &refused) && refused.Response != nil && refused.Response.StatusCode < 500 {
			// Its text may hold what was sent, so it is not passed on.
			return auth.Claims{}, untrusted(fmt.Errorf("exchange code: status %d", refused.Response.StatusCode))
		}
		return auth.Claims{}, unavailable(fmt.Errorf("exchange code: %w", withoutURL(err)))
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return auth.Claims{}, untrusted(errors.New("there is no id_token in the answer"))
	}
	checks := &coreos.Config{ClientID: i.o.ClientID, SupportedSigningAlgs: algorithms(), Now: i.o.Now}
	id, err := p.Verifier(checks).Verify(ctx, raw)
	if err != nil {
		return auth.Claims{}, untrusted(fmt.Errorf("verify id_token: %w", withoutURL(err)))
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1 {
		return auth.Claims{}, untrusted(errors.New("the nonce is another attempt's"))
	}
	var all map[string]any
	if err := id.Claims(&all); err != nil {
		return auth.Claims{}, untrusted(fmt.Errorf("read claims: %w", err))
	}
	if azp, there := all["azp"]; (there || len(id.Audience) > 1) && azp != i.o.ClientID {
		return auth.Claims{}, untrusted(errors.New("the token was made for another client"))
	}
	return auth.Claims{Issuer: id.Issuer, Subject: id.Subject, Name: displayName(all), Groups: texts(all[i.o.GroupsClaim])}, nil
}

func untrusted(err error) error {
	return fault.Wrap(fault.Forbidden, err, "The answer of the sign-in service was refused. Begin again; the log has the cause.")
}

// displayName is for people only and grants nothing.
func displayName(claims map[string]any) string {
	for _, name := range []string{"preferred_username", "email", "name"} {
		if s, _ := claims[name].(string); s != "" {
			return s
		}
	}
	return ""
}

// texts reads a claim that is a list of texts or, as some issuers have it, one.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return slices.Clip(out)
	}
	return nil
}
