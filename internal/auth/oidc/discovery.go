package oidc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"

	coreos "github.com/coreos/go-oidc/v3/oidc"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// unavailableText is what the user reads when the issuer, or its configuration, does not work. The
// user cannot repair it.
const unavailableText = "The sign-in service does not answer as it should. Try again in a minute; if this continues, tell whoever " +
	"runs shardboard: the log has the cause."

func unavailable(code string, err error, advice string) error {
	return auth.Refuse(code, fault.Unavailable, err, unavailableText, advice)
}

// provider runs the issuer's discovery until it has succeeded once.
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
		err = discoveryFailed(err)
	} else {
		err = checkAddresses(found)
	}
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, err // the client disconnected; that is no failure of the issuer
		}
		i.tried, i.failure = i.o.Now(), err
		var r *auth.Refusal
		if errors.As(err, &r) {
			i.o.Log.Warn("discover the OIDC issuer", "issuer", i.o.Issuer, "reason", r.Code, "advice", r.Advice, "err", r)
		}
		return nil, err
	}
	if scopes := i.unlisted(found); len(scopes) > 0 {
		i.o.Log.Warn("the OIDC issuer does not list some of the requested scopes; it may still support them", "scopes", scopes)
	}
	i.found, i.failure = found, nil
	return found, nil
}

// discoveryFailed explains a failed discovery. Everybody can see the text on the sign-in page, so
// the only address in it is the issuer's, which browsers are sent to anyway.
func discoveryFailed(err error) error {
	var mismatch *coreos.IssuerMismatchError
	if errors.As(err, &mismatch) {
		return unavailable(
			"discovery-issuer",
			shortened(err),
			fmt.Sprintf(
				"The issuer calls itself %q in its discovery document, and --oidc-issuer is %q. They have to be equal to the letter, a slash at "+
					"the end too.",
				sanitize.Shorten(sanitize.Line(mismatch.Discovered), 200),
				mismatch.Provided,
			),
		)
	}
	if advice := unreachableAdvice(err); advice != "" {
		return unavailable("issuer-unreachable", shortened(err), advice)
	}
	return unavailable(
		"discovery",
		shortened(err),
		"--oidc-issuer did not give a discovery document: the address with /.well-known/openid-configuration after it has to answer with "+
			"200 and JSON.",
	)
}

// unreachableAdvice explains requests that got no answer; "" for other errors.
func unreachableAdvice(err error) string {
	var sent *url.Error
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errRedirect):
		return "The issuer answers with a redirect, which is not followed. Give --oidc-issuer the address that it redirects to, if that " +
			"is the one in its tokens."
	case errors.As(err, &untrusted):
		return "The issuer's certificate is not trusted by the machine that shardboard runs on. Add its authority to the system's, or " +
			"name a file of authorities in SSL_CERT_FILE."
	case errors.As(err, &sent):
		return "The issuer did not answer. Check --oidc-issuer, and that the machine that shardboard runs on can resolve and reach it."
	}
	return ""
}

// checkAddresses rejects a discovery document with unencrypted or non-web addresses, because the
// client's secret, codes and access tokens are sent to them.
func checkAddresses(p *coreos.Provider) error {
	var doc struct {
		Keys string `json:"jwks_uri"`
		End  string `json:"end_session_endpoint"`
	}
	if err := p.Claims(&doc); err != nil {
		return unavailable("discovery", err, "The issuer's discovery document cannot be read.")
	}
	for _, a := range []struct {
		name, address string
		optional      bool
	}{
		{"authorization_endpoint", p.Endpoint().AuthURL, false},
		{"token_endpoint", p.Endpoint().TokenURL, false},
		{"jwks_uri", doc.Keys, false},
		{"userinfo_endpoint", p.UserInfoEndpoint(), true},
		{"end_session_endpoint", doc.End, true},
	} {
		if a.address == "" && a.optional {
			continue
		}
		if u, err := url.Parse(a.address); err != nil || !protected(u) {
			return unavailable("discovery-address", fmt.Errorf("%s is %q", a.name, sanitize.Shorten(a.address, 200)),
				fmt.Sprintf("The issuer's discovery document has no https:// address as %s.", a.name))
		}
	}
	return nil
}

// shortened limits errors that quote an answer of the issuer.
func shortened(err error) error {
	if text := err.Error(); len(text) > 200 {
		return errors.New(sanitize.Shorten(text, 200))
	}
	return err
}
