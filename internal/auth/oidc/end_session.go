package oidc

import (
	"context"
	"net/url"

	coreos "github.com/coreos/go-oidc/v3/oidc"
)

// EndSession is the address of the issuer's sign-out (OpenID Connect RP-Initiated Logout 1.0), which leads back.
func (i *Issuer) EndSession(ctx context.Context, back string) (string, error) {
	ctx, cancel := context.WithTimeout(coreos.ClientContext(ctx, i.client), askWait)
	defer cancel()
	p, err := i.provider(ctx)
	if err != nil {
		return "", err
	}
	var doc struct {
		End string `json:"end_session_endpoint"`
	}
	if err := p.Claims(&doc); err != nil || doc.End == "" {
		return "", err
	}
	u, err := url.Parse(doc.End) // checkAddresses has looked at it
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("client_id", i.o.ClientID)
	q.Set("post_logout_redirect_uri", back)
	u.RawQuery = q.Encode()
	return u.String(), nil
}
