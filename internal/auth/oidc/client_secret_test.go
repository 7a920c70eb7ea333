package oidc

import "testing"

func TestTheSecretIsSentAsTheIssuerAcceptsIt(t *testing.T) {
	for name, tc := range map[string]struct {
		takes string
		lists any
		tried int // requests of two sign-ins
	}{
		"header":              {"header", []string{"client_secret_basic", "client_secret_post"}, 2},
		"form":                {"form", []string{"client_secret_post"}, 2},
		"header, not listed":  {"header", nil, 2},
		"form, not listed":    {"form", nil, 3},
		"form, listed wrong":  {"form", []string{"client_secret_basic"}, 3},
		"header, no list":     {"header", "client_secret_post", 2},
		"header, wrong alone": {"header", []string{"client_secret_post"}, 3},
	} {
		p := newProvider(t)
		p.secretIn, p.more = tc.takes, map[string]any{"token_endpoint_auth_methods_supported": tc.lists}
		i := p.issuer(t)
		for range 2 {
			if c, err := p.signIn(t, i); err != nil || c.Subject != "sub-1" {
				t.Errorf("%s: unexpected claims %+v, error %v", name, c, err)
			}
		}
		if p.exchanges != tc.tried {
			t.Errorf("%s: %d requests for a token, expected %d", name, p.exchanges, tc.tried)
		}
	}
}
