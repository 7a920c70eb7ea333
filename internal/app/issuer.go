package app

import (
	"log/slog"

	"shardboard/internal/auth"
	"shardboard/internal/auth/oidc"
)

// newIssuer makes no request: the issuer may be down while shardboard starts.
func newIssuer(o OIDC, redirect string, log *slog.Logger) (auth.Issuer, error) {
	secret := ""
	if o.SecretFile != "" {
		var err error
		if secret, err = ReadSecret("OIDC client's secret", o.SecretFile); err != nil {
			return nil, err
		}
	}
	return oidc.New(oidc.Options{Issuer: o.Issuer, ClientID: o.ClientID, Secret: secret, RedirectURL: redirect, GroupsClaim: o.GroupsClaim,
		NameClaim: o.NameClaim, Scopes: o.Scopes, Log: log})
}
