package oidc

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	coreos "github.com/coreos/go-oidc/v3/oidc"
)

// algorithms are asymmetric only: with "none" anybody could sign, and with a shared secret any
// holder of it.
func algorithms() []string {
	return []string{
		coreos.RS256,
		coreos.RS384,
		coreos.RS512,
		coreos.PS256,
		coreos.PS384,
		coreos.PS512,
		coreos.ES256,
		coreos.ES384,
		coreos.ES512,
		coreos.EdDSA,
	}
}

// idTokenFailed explains why an ID token was refused. The library has an error type for only one of
// its reasons; the others are recognised by their text or by decoding the refused token again. Both
// only choose the explanation.
func (i *Issuer) idTokenFailed(raw string, err error) error {
	cause := fmt.Errorf("verify id_token: %w", shortened(withoutURL(err)))
	var expired *coreos.TokenExpiredError
	text := err.Error()
	switch {
	case errors.As(err, &expired):
		ago := i.o.Now().Sub(expired.Expiry).Round(time.Second)
		return untrusted(
			"expired",
			cause,
			fmt.Sprintf(
				"By this machine's clock the new ID token had expired %s before it came. Set the clocks of this machine and of the issuer.",
				ago,
			),
		)
	case strings.Contains(text, "fetching keys"):
		return unavailable("issuer-unreachable", cause, "The issuer's keys (jwks_uri of its discovery document) could not be read.")
	case strings.Contains(text, "failed to verify signature"):
		return untrusted("signature", cause, "None of the issuer's present keys (jwks_uri) made the signature of the ID token.")
	case strings.Contains(text, "signature algorithm"):
		return untrusted(
			"algorithm",
			cause,
			"The ID token is signed in a way that is not accepted: set the client to RS256, PS256, ES256 or EdDSA (or their longer forms) at "+
				"the issuer.",
		)
	}
	var unproved struct {
		Issuer    string   `json:"iss"`
		NotBefore float64  `json:"nbf"`
		Audience  audience `json:"aud"`
	}
	parts := strings.Split(raw, ".")
	if len(parts) == 3 {
		if payload, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
			_ = json.Unmarshal(payload, &unproved) // unreadable fields stay empty
		}
	}
	switch {
	case len(parts) == 5:
		return untrusted(
			"encrypted",
			cause,
			"The ID token is encrypted, which is not supported: set the client to signed ID tokens at the issuer.",
		)
	case unproved.Issuer != "" && unproved.Issuer != i.o.Issuer:
		return untrusted(
			"other-issuer",
			cause,
			"The ID token was made by another issuer than --oidc-issuer. They have to be equal to the letter, a slash at the end too.",
		)
	case !unproved.Audience.has(i.o.ClientID):
		return untrusted("other-audience", cause, "The ID token is not for --oidc-client-id (aud).")
	case time.Unix(int64(unproved.NotBefore), 0).After(i.o.Now()):
		return untrusted(
			"not-yet",
			cause,
			"By this machine's clock the ID token is not valid yet (nbf). Set the clocks of this machine and of the issuer.",
		)
	}
	return untrusted("id-token", cause, "The ID token did not pass the checks of OpenID Connect Core §3.1.3.7.")
}

// audience is a string or a list of strings.
type audience []string

func (a *audience) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}

func (a audience) has(client string) bool {
	for _, s := range a {
		if s == client {
			return true
		}
	}
	return false
}
