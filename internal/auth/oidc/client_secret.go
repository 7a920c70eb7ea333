package oidc

import (
	"context"
	"errors"
	"net/http"
	"slices"

	coreos "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// redeem exchanges a code at the token endpoint. The client's secret is sent in the header or in
// the form, as the discovery document says. Some issuers do not say, so the other way is tried when
// the first is refused. The library would retry too, but it reports only the second error, which
// often says that the first request used up the code: a wrong secret would look like a wrong code.
func (i *Issuer) redeem(ctx context.Context, p *coreos.Provider, code, verifier string) (*oauth2.Token, error) {
	var first error
	for _, style := range i.secretStyles(p) {
		c := i.config(p)
		c.Endpoint.AuthStyle = style
		token, err := c.Exchange(ctx, code, oauth2.VerifierOption(verifier))
		if err == nil {
			i.mu.Lock()
			i.style = style
			i.mu.Unlock()
			return token, nil
		}
		if first == nil {
			first = err
		}
		var refused *oauth2.RetrieveError
		if !errors.As(err, &refused) || refused.Response == nil || refused.Response.StatusCode >= http.StatusInternalServerError ||
			refused.ErrorCode == "invalid_grant" {
			break
		}
	}
	return nil, first
}

// secretStyles are the ways to send the secret, best first. A public client has no secret and sends
// only its id, in the form.
func (i *Issuer) secretStyles(p *coreos.Provider) []oauth2.AuthStyle {
	i.mu.Lock()
	works := i.style
	i.mu.Unlock()
	header, form := []oauth2.AuthStyle{
		oauth2.AuthStyleInHeader,
		oauth2.AuthStyleInParams,
	}, []oauth2.AuthStyle{
		oauth2.AuthStyleInParams,
		oauth2.AuthStyleInHeader,
	}
	switch {
	case i.o.Secret == "":
		return form[:1]
	case works == oauth2.AuthStyleInHeader:
		return header
	case works == oauth2.AuthStyleInParams:
		return form
	}
	var doc struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	_ = p.Claims(&doc) // an unreadable list counts as absent; the standard's default is the header
	if slices.Contains(doc.Methods, "client_secret_post") && !slices.Contains(doc.Methods, "client_secret_basic") {
		return form
	}
	return header
}
