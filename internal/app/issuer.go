package app

import (
	"crypto/x509"
	"log/slog"

	"shardboard/internal/auth"
	"shardboard/internal/auth/oidc"
	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
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
	authorities, err := readAuthorities(o.CAFile)
	if err != nil {
		return nil, err
	}
	return oidc.New(oidc.Options{Issuer: o.Issuer, Authorities: authorities, ClientID: o.ClientID, Secret: secret, RedirectURL: redirect,
		GroupsClaim: o.GroupsClaim, NameClaim: o.NameClaim, Scopes: o.Scopes, Log: log})
}

// readAuthorities reads certificate authorities in PEM format; nil without a file.
func readAuthorities(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	text, err := fileperm.ReadPublic("file of certificate authorities (--oidc-ca-file)", path, maxPEM)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fault.New(fault.Invalid, "The file of certificate authorities (--oidc-ca-file), %s, has no certificate in PEM format.",
			fileperm.Quote(path))
	}
	return pool, nil
}
